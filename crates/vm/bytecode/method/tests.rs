//! Methods with special roles.
// Numbers in tests are small.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use super::*;
use crate::rewrite;
use crate::tests::assembler::{ClassBuilder, TestCode};
use crate::tests::{call, class_with, code_of, covered, rewritten, same, ENTRY, IDIV, NUMBER};

#[test]
fn an_empty_finalize_stays_empty() {
    let code = TestCode {
        max_locals: 1,
        code: vec![RETURN],
        ..TestCode::default()
    };
    let plan = Plan {
        calls: true,
        ..Plan::default()
    };
    let class = class_with(52, "finalize", "()V", &code);
    assert_eq!(rewritten(&class, &plan).bytes, None);
    let class = class_with(52, "finalise", "()V", &code);
    assert_eq!(rewritten(&class, &plan).methods_rewritten, 1);
}

#[test]
fn a_full_pool_leaves_methods_alone_and_the_class_as_it_was() {
    let code = TestCode {
        max_locals: 1,
        code: vec![RETURN],
        ..TestCode::default()
    };
    let mut class = ClassBuilder::new(52);
    class.method("run", "()V", &code);
    while class.pool.count() < 0xFFFF - 3 {
        class.pool.integer(class.pool.count().into()).unwrap();
    }
    let plan = Plan {
        calls: true,
        ..Plan::default()
    };
    let result = rewritten(&class.finish(), &plan);
    assert_eq!(result.bytes, None);
    assert_eq!(result.left_alone[0].reason, Reason::PoolFull);
    assert_eq!(result.left_alone[0].name, b"run");
}

#[test]
fn the_handler_has_room_for_the_exception_and_a_number() {
    let code = TestCode {
        code: vec![IDIV, RETURN],
        ..TestCode::default()
    };
    let plan = Plan {
        calls: true,
        ..Plan::default()
    };
    let result = rewritten(&class_with(52, "run", "()V", &code), &plan);
    assert_eq!(code_of(&result.bytes.unwrap()).max_stack, 2);
}

#[test]
fn a_method_that_fails_leaves_nothing_behind() {
    let small = TestCode {
        code: vec![188, 10, RETURN],
        ..TestCode::default()
    };
    let mut big = small.clone();
    big.code.resize(0xFFFF, 0);
    let plan = Plan {
        arrays: true,
        calls: true,
        ..Plan::default()
    };
    let mut class = ClassBuilder::new(52);
    class.method("big", "()V", &big);
    class.method("small", "()V", &small);
    // Two names and a class, the descriptor, NameAndType and Methodref.
    let added = 6;
    let count = class.pool.count();
    let class = class.finish();
    let number = |method: Method<'_>| (method.name == b"big").then_some(40_000);
    let result = rewrite(&class, &plan, number).unwrap();
    assert_eq!(result.left_alone[0].reason, Reason::TooBig);
    assert_eq!(result.methods_rewritten, 1);
    let bytes = result.bytes.unwrap();
    let new = ClassFile::parse(&bytes).unwrap();
    assert_eq!(new.pool.count(), usize::from(count) + added);
    let old = ClassFile::parse(&class).unwrap();
    assert_eq!(new.methods[0].bytes, old.methods[0].bytes);
}

#[test]
fn only_the_constructor_of_object_reports_objects() {
    let code = TestCode {
        max_locals: 1,
        code: vec![RETURN],
        ..TestCode::default()
    };
    let plan = Plan {
        object_init: true,
        ..Plan::default()
    };
    let class = class_with(52, "<init>", "()V", &code);
    assert_eq!(rewritten(&class, &plan).bytes, None);
}

#[test]
fn the_constructor_of_object_reports_the_object_and_then_its_end() {
    let code = TestCode {
        max_locals: 1,
        code: vec![IDIV, RETURN],
        ..TestCode::default()
    };
    let plan = Plan {
        object_init: true,
        calls: true,
        ..Plan::default()
    };
    let mut class = ClassBuilder::object();
    class.method("<init>", "()V", &code);
    let result = rewritten(&class.finish(), &plan);
    // No constructor needs to be called first, so everything is covered: idiv, 4 and 5 bytes before
    // the return, the return.
    assert_eq!(covered(&result), [(ENTRY, ENTRY + 1 + 4 + 5 + 1)]);
    let bytes = result.bytes.unwrap();
    let expected = [
        &[16, NUMBER as u8][..],
        &call(&bytes, "enter"),
        &[IDIV, 42],
        &call(&bytes, "objectInit"),
        &[16, NUMBER as u8],
        &call(&bytes, "exit"),
        &[RETURN, 16, NUMBER as u8],
        &call(&bytes, "exit"),
        &[191],
    ];
    assert_eq!(code_of(&bytes).code, expected.concat());
}

#[test]
fn the_constructors_of_an_error_report_it_before_each_return() {
    let code = TestCode {
        max_locals: 1,
        code: vec![IDIV, RETURN],
        ..TestCode::default()
    };
    let plan = Plan {
        error_init: true,
        ..Plan::default()
    };
    let mut class = ClassBuilder::named("java/lang/OutOfMemoryError");
    class.method("<init>", "(Ljava/lang/String;)V", &code);
    let bytes = rewritten(&class.finish(), &plan).bytes.unwrap();
    let expected = [&[IDIV, 42][..], &call(&bytes, "errorInit"), &[RETURN]];
    assert_eq!(code_of(&bytes).code, expected.concat());
    for (name, method) in [("java/lang/OutOfMemoryError", "get"), ("a/B", "<init>")] {
        let mut class = ClassBuilder::named(name);
        class.method(method, "(Ljava/lang/String;)V", &code);
        assert_eq!(
            rewritten(&class.finish(), &plan).bytes,
            None,
            "{name} {method}"
        );
    }
}

#[test]
fn padding_that_is_not_zero_stays() {
    let mut code = vec![170, 1, 2, 3];
    for number in [16_i32, 0, 0, 16] {
        code.extend(number.to_be_bytes());
    }
    code[7] = 20;
    code[19] = 20;
    code.push(RETURN);
    let code = TestCode {
        code,
        ..TestCode::default()
    };
    let class = class_with(52, "run", "()V", &code);
    assert_eq!(rewritten(&class, &same()).bytes, Some(class));
}

#[test]
fn code_that_the_jvm_compiles_does_not_grow_beyond_what_it_compiles() {
    let length = 5;
    let code = TestCode {
        code: vec![0, 0, 0, 0, RETURN],
        ..TestCode::default()
    };
    let class = class_with(52, "run", "()V", &code);
    let result = |longest| {
        let plan = Plan {
            calls: true,
            longest_compiled: Some(longest),
            ..Plan::default()
        };
        rewritten(&class, &plan)
    };
    // One return, and no handler because nothing can throw.
    let new_length = length + 2 * usize::from(ENTRY);
    assert_eq!(result(new_length).methods_rewritten, 1);
    assert_eq!(
        result(new_length - 1).left_alone[0].reason,
        Reason::NotCompiled
    );
    assert_eq!(result(length).left_alone[0].reason, Reason::NotCompiled);
    // It was not compiled before, either.
    assert_eq!(result(length - 1).methods_rewritten, 1);
}
