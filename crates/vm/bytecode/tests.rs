//! Rewrites random programs and compares the result with an assembler's output for the program with
//! the calls inserted.
// Numbers in tests are small.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

pub(crate) mod assembler;

use crate::bytes::Bytes;
use crate::class_file::ClassFile;
use crate::code::Code;
use crate::cursor::Cursor;
use crate::opcode::{GOTO, IFEQ, RETURN};
use crate::{rewrite, Plan, Reason, Rewritten};
use assembler::{assemble, ClassBuilder, Op, TestCode};
use proptest::prelude::*;
use std::collections::HashMap;

const NEWARRAY: [u8; 2] = [188, 10];
pub(crate) const IDIV: u8 = 108;
pub(crate) const NUMBER: u32 = 77;

/// An instruction of a random program. Targets are fractions of the program's length.
#[derive(Clone, Debug)]
enum Random {
    Nops(usize),
    Divide,
    Array,
    Return,
    Goto(f64),
    /// Number of instructions ahead, or back if negative.
    If(isize),
    Switch(bool, f64, Vec<f64>),
}

fn random() -> impl Strategy<Value = Random> {
    let target = 0.0..1.0_f64;
    prop_oneof![
        6 => (1..40_usize).prop_map(Random::Nops),
        1 => Just(Random::Divide),
        3 => Just(Random::Array),
        4 => Just(Random::Return),
        4 => target.clone().prop_map(Random::Goto),
        3 => (-90..90_isize).prop_map(Random::If),
        2 => (any::<bool>(), target.clone(), prop::collection::vec(target, 1..5))
            .prop_map(|(is_table, default, cases)| Random::Switch(is_table, default, cases)),
    ]
}

/// A program whose tables refer to positions by instruction index.
#[derive(Clone, Debug)]
struct Source {
    version: u16,
    ops: Vec<Op>,
    handlers: Vec<[usize; 3]>,
    lines: Vec<usize>,
    /// In order, each once; if there is the index of a `new`, its object is on the stack.
    frames: Vec<(usize, Option<usize>)>,
}

fn source(lengths: std::ops::Range<usize>) -> impl Strategy<Value = Source> {
    let share = || 0.0..1.0_f64;
    let ops = prop::collection::vec(random(), lengths);
    let handlers = prop::collection::vec([share(), share(), share()], 0..4);
    let lines = prop::collection::vec(share(), 0..6);
    let frames = prop::collection::vec((share(), prop::option::of(share())), 0..6);
    let version = prop_oneof![Just(49_u16), Just(52)];
    (version, ops, handlers, lines, frames).prop_map(|(version, ops, handlers, lines, frames)| {
        let count = ops.len();
        let index = |share: f64| (share * count as f64) as usize;
        let mut frames: Vec<_> = frames
            .into_iter()
            .map(|(at, new)| (index(at), new.map(index)))
            .collect();
        frames.sort_unstable();
        frames.dedup_by_key(|frame| frame.0);
        Source {
            version,
            ops: ops
                .into_iter()
                .enumerate()
                .map(|(at, op)| op_of(op, at, index))
                .collect(),
            handlers: handlers.into_iter().map(|h| h.map(index)).collect(),
            lines: lines.into_iter().map(index).collect(),
            frames,
        }
    })
}

fn op_of(random: Random, at: usize, index: impl Fn(f64) -> usize) -> Op {
    let last = index(0.999_999);
    match random {
        Random::Nops(count) => Op::Raw(vec![0; count]),
        Random::Divide => Op::Raw(vec![IDIV]),
        Random::Array => Op::Raw(NEWARRAY.to_vec()),
        Random::Return => Op::Raw(vec![RETURN]),
        Random::Goto(target) => Op::Jump(GOTO, index(target)),
        Random::If(ahead) => Op::Jump(IFEQ, at.saturating_add_signed(ahead).min(last)),
        Random::Switch(is_table, default, cases) => Op::Switch {
            is_table,
            default: index(default),
            cases: cases.into_iter().map(index).collect(),
        },
    }
}

/// What is inserted, and where.
#[derive(Clone, Debug, Default)]
struct Injected {
    entry: Vec<u8>,
    exit: Vec<u8>,
    array: Vec<u8>,
    handler: Vec<u8>,
}

/// Added to an instruction's number, it labels the instruction itself, after the code inserted
/// before it. The number alone labels the target of jumps.
const ITSELF: usize = 1 << 20;

