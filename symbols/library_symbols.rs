//! The functions of one file: their addresses and names, from its ELF symbols.

use object::elf::{FileHeader64, SHN_UNDEF, SHT_DYNSYM, SHT_SYMTAB, STT_FUNC};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use object::read::{ReadCache, ReadCacheOps, SectionIndex};
use object::Endianness;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// How many functions that start before an address to check, because functions may be nested.
const MOST_OUTER: usize = 8;

type Elf = FileHeader64<Endianness>;
type Symbol = <Elf as FileHeader>::Sym;

/// A part of a file that is mapped as a unit.
#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    bytes: u64,
    address: u64,
}

#[derive(Clone, Copy, Debug)]
struct Function {
    address: u64,
    bytes: u32,
    /// Offset of its name, which ends at a NUL.
    name: u32,
}

/// The functions of a file.
#[derive(Debug, Default)]
pub struct LibrarySymbols {
    segments: Vec<Segment>,
    /// In address order, one per address.
    functions: Vec<Function>,
    names: Vec<u8>,
}

impl LibrarySymbols {
    /// Reads the file's full symbol table, or the dynamic one if there is no other. Uses up to
    /// twice `most_bytes` of memory meanwhile.
    ///
    /// `None` if the file cannot be read, is not a 64-bit ELF file, or has symbols larger than
    /// `most_bytes`.
    pub fn read(path: &Path, most_bytes: u64) -> Option<Self> {
        // Opening a device may have side effects.
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        Self::parse(File::open(path).ok()?, most_bytes)
    }

    /// Like [`LibrarySymbols::read`], for a file that is open or in memory.
    pub fn parse(file: impl Read + Seek, most_bytes: u64) -> Option<Self> {
        let data = &ReadCache::new(file);
        let header = Elf::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let sections = header.sections(endian, data).ok()?;
        let of_type = |kind| sections.iter().find(|it| it.sh_type(endian) == kind);
        let symbols = of_type(SHT_SYMTAB).or_else(|| of_type(SHT_DYNSYM))?;
        let link = usize::try_from(symbols.sh_link(endian)).ok()?;
        let strings = sections.section(SectionIndex(link)).ok()?;
        let bytes = symbols.sh_size(endian).checked_add(strings.sh_size(endian));
        if bytes? > most_bytes {
            return None;
        }
        let rows: &[Symbol] = symbols.data_as_array(endian, data).ok()?;
        let mut read = Self {
            segments: segments(header, endian, data)?,
            ..Self::default()
        };
        read.keep(endian, rows, strings.data(endian, data).ok()?);
        Some(read)
    }

    /// Memory used, in bytes.
    pub fn bytes(&self) -> u64 {
        let functions = size_of::<Function>().saturating_mul(self.functions.len());
        u64::try_from(functions.saturating_add(self.names.len())).unwrap_or(u64::MAX)
    }

    /// The function with code at this file offset, under its linker name; `None` if no symbol
    /// covers it.
    pub fn function_at(&self, offset: u64) -> Option<&[u8]> {
        // A broken file may contain a segment of the largest possible size.
        let into = |it: &Segment| offset.checked_sub(it.offset);
        let holds = |it: &&Segment| into(it).is_some_and(|into| into < it.bytes);
        let segment = self.segments.iter().find(holds)?;
        let address = into(segment)?.checked_add(segment.address)?;
        let behind = self.functions.partition_point(|it| it.address <= address);
        let before = self.functions.get(..behind)?.iter().rev();
        let covers = |it: &&Function| address - it.address < u64::from(it.bytes);
        let function = before.take(MOST_OUTER).find(covers)?;
        name_at(&self.names, function.name)
    }

    /// Keeps the functions among these symbols that have a size and a name.
    fn keep(&mut self, endian: Endianness, symbols: &[Symbol], strings: &[u8]) {
        let function = |symbol: &Symbol| {
            let is_here = symbol.st_shndx(endian) != SHN_UNDEF;
            let is_code = symbol.st_type() == STT_FUNC;
            (is_here && is_code).then_some(Function {
                address: symbol.st_value(endian),
                bytes: u32::try_from(symbol.st_size(endian)).ok()?,
                name: symbol.st_name(endian),
            })
        };
        let mut found: Vec<Function> = symbols.iter().filter_map(function).collect();
        let rank = |it: &Function| rank(name_at(strings, it.name).unwrap_or_default());
        found.retain(|it| it.bytes > 0 && name_at(strings, it.name).is_some());
        found.sort_by(|a, b| {
            let by_address = a.address.cmp(&b.address);
            by_address.then_with(|| rank(a).cmp(&rank(b)))
        });
        found.dedup_by_key(|it| it.address);
        for function in &mut found {
            let name = name_at(strings, function.name).unwrap_or_default();
            function.name = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            self.names.extend_from_slice(name);
            self.names.push(0);
        }
        found.shrink_to_fit();
        self.names.shrink_to_fit();
        self.functions = found;
    }
}

/// Sort key for choosing among a function's names, the best first: `write`, not `__write`.
fn rank(name: &[u8]) -> (usize, usize, &[u8]) {
    let underscores = name.iter().take_while(|&&byte| byte == b'_').count();
    (underscores, name.len(), name)
}

