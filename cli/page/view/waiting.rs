//! Clients that have connected and not shown the token yet. When there are too many, the one that
//! has waited longest goes: a client with the token shows it at once.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};

/// Most of them. A browser makes six connections.
const MOST: usize = 32;

/// Those who wait, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<Line>);

#[derive(Debug, Default)]
struct Line {
    next: u64,
    all: VecDeque<(u64, TcpStream)>,
}

impl Waiting {
    /// One more, and its number. Errors: there are too many open files.
    pub(super) fn enter(&self, stream: &TcpStream) -> io::Result<u64> {
        let stream = stream.try_clone()?;
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if line.all.len() >= MOST {
            if let Some((_, oldest)) = line.all.pop_front() {
                // Its thread sees the end.
                let _ = oldest.shutdown(Shutdown::Both);
            }
        }
        let number = line.next;
        line.next += 1;
        line.all.push_back((number, stream));
        Ok(number)
    }

    /// This one waits no more.
    pub(super) fn leave(&self, number: u64) {
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        line.all.retain(|(other, _)| *other != number);
    }
}
