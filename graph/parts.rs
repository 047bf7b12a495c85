//! The parts of a heap, read in parallel and processed in file order.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{sync_channel, SyncSender};
use std::thread;

use crate::error::GraphError;
use crate::input::Input;
use crate::survey::{next_of, Checkpoint};
use crate::window::Window;

/// Parts per thread that may be finished before the one that is processed next.
const PARTS_AHEAD: usize = 4;

/// A part of the heap, as input of the second pass.
#[derive(Clone, Debug)]
pub(crate) struct PartPlace {
    pub(crate) start: u64,
    /// Offset after the last sub-record that the first pass could read.
    pub(crate) end: u64,
    /// Number of the first object.
    pub(crate) first: u32,
    /// Number of objects.
    pub(crate) count: u32,
    /// The positions of every 1,024th object.
    pub(crate) checkpoints: Vec<Checkpoint>,
}

/// Calls `read` for each part, on `threads` threads unless the file is a stream, and `take` with
/// the results in order.
///
/// Errors: the first of `read` or `take`, or the file cannot be read.
pub(crate) fn in_order<T: Send>(
    input: &Input<'_>,
    parts: &[PartPlace],
    threads: usize,
    read: impl Fn(&mut Window<'_>, &PartPlace) -> Result<T, GraphError> + Sync,
    mut take: impl FnMut(T) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    if input.is_stream() {
        let mut window = input.whole()?;
        for part in parts {
            window.aim(part.start, part.end)?;
            take(read(&mut window, part)?)?;
        }
        return Ok(());
    }
    let next = AtomicUsize::new(0);
    let (to, from) = sync_channel(PARTS_AHEAD * threads.max(1));
    let work = |to: SyncSender<(usize, Result<T, GraphError>)>| {
        let mut window = input.part(0, 0);
        while let Some((at, part)) = next_of(parts, &next) {
            let aimed = window.aim(part.start, part.end);
            let made = aimed.map_err(GraphError::from);
            let made = made.and_then(|()| read(&mut window, part));
            input.note_part(part.start, part.end);
            if to.send((at, made)).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let to = to.clone();
            scope.spawn(|| work(to));
        }
        drop(to);
        let (mut early, mut wanted) = (BTreeMap::new(), 0);
        // A fault ends this loop, and with it the channel, which ends the threads.
        let from = from;
        for (at, made) in &from {
            early.insert(at, made?);
            while let Some(made) = early.remove(&wanted) {
                take(made)?;
                wanted += 1;
            }
        }
        Ok(())
    })
}
