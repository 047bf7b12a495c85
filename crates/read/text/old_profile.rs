//! The profile of `cpu=old`: calls by caller and callee, in the format of `java -prof`.

use std::cmp::Reverse;
use std::fmt::{self, Formatter};
use std::io::{self, Write};

use crate::cpu::millis;
use format::name::Word;
use tables::profile::Method;

/// A method with its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldMethod<'a> {
    /// The method.
    pub method: Method<'a>,
    /// Its descriptor, `(I)V`.
    pub descriptor: &'a [u8],
}

impl fmt::Display for OldMethod<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.method, Word(self.descriptor))
    }
}

/// The calls of one method by another, and their cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// The called method; `None` if it is unknown.
    pub callee: Option<OldMethod<'a>>,
    /// The calling method; `None` if it is unknown.
    pub caller: Option<OldMethod<'a>>,
    /// Number of calls; an entry with 0 is left out.
    pub count: u64,
    /// The time in the callee, including its own callees.
    pub nanos: u64,
}

/// Writes the whole report, which has no head, no threads and no traces: all calls, ordered by
/// count, then by time.
pub fn old_profile(calls: &[Call<'_>], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "count callee caller time")?;
    let mut calls: Vec<_> = calls.iter().filter(|call| call.count > 0).collect();
    calls.sort_by_key(|call| Reverse((call.count, call.nanos)));
    calls.into_iter().try_for_each(|call| row(call, out))
}

fn row(call: &Call<'_>, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{} ", call.count)?;
    match call.callee {
        Some(callee) => write!(out, "{callee} ")?,
        None => write!(out, "<unknown callee> ")?,
    }
    match call.caller {
        Some(caller) => write!(out, "{caller} ")?,
        None => write!(out, "<unknown caller> ")?,
    }
    writeln!(out, "{}", millis(call.nanos))
}
