//! What is mapped into this process, as the system knows it (proc_pid_maps(5)).

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;

/// A stretch of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OsMapping<'t> {
    /// Its addresses.
    pub(crate) range: Range<u64>,
    /// `rwxp`: may be read, written, executed, is this process's own; a letter or a dash each, `s` if it is shared.
    flags: [u8; 4],
    /// Where in its file it starts.
    pub(crate) offset: u64,
    /// The file's number; 0 if it is of no file.
    inode: u64,
    /// The file's path, a word in brackets, or nothing.
    pub(crate) name: &'t [u8],
}

/// The text of `/proc/self/maps`, for [`OsMapping::all`]. In a forked child, too.
pub(crate) fn os_maps() -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open("/proc/self/maps")?.read_to_end(&mut text)?;
    Ok(text)
}

impl<'t> OsMapping<'t> {
    /// The mappings in the order of addresses, as the system lists them; lines that are none are left out.
    pub(crate) fn all(text: &'t [u8]) -> impl Iterator<Item = Self> + 't {
        text.split(|&byte| byte == b'\n').filter_map(Self::parse)
    }

    /// `7f3b0000-7f3c0000 rw-p 00000000 00:00 0   name`
    fn parse(line: &'t [u8]) -> Option<Self> {
        let mut words = line.splitn(6, |&byte| byte == b' ');
        let range = std::str::from_utf8(words.next()?).ok()?;
        let (start, end) = range.split_once('-')?;
        let flags = words.next()?.first_chunk()?;
        let offset = std::str::from_utf8(words.next()?).ok()?;
        let inode = std::str::from_utf8(words.nth(1)?).ok()?;
        let hex = |text| u64::from_str_radix(text, 16).ok();
        Some(Self {
            range: hex(start)?..hex(end)?,
            flags: *flags,
            offset: hex(offset)?,
            inode: inode.parse().ok()?,
            name: words.next().unwrap_or_default().trim_ascii_start(),
        })
    }

    /// Whether it can be read.
    pub(crate) fn is_readable(&self) -> bool {
        self.flags.starts_with(b"r")
    }

    /// Whether it can be executed.
    pub(crate) fn is_executable(&self) -> bool {
        matches!(self.flags, [_, _, b'x', _])
    }

    /// Whether what is written there is this process's alone, and a fork gets a copy.
    pub(crate) fn is_private(&self) -> bool {
        self.flags.ends_with(b"p")
    }

    /// Whether it is memory that can be written and belongs to no file.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.flags == *b"rw-p" && self.inode == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_line_is_read() {
        let text = b"7f01000-7f02000 r-xp 00001000 fe:01 1234     /usr/lib/two words.so\n\
            nonsense\n\
            7f03000-7f04000 rw-p 00000000 00:00 0 \n\
            7f05000-7f06000 rw-s 00000000 00:05 9    /memfd:heap (deleted)\n";
        let all: Vec<_> = OsMapping::all(text).collect();
        let [code, memory, shared] = &all[..] else {
            panic!("{all:?}");
        };
        assert_eq!(
            (&code.range, code.offset),
            (&(0x7f0_1000..0x7f0_2000), 0x1000)
        );
        assert_eq!(code.name, b"/usr/lib/two words.so");
        assert!(code.is_readable() && code.is_executable() && code.is_private());
        assert!(!code.is_anonymous() && !memory.is_executable());
        assert!(memory.is_anonymous() && memory.name.is_empty());
        assert!(!shared.is_private() && !shared.is_anonymous());
    }

    #[test]
    fn this_process_has_mappings() {
        let text = os_maps().unwrap();
        let here = this_process_has_mappings as *const () as u64;
        let mut all = OsMapping::all(&text);
        assert!(all.any(|mapping| mapping.range.contains(&here) && mapping.is_executable()));
        assert!(OsMapping::all(&text).any(|mapping| mapping.is_anonymous()));
    }
}
