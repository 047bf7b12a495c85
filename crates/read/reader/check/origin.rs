//! The writer of a file: a habit excuses only the writer that has it.

use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::header::Version;
use crate::id_set::IdSet;
use format::record::{LoadClass, Record, Utf8};

/// The writer of a file, recognised by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Android: the version is 1.0.3, or classes have the trace 0, as in a dump that was converted.
    Android,
    /// HotSpot's own dump: ids of strings are addresses, behind the few texts of an agent.
    HotSpot,
    /// This project, or another writer that numbers its strings from 1.
    HprofRs,
    /// The HPROF agent of JDK 8 and earlier: CONTROL SETTINGS comes first.
    JdkAgent,
    /// An executable that GraalVM has compiled ahead of time: names of classes have dots.
    NativeImage,
    /// None of these.
    Unknown,
}

/// Lower numbers are not addresses of HotSpot's symbols: the program's code and data are there.
const LOWEST_ADDRESS: u64 = 1 << 24;

impl Origin {
    /// Reads the file up to its first class. Errors: I/O.
    pub(super) fn of(dump: &mut DumpReader<'_>) -> Result<Self, ReadError> {
        if dump.header().version == Version::V1_0_3 {
            return Ok(Self::Android);
        }
        let first = dump.next_event()?;
        if let Some(Event::Record(_, Record::ControlSettings(_))) = first {
            return Ok(Self::JdkAgent);
        }
        let mut by_string = match &first {
            Some(Event::Record(_, Record::Utf8(string))) => Self::of_string(string.id),
            _ => Self::Unknown,
        };
        let mut dotted = IdSet::default();
        let mut next = first;
        while let Some(event) = next {
            match event {
                Event::Record(_, Record::Utf8(string)) => {
                    if Self::of_string(string.id) == Self::HotSpot {
                        by_string = Self::HotSpot;
                    }
                    if is_dotted(&string) {
                        dotted.insert(string.id);
                    }
                }
                Event::Record(_, Record::LoadClass(load)) => {
                    return Ok(Self::of_class(&load, &dotted).unwrap_or(by_string));
                }
                Event::HeapStart(_) => break,
                _ => {}
            }
            dump.budget().allow(dotted.held_bytes())?;
            next = dump.next_event()?;
        }
        Ok(by_string)
    }

    /// Decides by the id of the first string.
    fn of_string(id: u64) -> Self {
        match id {
            1 => Self::HprofRs,
            id if id >= LOWEST_ADDRESS && id % 8 == 0 => Self::HotSpot,
            _ => Self::Unknown,
        }
    }

    /// Decides by the first class, and by the names that have dots; `None` if any writer may have
    /// written it.
    fn of_class(load: &LoadClass, dotted: &IdSet) -> Option<Self> {
        match (load.trace, dotted.contains(load.name)) {
            (0, _) => Some(Self::Android),
            (_, true) => Some(Self::NativeImage),
            (_, false) => None,
        }
    }

    /// The writer's name, or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Android => "Android",
            Self::HotSpot => "HotSpot",
            Self::HprofRs => "hprof-rs",
            Self::JdkAgent => "the JDK's HPROF agent",
            Self::NativeImage => "a GraalVM native image",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether a string is the name of a class with dots between its packages.
fn is_dotted(string: &Utf8) -> bool {
    string.text.contains(&b'.') && !string.text.contains(&b'/')
}