/// A program as a method with insertions. `old` says for each frame whether it was long.
fn method(source: &Source, injected: &Injected, old: Option<&TestCode>) -> Option<TestCode> {
    let mut ops = vec![Op::Raw(injected.entry.clone())];
    for (index, op) in source.ops.iter().enumerate() {
        ops.push(Op::Label(index));
        let is_return = *op == Op::Raw(vec![RETURN]);
        ops.extend(is_return.then(|| Op::Raw(injected.exit.clone())));
        ops.push(Op::Label(ITSELF + index));
        ops.push(op.clone());
        let is_array = *op == Op::Raw(NEWARRAY.to_vec());
        ops.extend(is_array.then(|| Op::Raw(injected.array.clone())));
    }
    ops.push(Op::Label(source.ops.len()));
    ops.push(Op::Raw(injected.handler.clone()));
    let (code, labels) = assemble(&ops)?;
    let at = |index: usize| labels[&index] as u16;
    let mut handlers: Vec<_> = source
        .handlers
        .iter()
        .map(|[start, end, handler]| [at(*start), at(*end), at(*handler), 0])
        .collect();
    let end = at(source.ops.len());
    if !injected.handler.is_empty() {
        handlers.push([at(0), end, end, 0]);
    }
    Some(TestCode {
        max_stack: 3,
        max_locals: 1,
        attributes: vec![
            ("LineNumberTable".to_owned(), lines(source, &labels)),
            (
                "StackMapTable".to_owned(),
                frames(source, injected, &labels, old),
            ),
        ],
        code,
        handlers,
    })
}

fn lines(source: &Source, labels: &HashMap<usize, usize>) -> Vec<u8> {
    let mut table = Vec::new();
    table.put_u2(source.lines.len() as u16);
    for (line, index) in source.lines.iter().enumerate() {
        table.put_u2(if *index == 0 { 0 } else { labels[index] as u16 });
        table.put_u2(line as u16);
    }
    table
}

fn frames(
    source: &Source,
    injected: &Injected,
    labels: &HashMap<usize, usize>,
    old: Option<&TestCode>,
) -> Vec<u8> {
    let mut was_long = long_frames(old).into_iter();
    let has_handler = !injected.handler.is_empty() && source.version >= 50;
    let mut table = Vec::new();
    table.put_u2(source.frames.len() as u16 + u16::from(has_handler));
    let mut least = 0;
    for (index, new) in &source.frames {
        let delta = (labels[index] - least) as u16;
        least = labels[index] + 1;
        let long = was_long.next().unwrap_or(false) || delta > 63;
        let short = u8::from(new.is_some()) * 64 + (delta % 64) as u8;
        match (long, new) {
            (true, None) => table.put_u1(251),
            (true, Some(_)) => table.put_u1(247),
            (false, _) => table.put_u1(short),
        }
        if long {
            table.put_u2(delta);
        }
        if let Some(new) = new {
            table.put_u1(8);
            table.put_u2(labels[&(ITSELF + new)] as u16);
        }
    }
    if has_handler {
        table.put_u1(255);
        table.put_u2((labels[&source.ops.len()] - least) as u16);
        table.put(&[0, 0, 0, 1, 7, 0, 0]);
    }
    table
}

fn long_frames(old: Option<&TestCode>) -> Vec<bool> {
    let Some(old) = old else { return Vec::new() };
    let mut cursor = Cursor::new(&old.attributes[1].1);
    let mut long = Vec::new();
    for _ in 0..cursor.u2().unwrap() {
        let tag = cursor.u1().unwrap();
        long.push(tag >= 247);
        let has_type = (64..=127).contains(&tag) || tag == 247;
        let rest = 2 * usize::from(tag >= 247) + 3 * usize::from(has_type);
        cursor.take(rest).unwrap();
    }
    long
}

/// The code of the only method of a class, with the handler frame's class set to 0.
pub(crate) fn code_of(class: &[u8]) -> TestCode {
    let class = ClassFile::parse(class).unwrap();
    let mut cursor = Cursor::new(class.methods[0].bytes);
    cursor.take(8).unwrap();
    let (_, body) = cursor.attribute().unwrap();
    let code = Code::read(body).unwrap();
    let mut attributes: Vec<_> = code
        .attributes()
        .map(|(name, body)| {
            let name = class.pool.utf8(name).unwrap();
            (String::from_utf8_lossy(name).into_owned(), body.to_vec())
        })
        .collect();
    for (_, body) in attributes.iter_mut().filter(|a| a.0 == "StackMapTable") {
        let length = body.len();
        if length >= 10 && body[length - 7..length - 2] == [0, 0, 0, 1, 7] {
            let class_index = u16::from_be_bytes([body[length - 2], body[length - 1]]);
            let name = class.pool.class_name(class_index);
            if name == Some(b"java/lang/Throwable") {
                body[length - 2..].fill(0);
            }
        }
    }
    TestCode {
        max_stack: code.max_stack,
        max_locals: code.max_locals,
        code: code.bytes.to_vec(),
        handlers: code.handlers().collect(),
        attributes,
    }
}

