//! The parts of a heap, read in parallel and processed in file order.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{sync_channel, SyncSender};
use std::thread;

use reader::Source;

use crate::error::GraphError;
use crate::input::Input;

/// Parts per thread that may be finished before the one that is processed next.
const PARTS_AHEAD: usize = 4;

/// The position of an object: a record of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// Its offset.
    pub(crate) offset: u64,
    /// Number of its first object, counted from the part's first: a graph stream has many objects
    /// in one record.
    pub(crate) first: u32,
}

/// A part of the heap, as input of the second pass.
#[derive(Clone, Debug, Default)]
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
pub(crate) fn in_order<P: Borrow<PartPlace> + Sync, T: Send>(
    input: &Input<'_>,
    parts: &[P],
    threads: usize,
    read: impl Fn(&mut Source<'_>, &P) -> Result<T, GraphError> + Sync,
    mut take: impl FnMut(T) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    if input.is_stream() {
        let mut window = input.whole()?;
        for part in parts {
            let place = part.borrow();
            window.aim(place.start..place.end)?;
            take(read(&mut window, part)?)?;
        }
        return Ok(());
    }
    let next = AtomicUsize::new(0);
    let (to, from) = sync_channel(PARTS_AHEAD * threads.max(1));
    let work = |to: SyncSender<(usize, Result<T, GraphError>)>| {
        let mut window = input.parts();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(at) else {
                return;
            };
            let place = part.borrow();
            let aimed = window.aim(place.start..place.end);
            let made = aimed.map_err(GraphError::from);
            let made = made.and_then(|()| read(&mut window, part));
            input.note(place.start, place.end);
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
