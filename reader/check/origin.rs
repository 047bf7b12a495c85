//! The writer of a file: a habit excuses only the writer that has it.

use crate::dump::Event;
use crate::header::{Header, Version};
use crate::record::Record;

/// The writer of a file, recognised by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Android: the version is 1.0.3.
    Android,
    /// HotSpot's own dump: ids of strings are addresses.
    HotSpot,
    /// This project, or another writer that numbers its strings from 1.
    HprofRs,
    /// The HPROF agent of JDK 8 and earlier: CONTROL SETTINGS comes first.
    JdkAgent,
    /// None of these.
    Unknown,
}

/// Lower numbers are not addresses of HotSpot's symbols: the program's code and data are there.
const LOWEST_ADDRESS: u64 = 1 << 24;

impl Origin {
    /// Decides by the header and the record after it; `None` for a file that ends there.
    pub(super) fn of(header: &Header, first: Option<&Event>) -> Self {
        if header.version == Version::V1_0_3 {
            return Self::Android;
        }
        match first {
            Some(Event::Record(_, Record::ControlSettings(_))) => Self::JdkAgent,
            Some(Event::Record(_, Record::Utf8(string))) => match string.id {
                1 => Self::HprofRs,
                id if id >= LOWEST_ADDRESS && id % 8 == 0 => Self::HotSpot,
                _ => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }

    /// The writer's name, or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Android => "Android",
            Self::HotSpot => "HotSpot",
            Self::HprofRs => "hprof-rs",
            Self::JdkAgent => "the JDK's HPROF agent",
            Self::Unknown => "unknown",
        }
    }
}
