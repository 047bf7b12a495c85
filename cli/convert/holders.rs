//! Who holds the memory, as stacks: the places of the dominator tree, each below its holder.

use std::collections::HashMap;

use reader::{StackFrame, Stacks};

use super::profile::{Profile, Row};
use crate::answers::diff::places::Places;
use crate::files::heap_file::Loaded;
use crate::output::Failure;

/// The frame of what is too small to be separated.
const REST: &str = "(small)";

/// The retained bytes of a heap by holders, in all as many as `hprof leaks` has. Errors: the file
/// cannot be read.
pub(super) fn profile(loaded: &Loaded) -> Result<Profile, Failure> {
    let places = loaded.check(Places::of(&loaded.heap, &loaded.retained))?;
    let (mut frames, mut traces) = (Vec::new(), HashMap::new());
    let (mut stacks, mut rows): (Vec<Box<[usize]>>, Vec<Row>) = (Vec::new(), Vec::new());
    for (trace, share) in (0..).zip(places.shares()) {
        let label = match frames.is_empty() {
            true => REST.to_owned(),
            false => share.label,
        };
        let own = frames.len();
        frames.push(StackFrame {
            class: "".into(),
            method: label.into(),
            source: None,
            line: -1,
        });
        // What the heap itself holds is no frame of the others.
        let holders = stacks.get(share.above).filter(|_| share.above > 0);
        let holders = holders.into_iter().flat_map(|it| it.iter().copied());
        let stack: Box<[usize]> = std::iter::once(own).chain(holders).collect();
        traces.insert(trace, stack.clone());
        stacks.push(stack);
        rows.push(Row {
            trace,
            class: None,
            values: vec![share.bytes],
        });
    }
    Ok(Profile {
        stacks: Stacks::of(frames, traces),
        rows,
        values: vec![("inuse_space", "bytes")],
        first_shown: None,
        drawn: 0,
        title: "Retained bytes by holder",
        unit: "bytes",
        whole: loaded.retained.total_bytes(),
        damaged: loaded.heap.damaged(),
    })
}
