//! The memory mappings of this process, from `/proc/self/maps` (proc_pid_maps(5)).

use std::io;
use std::ops::Range;

/// A mapped range of memory: one line of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its address range.
    pub range: Range<u64>,
    /// `rwxp`: readable, writable, executable, private. Each is a letter or a dash; `s` instead of
    /// `p` means shared.
    flags: [u8; 4],
    /// Offset of the mapping in its file.
    pub offset: u64,
    /// The file's inode; 0 if the mapping has no file.
    inode: u64,
}

/// The text of `/proc/self/maps`, for [`Mapping::all`]. Works in a forked child, too.
pub fn os_maps() -> io::Result<Vec<u8>> {
    std::fs::read("/proc/self/maps")
}

impl Mapping {
    /// The mappings in address order, as the kernel lists them, each with its name: the file's
    /// path, a word in brackets, or nothing. Skips lines that cannot be parsed.
    pub fn all(text: &[u8]) -> impl Iterator<Item = (Self, &[u8])> {
        text.split(|&byte| byte == b'\n').filter_map(Self::parse)
    }

    /// `7f3b0000-7f3c0000 rw-p 00000000 00:00 0   name`
    fn parse(line: &[u8]) -> Option<(Self, &[u8])> {
        let mut words = line.splitn(6, |&byte| byte == b' ');
        let range = std::str::from_utf8(words.next()?).ok()?;
        let (start, end) = range.split_once('-')?;
        let flags = words.next()?.first_chunk()?;
        let offset = std::str::from_utf8(words.next()?).ok()?;
        let inode = std::str::from_utf8(words.nth(1)?).ok()?;
        let hex = |text| u64::from_str_radix(text, 16).ok();
        let mapping = Self {
            range: hex(start)?..hex(end)?,
            flags: *flags,
            offset: hex(offset)?,
            inode: inode.parse().ok()?,
        };
        Some((mapping, words.next().unwrap_or_default().trim_ascii_start()))
    }

    /// Whether it is readable.
    pub fn is_readable(&self) -> bool {
        self.flags.starts_with(b"r")
    }

    /// Whether it is executable.
    pub fn is_executable(&self) -> bool {
        matches!(self.flags, [_, _, b'x', _])
    }

    /// Whether it is private, so that a fork gets its own copy.
    pub fn is_private(&self) -> bool {
        self.flags.ends_with(b"p")
    }

    /// Whether it is writable and has no file.
    pub fn is_anonymous(&self) -> bool {
        self.flags == *b"rw-p" && self.inode == 0
    }
}

/// All mappings of this process.
#[derive(Clone, Debug, Default)]
pub struct Mappings {
    // In address order, as the kernel lists them.
    mappings: Vec<Mapping>,
    /// Whether the page at an address can be read; `None` if all pages of readable mappings can.
    page_is_readable: Option<fn(u64) -> bool>,
}

/// Bytes of the smallest page.
pub const PAGE_BYTES: u64 = 4096;

impl Mappings {
    /// Parses the text of `/proc/self/maps`. Skips lines that cannot be parsed.
    pub fn parse(text: &[u8]) -> Self {
        Self {
            mappings: Mapping::all(text).map(|(mapping, _)| mapping).collect(),
            page_is_readable: None,
        }
    }

    /// The same mappings, whose pages are tried with this function before they count as readable.
    /// It takes an address.
    ///
    /// The kernel lists as readable what ends the process that reads it: pages after the end of a
    /// file, and guard pages inside a mapping (`MADV_GUARD_INSTALL`, madvise(2)), by which glibc
    /// protects stacks since 2.42, on Linux 6.13 and later.
    #[must_use]
    pub fn tried(self, page_is_readable: fn(u64) -> bool) -> Self {
        Self {
            page_is_readable: Some(page_is_readable),
            ..self
        }
    }

    fn at(&self, address: u64) -> Option<&Mapping> {
        let behind = self
            .mappings
            .partition_point(|mapping| mapping.range.end <= address);
        self.mappings
            .get(behind)
            .filter(|mapping| mapping.range.contains(&address))
    }

    /// The gapless run of mappings around an address, whether readable or only reserved. For an
    /// object this is the heap.
    ///
    /// It includes neighbours that touch the heap. `None` if nothing is mapped at the address.
    pub fn around(&self, address: u64) -> Option<Range<u64>> {
        let at = self
            .mappings
            .partition_point(|mapping| mapping.range.end <= address);
        let own = self.at(address)?.range.clone();
        let (before, behind) = self.mappings.split_at_checked(at)?;
        let start = before.iter().rev().fold(own.start, |start, mapping| {
            if mapping.range.end == start {
                mapping.range.start
            } else {
                start
            }
        });
        let end = behind.iter().fold(own.end, |end, mapping| {
            if mapping.range.start == end {
                mapping.range.end
            } else {
                end
            }
        });
        Some(start..end)
    }