/// The name at `start`; `None` if there is none, or an empty one.
fn name_at(names: &[u8], start: u32) -> Option<&[u8]> {
    let rest = names.get(usize::try_from(start).ok()?..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    rest.get(..end).filter(|name| !name.is_empty())
}

/// The parts of a file that a loader maps.
fn segments(
    header: &Elf,
    endian: Endianness,
    data: &ReadCache<impl ReadCacheOps>,
) -> Option<Vec<Segment>> {
    let headers = header.program_headers(endian, data).ok()?.iter();
    let loaded = headers.filter(|it| it.p_type(endian) == object::elf::PT_LOAD);
    let segment = |it: &<Elf as FileHeader>::ProgramHeader| Segment {
        offset: it.p_offset(endian),
        bytes: it.p_filesz(endian),
        address: it.p_vaddr(endian),
    };
    Some(loaded.map(segment).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapped_files::{Mapped, MappedFiles};
    use proptest::prelude::*;

    const AMPLE: u64 = 1 << 30;
    /// A small library that is on every system of this kind.
    const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

    /// The name of the function at an address of this process.
    fn name_of(address: u64) -> Option<String> {
        let all = MappedFiles::read();
        let Mapped::File(place) = all.at(address) else {
            return None;
        };
        let symbols = LibrarySymbols::read(place.file, AMPLE)?;
        let name = symbols.function_at(place.offset)?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    #[test]
    fn code_of_libc_has_its_names() {
        assert_eq!(name_of(libc::getpid as *const () as u64).unwrap(), "getpid");
        assert_eq!(
            name_of(libc::write as *const () as u64 + 1).unwrap(),
            "write"
        );
    }

    #[test]
    fn code_of_this_test_has_its_name() {
        let here = code_of_this_test_has_its_name as *const () as u64;
        let name = name_of(here).unwrap();
        assert!(name.contains("code_of_this_test_has_its_name"), "{name}");
    }

    /// Functions with address, size and name.
    fn symbols(rows: &[(u64, u32, &str)]) -> LibrarySymbols {
        let mut made = LibrarySymbols {
            segments: vec![Segment {
                offset: 0x100,
                bytes: 0x1000,
                address: 0x1100,
            }],
            ..LibrarySymbols::default()
        };
        for &(address, bytes, name) in rows {
            let start = u32::try_from(made.names.len()).unwrap();
            made.names.extend_from_slice(name.as_bytes());
            made.names.push(0);
            made.functions.push(Function {
                address,
                bytes,
                name: start,
            });
        }
        made
    }

    #[test]
    fn what_no_symbol_covers_has_no_name() {
        let made = symbols(&[(0x1110, 0x10, "first"), (0x1130, 0x10, "second")]);
        for offset in [0x0, 0xff, 0x10f, 0x120, 0x12f, 0x140, 0x1100, u64::MAX] {
            assert_eq!(made.function_at(offset), None, "{offset:x}");
        }
        assert_eq!(made.function_at(0x110), Some(&b"first"[..]));
        assert_eq!(made.function_at(0x13f), Some(&b"second"[..]));
    }

    #[test]
    fn a_segment_that_has_no_end_does_not_start_earlier() {
        let mut made = symbols(&[(0x1000, 0x200, "function")]);
        for segment in &mut made.segments {
            segment.bytes = u64::MAX;
        }
        assert_eq!(made.function_at(0xff), None);
        assert_eq!(made.function_at(0x100), Some(&b"function"[..]));
        assert_eq!(made.function_at(u64::MAX), None);
    }

    #[test]
    fn a_function_goes_on_behind_one_within_it() {
        let made = symbols(&[(0x1110, 0x100, "outer"), (0x1130, 0x10, "inner")]);
        assert_eq!(made.function_at(0x135), Some(&b"inner"[..]));
        assert_eq!(made.function_at(0x150), Some(&b"outer"[..]));
    }

    #[test]
    fn the_plainest_of_several_names_is_shown() {
        let mut names = [&b"__write"[..], b"write", b"__libc_write", b"wrote"];
        names.sort_by(|a, b| rank(a).cmp(&rank(b)));
        assert_eq!(names[0], b"write");
        assert_eq!(names[3], b"__libc_write");
    }

    #[test]
    fn what_is_no_library_has_no_symbols() {
        assert!(LibrarySymbols::read(Path::new("/proc/self/maps"), AMPLE).is_none());
        assert!(LibrarySymbols::read(Path::new("/dev/zero"), AMPLE).is_none());
        assert!(LibrarySymbols::read(Path::new("/nowhere"), AMPLE).is_none());
        let own = std::env::current_exe().unwrap();
        let read = LibrarySymbols::read(&own, AMPLE).unwrap();
        assert!(read.bytes() > 1000);
        assert!(LibrarySymbols::read(&own, 1000).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Libraries are foreign files. A corrupt one must not end the sampling.
        #[test]
        fn a_broken_file_is_read_or_refused(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..30),
            offsets in proptest::collection::vec(any::<u64>(), 8),
        ) {
            let mut bytes = std::fs::read(LOADER).unwrap();
            let headers = bytes.len().saturating_sub(4096);
            for (at, byte, at_the_end) in changes {
                // The tables' positions: the first page has the segments, the last one the
                // sections.
                let index = if at_the_end { headers + at.index(4096) } else { at.index(4096) };
                if let Some(place) = bytes.get_mut(index) {
                    *place = byte;
                }
            }
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &bytes).unwrap();
            if let Some(read) = LibrarySymbols::read(file.path(), AMPLE) {
                for offset in offsets.into_iter().chain(0..0x400).chain([0x1000, 0x2000]) {
                    prop_assert!(read.function_at(offset).is_none_or(|name| !name.is_empty()));
                }
            }
        }
    }
}
