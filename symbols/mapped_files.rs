//! The code mapped into this process, and its files (proc_pid_maps(5)).

use snapshot::mappings::{os_maps, Mapping};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// The kernel appends this to the path of a deleted file. Another file may have its name now.
const DELETED: &[u8] = b" (deleted)";

/// An executable mapping and its file; `None` for memory without a file, such as a JVM's code
/// cache.
type Code = (Mapping, Option<Arc<Path>>);

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilePlace<'m> {
    /// The file, by an absolute path.
    pub(crate) file: &'m Arc<Path>,
    /// Offset in bytes.
    pub(crate) offset: u64,
}

/// What is mapped at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapped<'m> {
    /// Code from a file.
    File(FilePlace<'m>),
    /// Code without a file, or whose file was deleted.
    Memory,
    /// Nothing, when the mappings were read.
    Nothing,
}

/// All code of this process at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct MappedFiles {
    /// In address order.
    mappings: Vec<Code>,
}

impl MappedFiles {
    /// Reads the mappings; empty if the system does not list them.
    pub(crate) fn read() -> Self {
        Self::parse(&os_maps().unwrap_or_default())
    }

    fn parse(text: &[u8]) -> Self {
        let code = Mapping::all(text).filter(|(mapping, _)| mapping.is_executable());
        let mut mappings: Vec<Code> = code.map(|(code, name)| (code, file(name))).collect();
        mappings.sort_unstable_by_key(|(mapping, _)| mapping.range.start);
        Self { mappings }
    }

    /// Whether code of this file is mapped.
    pub(crate) fn has(&self, file: &Path) -> bool {
        let mut files = self.mappings.iter().filter_map(|(_, file)| file.as_ref());
        files.any(|it| **it == *file)
    }

    /// What is mapped at this address.
    pub(crate) fn at(&self, address: u64) -> Mapped<'_> {
        let behind = |(code, _): &Code| code.range.end <= address;
        let at = self.mappings.get(self.mappings.partition_point(behind));
        match at.filter(|(code, _)| code.range.contains(&address)) {
            None => Mapped::Nothing,
            Some((_, None)) => Mapped::Memory,
            Some((code, Some(file))) => Mapped::File(FilePlace {
                file,
                offset: (address - code.range.start).saturating_add(code.offset),
            }),
        }
    }
}

fn file(name: &[u8]) -> Option<Arc<Path>> {
    let is_file = name.starts_with(b"/") && !name.ends_with(DELETED);
    is_file.then(|| Arc::from(Path::new(OsStr::from_bytes(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &[u8] = b"7f0000002000-7f0000004000 r-xp 00001000 fe:01 1234                     /usr/lib/two words.so\n\
        7f0000001000-7f0000002000 r--p 00000000 fe:01 1234                     /usr/lib/two words.so\n\
        7f0000004000-7f0000005000 r-xp 00000000 00:00 0                        [vdso]\n\
        7f0000005000-7f0000006000 rwxp 00000000 00:00 0 \n\
        7f0000006000-7f0000007000 r-xp 00000000 fe:01 99                       /tmp/gone.so (deleted)\n\
        555500000000-555500001000 r-xp 00002000 fe:01 7                        /usr/bin/java\n\
        no line of theirs\n";

    #[test]
    fn an_address_is_a_place_in_a_file() {
        let all = MappedFiles::parse(MAPS);
        let Mapped::File(place) = all.at(0x7f00_0000_2010) else {
            panic!("{all:?}");
        };
        assert_eq!(place.offset, 0x1010);
        assert_eq!(&**place.file, Path::new("/usr/lib/two words.so"));
        assert!(matches!(all.at(0x7f00_0000_3fff), Mapped::File(_)));
        assert!(matches!(all.at(0x5555_0000_0000), Mapped::File(_)));
        assert!(all.has(Path::new("/usr/bin/java")) && !all.has(Path::new("/tmp/gone.so")));
    }

    #[test]
    fn code_of_no_file_is_memory() {
        let all = MappedFiles::parse(MAPS);
        for address in [0x7f00_0000_4000, 0x7f00_0000_5fff, 0x7f00_0000_6000] {
            assert_eq!(all.at(address), Mapped::Memory, "{address:x}");
        }
    }

    #[test]
    fn what_is_no_code_is_nothing() {
        let all = MappedFiles::parse(MAPS);
        for address in [0, 0x7f00_0000_1000, 0x7f00_0000_7000, u64::MAX] {
            assert_eq!(all.at(address), Mapped::Nothing, "{address:x}");
        }
    }

    #[test]
    fn this_test_is_code_of_a_file() {
        let here = what_is_no_code_is_nothing as *const () as u64;
        let all = MappedFiles::read();
        let Mapped::File(place) = all.at(here) else {
            panic!("{all:?}");
        };
        assert_eq!(&**place.file, std::env::current_exe().unwrap());
    }
}