    /// Whether a word can be read at this address.
    pub fn is_readable(&self, address: u64) -> bool {
        self.readable(address).is_some()
    }

    /// The readable mapping at this address, if its page can be read, too.
    pub fn readable(&self, address: u64) -> Option<Range<u64>> {
        let mapping = self.at(address).filter(|mapping| mapping.is_readable())?;
        let is_there = self.page_is_readable.is_none_or(|tried| tried(address));
        is_there.then(|| mapping.range.clone())
    }

    /// Whether all of these bytes can be read.
    pub fn are_readable(&self, start: u64, bytes: u64) -> bool {
        Self::are_all(start, bytes, |from| {
            let page_end = (from | (PAGE_BYTES - 1)).saturating_add(1);
            Some(self.readable(from)?.end.min(page_end))
        })
    }

    /// Whether all of these bytes are in readable mappings. For memory without guard pages.
    pub fn are_mapped(&self, start: u64, bytes: u64) -> bool {
        Self::are_all(start, bytes, |from| {
            let mapping = self.at(from).filter(|mapping| mapping.is_readable())?;
            Some(mapping.range.end)
        })
    }

    /// Whether a step from each address leads to the end of these bytes.
    fn are_all(start: u64, bytes: u64, step: impl Fn(u64) -> Option<u64>) -> bool {
        let Some(end) = start.checked_add(bytes) else {
            return false;
        };
        let mut from = start;
        while from < end {
            match step(from) {
                Some(next) => from = next,
                None => return false,
            }
        }
        true
    }

    /// The file's inode and the offset in it of a range that one mapping of a file contains.
    pub fn place_in_file(&self, range: &Range<u64>) -> Option<(u64, u64)> {
        let mapping = self.at(range.start)?;
        let is_whole = range.end <= mapping.range.end && mapping.inode != 0;
        let offset = mapping.offset + (range.start - mapping.range.start);
        is_whole.then_some((mapping.inode, offset))
    }

