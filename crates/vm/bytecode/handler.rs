//! The code covered by the handler that reports a method's end by an exception.

use std::ops::Range;

use crate::class_file::{ClassFile, Method};
use crate::code::Code;
use crate::constructor::Constructor;
use crate::error::Reason;
use crate::opcode::may_throw;
use crate::program::Program;

/// The runs of instructions to cover; `None` if it is unclear where a constructor may be covered.
///
/// Runs without an instruction that can throw need no handler and are left out.
pub(crate) fn covered(
    class: &ClassFile<'_>,
    method: Method<'_>,
    code: Code<'_>,
    program: &Program,
    frames: Option<&[u8]>,
) -> Result<Option<Vec<Range<usize>>>, Reason> {
    // The constructor of Object need not call another one: its `this` is initialized from the
    // start.
    let runs = if method.name == b"<init>" && class.super_name.is_some() {
        let constructor = Constructor {
            class,
            method,
            code,
            program,
            frames,
        };
        constructor.initialized()?
    } else {
        Some(std::iter::once(0..program.count()).collect())
    };
    Ok(runs.map(|mut runs| {
        runs.retain(|run| program.run(run).iter().any(|i| may_throw(i.opcode)));
        runs
    }))
}
