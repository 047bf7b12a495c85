//! For tests: assembles code from instructions with labels, and classes from code. It shares no
//! code with the rewriter.
// Numbers in tests are small.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use crate::additions::Additions;
use crate::bytes::Bytes;
use crate::opcode::{GOTO, GOTO_W, LOOKUPSWITCH, TABLESWITCH};
use std::collections::HashMap;

/// An instruction, or a label as a jump target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Label(usize),
    Raw(Vec<u8>),
    /// A jump with a 16-bit offset; a `goto` with 32 bits if necessary.
    Jump(u8, usize),
    Switch {
        is_table: bool,
        default: usize,
        cases: Vec<usize>,
    },
}

/// The code and the positions of its labels; `None` if a conditional jump does not reach its
/// target.
pub(crate) fn assemble(ops: &[Op]) -> Option<(Vec<u8>, HashMap<usize, usize>)> {
    let mut wide = vec![false; ops.len()];
    loop {
        let (starts, labels) = positions(ops, &wide);
        let mut again = false;
        for (index, op) in ops.iter().enumerate() {
            let Op::Jump(opcode, label) = op else {
                continue;
            };
            let distance = labels[label] as i64 - starts[index] as i64;
            if i16::try_from(distance).is_err() && !wide[index] {
                if *opcode != GOTO {
                    return None;
                }
                wide[index] = true;
                again = true;
            }
        }
        if !again {
            let code = encode(ops, &wide, &starts, &labels);
            return Some((code, labels));
        }
    }
}

fn positions(ops: &[Op], wide: &[bool]) -> (Vec<usize>, HashMap<usize, usize>) {
    let mut at = 0;
    let mut starts = Vec::new();
    let mut labels = HashMap::new();
    for (op, wide) in ops.iter().zip(wide) {
        starts.push(at);
        at += match op {
            Op::Label(label) => {
                labels.insert(*label, at);
                0
            }
            Op::Raw(bytes) => bytes.len(),
            Op::Jump(..) => 3 + 2 * usize::from(*wide),
            Op::Switch {
                is_table, cases, ..
            } => {
                let words = if *is_table {
                    3 + cases.len()
                } else {
                    2 + 2 * cases.len()
                };
                (at + 4) / 4 * 4 - at + 4 * words
            }
        };
    }
    (starts, labels)
}

fn encode(ops: &[Op], wide: &[bool], starts: &[usize], labels: &HashMap<usize, usize>) -> Vec<u8> {
    let mut code: Vec<u8> = Vec::new();
    for (index, op) in ops.iter().enumerate() {
        let distance = |label: &usize| labels[label] as i32 - starts[index] as i32;
        match op {
            Op::Label(_) => {}
            Op::Raw(bytes) => code.extend(bytes),
            Op::Jump(_, label) if wide[index] => {
                code.push(GOTO_W);
                code.extend(distance(label).to_be_bytes());
            }
            Op::Jump(opcode, label) => {
                code.push(*opcode);
                code.extend((distance(label) as i16).to_be_bytes());
            }
            Op::Switch {
                is_table,
                default,
                cases,
            } => {
                code.push(if *is_table { TABLESWITCH } else { LOOKUPSWITCH });
                code.resize(code.len().next_multiple_of(4), 0);
                code.extend(distance(default).to_be_bytes());
                let count = cases.len() as i32;
                if *is_table {
                    code.extend(7_i32.to_be_bytes());
                    code.extend((6 + count).to_be_bytes());
                } else {
                    code.extend(count.to_be_bytes());
                }
                for (value, case) in cases.iter().enumerate() {
                    if !is_table {
                        code.extend((value as i32).to_be_bytes());
                    }
                    code.extend(distance(case).to_be_bytes());
                }
            }
        }
    }
    code
}

/// A class under construction.
#[derive(Debug)]
pub(crate) struct ClassBuilder {
    pub(crate) pool: Additions,
    version: u16,
    this: u16,
    parent: u16,
    methods: Vec<Vec<u8>>,
}

/// The parts of a method's code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestCode {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) code: Vec<u8>,
    pub(crate) handlers: Vec<[u16; 4]>,
    pub(crate) attributes: Vec<(String, Vec<u8>)>,
}

impl ClassBuilder {
    pub(crate) fn new(version: u16) -> Self {
        let mut pool = Additions::new(1);
        let this = pool.class(b"Test").unwrap();
        let parent = pool.class(b"java/lang/Object").unwrap();
        Self {
            pool,
            version,
            this,
            parent,
            methods: Vec::new(),
        }
    }

    /// `java/lang/Object`, which has no superclass.
    pub(crate) fn object() -> Self {
        let class = Self::new(52);
        Self {
            this: class.parent,
            parent: 0,
            ..class
        }
    }

    /// A class of this name.
    pub(crate) fn named(name: &str) -> Self {
        let mut class = Self::new(52);
        class.this = class.pool.class(name.as_bytes()).unwrap();
        class
    }

    pub(crate) fn method(&mut self, name: &str, descriptor: &str, code: &TestCode) {
        let mut method = Vec::new();
        method.put_u2(1);
        method.put_u2(self.pool.utf8(name.as_bytes()).unwrap());
        method.put_u2(self.pool.utf8(descriptor.as_bytes()).unwrap());
        method.put_u2(1);
        method.put_u2(self.pool.utf8(b"Code").unwrap());
        let put = |out: &mut Vec<u8>| {
            out.put_u2(code.max_stack);
            out.put_u2(code.max_locals);
            out.put_u4(code.code.len() as u32);
            out.put(&code.code);
            out.put_u2(code.handlers.len() as u16);
            for number in code.handlers.iter().flatten() {
                out.put_u2(*number);
            }
            out.put_u2(code.attributes.len() as u16);
            for (name, body) in &code.attributes {
                out.put_u2(self.pool.utf8(name.as_bytes()).unwrap());
                out.put_u4(body.len() as u32);
                out.put(body);
            }
            Ok(())
        };
        method.sized(put).unwrap();
        self.methods.push(method);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_u4(0xCAFE_BABE);
        out.put_u2(0);
        out.put_u2(self.version);
        out.put_u2(self.pool.count());
        out.put(self.pool.bytes());
        for number in [0x21, self.this, self.parent, 0, 0] {
            out.put_u2(number);
        }
        out.put_u2(self.methods.len() as u16);
        for method in &self.methods {
            out.put(method);
        }
        out.put_u2(0);
        out
    }
}
