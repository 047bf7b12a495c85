//! Constructors, and the part of their code that a handler covers.

use super::*;
use crate::opcode::{GOTO, IFEQ, RETURN};
use crate::tests::assembler::{assemble, ClassBuilder, Op, TestCode};
use crate::tests::{code_of, covered, rewritten, ENTRY, IDIV};
use crate::{Plan, Rewritten};

#[test]
fn arguments_are_counted() {
    assert_eq!(argument_count(b"()V"), 0);
    assert_eq!(argument_count(b"(IJD)V"), 3);
    assert_eq!(argument_count(b"([[ILjava/lang/String;[LFoo;Z)V"), 4);
}

/// Rewrites a constructor. In its code, 0 is the `<init>` of the superclass and 1 that of another
/// class.
fn constructor(version: u16, ops: &[Op], frames: &[u8]) -> Rewritten {
    constructor_with(version, ops, frames, &[])
}

fn constructor_with(version: u16, ops: &[Op], frames: &[u8], handlers: &[[u16; 4]]) -> Rewritten {
    let mut class = ClassBuilder::new(version);
    let mut indices = Vec::new();
    for name in ["java/lang/Object", "Other"] {
        let index = class.pool.class(name.as_bytes()).unwrap();
        indices.push(class.pool.method(index, "<init>", "()V").unwrap());
    }
    let ops: Vec<_> = ops
        .iter()
        .map(|op| match op {
            Op::Raw(bytes) if bytes[0] == INVOKESPECIAL => {
                let index = indices[usize::from(bytes[1])].to_be_bytes();
                Op::Raw(vec![INVOKESPECIAL, index[0], index[1]])
            }
            op => op.clone(),
        })
        .collect();
    let (code, _) = assemble(&ops).unwrap();
    let attributes = if frames.is_empty() {
        Vec::new()
    } else {
        vec![("StackMapTable".to_owned(), frames.to_vec())]
    };
    let code = TestCode {
        max_stack: 3,
        max_locals: 2,
        code,
        handlers: handlers.to_vec(),
        attributes,
    };
    class.method("<init>", "(I)V", &code);
    let plan = Plan {
        calls: true,
        ..Plan::default()
    };
    rewritten(&class.finish(), &plan)
}

fn raw(bytes: &[u8]) -> Op {
    Op::Raw(bytes.to_vec())
}

const SUPER: [u8; 2] = [INVOKESPECIAL, 0];
const OTHER: [u8; 2] = [INVOKESPECIAL, 1];
#[test]
fn a_constructor_is_covered_after_the_call_of_super() {
    // 0: aload_0, 1: super(), 4: idiv, 5: return
    let ops = [raw(&[42]), raw(&SUPER), raw(&[IDIV]), raw(&[RETURN])];
    for version in [49, 50, 52] {
        let result = constructor(version, &ops, &[]);
        assert_eq!(covered(&result), [(ENTRY + 4, ENTRY + 5 + 6)], "{version}");
        let code = code_of(result.bytes.as_ref().unwrap());
        assert_eq!(code.attributes.len(), usize::from(version >= 50));
    }
}

#[test]
fn a_constructor_that_only_calls_super_needs_no_handler() {
    let ops = [raw(&[42]), raw(&SUPER), raw(&[RETURN])];
    let result = constructor(52, &ops, &[]);
    assert_eq!(covered(&result), []);
    assert_eq!(result.without_handler, 0);
}

#[test]
fn objects_made_for_the_call_of_super_are_not_taken_for_this() {
    // 0: aload_0, 1: new, 4: dup, 5: other(), 8: pop, 9: super(), 12: idiv, 13: return
    let ops = [
        raw(&[42]),
        raw(&[NEW, 0, 1]),
        raw(&[89]),
        raw(&OTHER),
        raw(&[87]),
        raw(&SUPER),
        raw(&[IDIV]),
        raw(&[RETURN]),
    ];
    for version in [49, 52] {
        let result = constructor(version, &ops, &[]);
        assert_eq!(covered(&result), [(ENTRY + 12, ENTRY + 13 + 6)]);
    }
}

/// `super(x ? new Other() : new Other())`, as javac compiles it.
fn conditional_argument() -> Vec<Op> {
    vec![
        raw(&[42]),        // 0
        raw(&[27]),        // 1
        Op::Jump(IFEQ, 1), // 2
        raw(&[NEW, 0, 1]), // 5
        raw(&[89]),        // 8
        raw(&OTHER),       // 9
        Op::Jump(GOTO, 2), // 12
        Op::Label(1),      //
        raw(&[NEW, 0, 1]), // 15
        raw(&[89]),        // 18
        raw(&OTHER),       // 19
        Op::Label(2),      //
        raw(&SUPER),       // 22
        raw(&[IDIV]),      // 25
        raw(&[RETURN]),    // 26
    ]
}