/// The call of a tracker's method in a rewritten class.
pub(crate) fn call(class: &[u8], name: &str) -> Vec<u8> {
    let class = ClassFile::parse(class).unwrap();
    let wanted = Some((&b"java/lang/HprofTracker"[..], name.as_bytes()));
    let index = (0..u16::MAX).find(|index| class.pool.method(*index) == wanted);
    let mut call = vec![184];
    call.extend(index.unwrap_or(0).to_be_bytes());
    call
}

pub(crate) fn class_with(version: u16, name: &str, descriptor: &str, code: &TestCode) -> Vec<u8> {
    let mut class = ClassBuilder::new(version);
    class.method(name, descriptor, code);
    class.finish()
}

pub(crate) fn rewritten(class: &[u8], plan: &Plan) -> Rewritten {
    rewrite(class, plan, |_| Some(NUMBER)).unwrap()
}

pub(crate) fn same() -> Plan {
    Plan {
        every_method: true,
        ..Plan::default()
    }
}

/// Rewrites a program and compares it with the assembled one.
fn check(source: &Source, arrays: bool, calls: bool) -> Result<(), TestCaseError> {
    let old = method(source, &Injected::default(), None);
    let old = old.filter(|old| old.code.len() <= 0xFFFF);
    prop_assume!(old.is_some());
    let old = old.unwrap();
    let class = class_with(source.version, "run", "()V", &old);
    let identity = rewritten(&class, &same());
    prop_assert_eq!(identity.bytes.as_ref(), Some(&class));

    let plan = Plan {
        arrays,
        calls,
        ..Plan::default()
    };
    let result = rewritten(&class, &plan);
    let new = result.bytes.unwrap_or_else(|| class.clone());
    let is = |wanted: &[u8]| source.ops.iter().any(|op| *op == Op::Raw(wanted.to_vec()));
    let mut injected = Injected::default();
    let mut more_stack = 0;
    if arrays && is(&NEWARRAY) {
        injected.array = [vec![89, 17, 0, 1], call(&new, "newArray")].concat();
        more_stack = 2;
    }
    if calls {
        let push = vec![16, NUMBER as u8];
        injected.entry = [push.clone(), call(&new, "enter")].concat();
        injected.exit = [push, call(&new, "exit")].concat();
        if is(&NEWARRAY) || is(&[IDIV]) {
            injected.handler = [injected.exit.clone(), vec![191]].concat();
        }
        more_stack = more_stack.max(1);
    }
    match (
        method(source, &injected, Some(&old)),
        result.left_alone.first(),
    ) {
        (Some(mut expected), None) => {
            expected.max_stack += more_stack;
            prop_assert_eq!(code_of(&new), expected);
        }
        (expected, Some(left)) => {
            prop_assert_eq!(&new, &class);
            let too_big = expected.is_some_and(|e| e.code.len() > 0xFFFF);
            prop_assert!(too_big || left.reason == Reason::FarJump, "{:?}", left);
        }
        (None, None) => prop_assert!(false, "a jump that does not reach was written"),
    }
    Ok(())
}

/// The length of the code inserted before the first instruction.
pub(crate) const ENTRY: u16 = 5;

/// The entries of the exception table, without their common parts.
pub(crate) fn covered(rewritten: &Rewritten) -> Vec<(u16, u16)> {
    let code = code_of(rewritten.bytes.as_ref().unwrap());
    let handlers = code.handlers.iter();
    handlers.map(|[start, end, ..]| (*start, *end)).collect()
}

/// Failures are in the test's output; no file is left behind.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(256))]
    #[test]
    fn programs_keep_their_meaning(
        source in source(1..60), arrays in any::<bool>(), calls in any::<bool>()
    ) {
        check(&source, arrays, calls)?;
    }

    #[test]
    fn damaged_classes_do_no_harm(
        source in source(1..20), at in 0.0..1.0_f64, value in any::<u8>()
    ) {
        let old = method(&source, &Injected::default(), None);
        prop_assume!(old.is_some());
        let mut class = class_with(52, "<init>", "(I)V", &old.unwrap());
        let at = (at * class.len() as f64) as usize;
        class[at] = value;
        let plan = Plan { arrays: true, calls: true, ..Plan::default() };
        let _ = rewrite(&class, &plan, |_| Some(NUMBER));
    }
}

proptest! {
    #![proptest_config(cases(8))]
    #[test]
    fn big_programs_keep_their_meaning(source in source(2000..4500)) {
        check(&source, true, true)?;
    }
}