    /// The parts of a range that are writable and have no file.
    pub fn anonymous<'m>(
        &'m self,
        within: &'m Range<u64>,
    ) -> impl Iterator<Item = Range<u64>> + 'm {
        self.parts(within, Mapping::is_anonymous)
    }

    /// The parts of a range that are mapped shared, so that a fork gets no copy.
    pub fn shared<'m>(&'m self, within: &'m Range<u64>) -> impl Iterator<Item = Range<u64>> + 'm {
        self.parts(within, |mapping| !mapping.is_private())
    }

    fn parts<'m>(
        &'m self,
        within: &'m Range<u64>,
        is_one: fn(&Mapping) -> bool,
    ) -> impl Iterator<Item = Range<u64>> + 'm {
        let own = self.mappings.iter().filter(move |mapping| is_one(mapping));
        own.map(|mapping| &mapping.range)
            .map(|range| range.start.max(within.start)..range.end.min(within.end))
            .filter(|range| range.start < range.end)
    }

    /// The readable mappings of the file that is mapped shared at this address; none if the mapping
    /// is private, or has no file.
    fn sharing(&self, address: u64) -> Vec<Range<u64>> {
        let own = self
            .at(address)
            .filter(|own| !own.is_private() && own.inode != 0);
        let same = |mapping: &&Mapping| {
            own.is_some_and(|own| own.inode == mapping.inode && !mapping.is_private())
        };
        let same = self.mappings.iter().filter(same);
        let readable = same.filter(|mapping| mapping.is_readable());
        readable.map(|mapping| mapping.range.clone()).collect()
    }

    /// As [`Mappings::sharing`], of the first file that is mapped shared at an address with this
    /// base; `offset_mask` has the other bits.
    pub fn sharing_from(&self, base: u64, offset_mask: u64) -> Vec<Range<u64>> {
        let mut shared = self.mappings.iter().filter(|mapping| {
            !mapping.is_private()
                && mapping.is_readable()
                && mapping.range.start & !offset_mask == base
        });
        let first = shared.next().map(|mapping| mapping.range.start);
        first.map_or_else(Vec::new, |first| self.sharing(first))
    }

    /// Whether a fork gets its own copy of this address.
    pub fn is_private(&self, address: u64) -> bool {
        self.at(address)
            .is_some_and(|mapping| mapping.is_private() && mapping.is_readable())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_found_by_address() {
        let mappings = Mappings::parse(
            b"1000-2000 rw-p 00000000 00:00 0 \nnonsense\n\
             2000-3000 r--p 00000000 08:01 7    /lib/x\n\
             5000-6000 rw-s 00000000 00:01 1    /memfd:java_heap (deleted)\n",
        );
        assert!(mappings.is_private(0x1FFF));
        assert!(mappings.is_private(0x2000));
        assert!(mappings.is_readable(0x2000));
        assert!(!mappings.is_private(0x5000));
        assert!(!mappings.is_readable(0x4000) && !mappings.is_readable(0xFFF));
        assert!(!mappings.is_readable(0x6000));
    }

    #[test]
    fn memory_of_no_file_and_shared_memory_are_listed() {
        let mappings = Mappings::parse(
            b"1000-2000 rw-p 00000000 00:00 0 \n\
             2000-3000 r--p 00000000 00:00 0\n\
             3000-4000 rw-p 00000000 08:01 7    /lib/x\n\
             4000-6000 rw-p 00000000 00:00 0    [anon: Java heap]\n\
             6000-7000 rw-s 00000000 08:01 9    /a folder/#9 (deleted)\n\
             7000-8000 rw-s 00000000 00:0f 0    /SYSV00000000 (deleted)\n",
        );
        let listed: Vec<_> = mappings.anonymous(&(0x1800..0x5000)).collect();
        assert_eq!(listed, [0x1800..0x2000, 0x4000..0x5000]);
        let listed: Vec<_> = mappings.shared(&(0x1000..0x7800)).collect();
        assert_eq!(listed, [0x6000..0x7000, 0x7000..0x7800]);
    }

    #[test]
    fn what_can_be_read_has_no_gap() {
        let mappings = Mappings::parse(
            b"1000-2000 rw-p 0 0 0\n2000-3000 r--p 0 0 0\n3000-4000 ---p 0 0 0\n5000-6000 rw-p 0 0 0\n",
        );
        assert!(mappings.are_readable(0x1FFC, 8) && mappings.are_readable(0x2FF8, 8));
        assert!(!mappings.are_readable(0x2FFC, 8) && !mappings.are_readable(0x4FFC, 8));
        assert!(!mappings.are_readable(0x2000, 0x3800));
        assert!(!mappings.are_readable(0x4000, 4) && !mappings.are_readable(u64::MAX, 8));
    }

    #[test]
    fn a_page_that_cannot_be_read_is_a_gap() {
        let mappings = Mappings::parse(b"1000-4000 rw-p 0 0 0\n").tried(|at| at & !0xFFF != 0x2000);
        assert!(mappings.is_readable(0x1FF8) && mappings.is_readable(0x3000));
        assert!(!mappings.is_readable(0x2000) && !mappings.is_readable(0x2FF8));
        assert!(mappings.are_readable(0x1FF8, 8) && mappings.are_readable(0x3000, 0x1000));
        assert!(!mappings.are_readable(0x1FFC, 8) && !mappings.are_readable(0x1000, 0x3000));
        assert!(mappings.are_mapped(0x1000, 0x3000) && !mappings.are_mapped(0x1000, 0x3001));
        assert_eq!(mappings.readable(0x3000), Some(0x1000..0x4000));
    }

    #[test]
    fn neighbours_belong_together() {
        let mappings = Mappings::parse(
            b"1000-2000 rw-p 0 0 0\n3000-4000 rw-p 0 0 0\n4000-6000 ---p 0 0 0\n6000-7000 rw-p 0 0 0\n8000-9000 r--p 0 0 0\n",
        );
        assert_eq!(mappings.around(0x4800), Some(0x3000..0x7000));
        assert_eq!(mappings.around(0x1000), Some(0x1000..0x2000));
        assert_eq!(mappings.around(0x2000), None);
    }

    #[test]
    fn every_part_of_a_line_is_read() {
        let text = b"7f01000-7f02000 r-xp 00001000 fe:01 1234     /usr/lib/two words.so\n\
            nonsense\n\
            7f03000-7f04000 rw-p 00000000 00:00 0 \n\
            7f05000-7f06000 rw-s 00000000 00:05 9    /memfd:heap (deleted)\n";
        let all: Vec<_> = Mapping::all(text).collect();
        let [(code, code_name), (memory, memory_name), (shared, _)] = &all[..] else {
            panic!("{all:?}");
        };
        assert_eq!(
            (&code.range, code.offset),
            (&(0x7f0_1000..0x7f0_2000), 0x1000)
        );
        assert_eq!(*code_name, b"/usr/lib/two words.so");
        assert!(code.is_readable() && code.is_executable() && code.is_private());
        assert!(!code.is_anonymous() && !memory.is_executable());
        assert!(memory.is_anonymous() && memory_name.is_empty());
        assert!(!shared.is_private() && !shared.is_anonymous());
    }

    #[test]
    fn this_process_has_mappings() {
        let text = os_maps().unwrap();
        let here = this_process_has_mappings as *const () as u64;
        let mut all = Mapping::all(&text);
        assert!(all.any(|(mapping, _)| mapping.range.contains(&here) && mapping.is_executable()));
        assert!(Mapping::all(&text).any(|(mapping, _)| mapping.is_anonymous()));
    }
}