#[test]
fn a_condition_before_the_call_of_super_is_understood() {
    let after = [(ENTRY + 25, ENTRY + 26 + 6)];
    let old = constructor(49, &conditional_argument(), &[]);
    assert_eq!(covered(&old), after);
    // At 15 `this` is on the stack, at 22 `this` and an Other.
    let frames = [
        0, 2, 255, 0, 15, 0, 2, 6, 1, 0, 1, 6, 255, 0, 6, 0, 2, 6, 1, 0, 2, 6, 7, 0, 1,
    ];
    let new = constructor(52, &conditional_argument(), &frames);
    assert_eq!(covered(&new), after);
}

#[test]
fn copies_of_an_object_are_one() {
    let ops = [
        raw(&[42]),        // 0
        raw(&[NEW, 0, 1]), // 1
        raw(&[89]),        // 4
        raw(&[27]),        // 5
        Op::Jump(IFEQ, 1), // 6
        raw(&[0]),         // 9
        Op::Label(1),
        raw(&OTHER),    // 10
        raw(&[87]),     // 13
        raw(&SUPER),    // 14
        raw(&[IDIV]),   // 17
        raw(&[RETURN]), // 18
    ];
    // At 10 the stack has `this`, and the object of the instruction at 1 twice.
    let frames = [0, 1, 255, 0, 10, 0, 2, 6, 1, 0, 3, 6, 8, 0, 1, 8, 0, 1];
    let result = constructor(52, &ops, &frames);
    assert_eq!(covered(&result), [(ENTRY + 17, ENTRY + 18 + 6)]);
}

#[test]
fn an_object_in_a_variable_is_forgotten_with_it() {
    let ops = [
        raw(&[NEW, 0, 1]), // 0
        raw(&[77]),        // 3: astore_2
        raw(&[27]),        // 4
        Op::Jump(IFEQ, 1), // 5
        Op::Label(1),
        raw(&[0]),         // 8
        raw(&[27]),        // 9
        Op::Jump(IFEQ, 2), // 10
        Op::Label(2),
        raw(&[42]),     // 13
        raw(&SUPER),    // 14
        raw(&[IDIV]),   // 17
        raw(&[RETURN]), // 18
    ];
    let frames = [0, 2, 252, 0, 8, 8, 0, 0, 250, 0, 4];
    let result = constructor(52, &ops, &frames);
    assert_eq!(covered(&result), [(ENTRY + 17, ENTRY + 18 + 6)]);
}

#[test]
fn an_old_constructor_that_catches_what_super_throws_has_no_handler() {
    let ops = [
        raw(&[42]),
        raw(&SUPER),
        raw(&[IDIV]),
        raw(&[RETURN]),
        raw(&[191]),
    ];
    let result = constructor_with(49, &ops, &[], &[[0, 4, 6, 0]]);
    assert_eq!(result.without_handler, 1);
    assert_eq!(covered(&result).len(), 1);
    let result = constructor_with(49, &ops, &[], &[[4, 5, 6, 0]]);
    assert_eq!(result.without_handler, 0);
    assert_eq!(covered(&result).len(), 2);
}

#[test]
fn an_old_constructor_with_subroutines_has_no_handler() {
    let ops = [
        raw(&[42]),
        raw(&SUPER),
        Op::Jump(168, 1),
        raw(&[RETURN]),
        Op::Label(1),
        raw(&[76]),
        raw(&[169, 1]),
    ];
    let result = constructor(48, &ops, &[]);
    assert_eq!((result.without_handler, covered(&result).len()), (1, 0));
}

/// `if (x) this(); else this(); idiv`, which javac never produces.
fn two_calls() -> Vec<Op> {
    vec![
        raw(&[42]),        // 0
        raw(&[27]),        // 1
        Op::Jump(IFEQ, 1), // 2
        raw(&SUPER),       // 5
        raw(&[IDIV]),      // 8
        Op::Jump(GOTO, 2), // 9
        Op::Label(1),
        raw(&SUPER), // 12
        Op::Label(2),
        raw(&[IDIV]),   // 15
        raw(&[RETURN]), // 16
    ]
}

#[test]
fn two_calls_of_super_are_told_apart_by_the_frames() {
    let frames = [
        0, 2, 255, 0, 12, 0, 2, 6, 1, 0, 1, 6, 255, 0, 2, 0, 2, 7, 0, 2, 1, 0, 0,
    ];
    let new = constructor(52, &two_calls(), &frames);
    let ranges = [(ENTRY + 8, ENTRY + 12), (ENTRY + 15, ENTRY + 16 + 6)];
    assert_eq!(covered(&new), ranges);
    let old = constructor(49, &two_calls(), &[]);
    assert_eq!(covered(&old), []);
    assert_eq!(old.without_handler, 1);
}
