//! Areas of a JVM's memory beside its objects, as a graph stream lists them.

use std::fmt;
use std::ops::Range;

/// What an area is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AreaKind {
    /// The Java heap, as reserved.
    Heap,
    /// A structure of the collector: its card table.
    Collector,
    /// The metadata of classes.
    Metaspace,
    /// The stack of a Java thread.
    Stack,
}

const KINDS: [(AreaKind, &str); 4] = [
    (AreaKind::Heap, "heap"),
    (AreaKind::Collector, "collector"),
    (AreaKind::Metaspace, "metaspace"),
    (AreaKind::Stack, "stack"),
];

/// A range of addresses, and its use. As text: `heap e0000000-100000000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryArea {
    /// Its use.
    pub kind: AreaKind,
    /// Its addresses.
    pub range: Range<u64>,
}

impl AreaKind {
    /// The number of this kind in a message.
    pub fn code(self) -> u64 {
        self as u64
    }

    /// The kind with this number.
    pub fn from_code(code: u64) -> Option<Self> {
        let kind = KINDS.iter().find(|(kind, _)| kind.code() == code);
        kind.map(|(kind, _)| *kind)
    }
}

impl MemoryArea {
    /// The meaning of a line; `None` for another line, and for a kind of a later version.
    pub fn parse(line: &str) -> Option<Self> {
        let (name, range) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let address = |text| u64::from_str_radix(text, 16).ok();
        Some(Self {
            kind: KINDS.iter().find(|(_, known)| *known == name)?.0,
            range: address(start)?..address(end)?,
        })
    }
}

impl fmt::Display for MemoryArea {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KINDS.iter().find(|(kind, _)| *kind == self.kind);
        let name = name.map_or("", |(_, name)| name);
        write!(f, "{name} {:x}-{:x}", self.range.start, self.range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_as_written() {
        for (kind, _) in KINDS {
            let area = MemoryArea {
                kind,
                range: 0xE000_0000..0x1_0000_0000,
            };
            assert_eq!(MemoryArea::parse(&area.to_string()), Some(area));
            assert_eq!(AreaKind::from_code(kind.code()), Some(kind));
        }
        for line in ["", "heap", "heap 1", "heap x-2", "later 1-2"] {
            assert_eq!(MemoryArea::parse(line), None, "{line}");
        }
        assert_eq!(AreaKind::from_code(99), None);
    }
}
