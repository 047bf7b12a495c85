//! Names native code: finds the function and the library for an address of this process.
//!
//! [`NativeSymbols`] finds the file whose code is at an address; [`LibrarySymbols`] the function in
//! that file, and [`function_name()`] its name. Libraries are foreign files: none is trusted, and
//! the memory that their symbols take has a limit. Not for a signal handler, because it reads
//! files.
#![forbid(unsafe_code)]

mod function_name;
mod library_symbols;
mod mapped_files;

pub use function_name::function_name;
pub use library_symbols::LibrarySymbols;
use mapped_files::{Mapped, MappedFiles};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most memory for the symbols of all libraries, in bytes. Those of a JVM take about five million.
const MOST_BYTES: u64 = 64 << 20;
/// Most addresses whose functions are cached.
const MOST_KNOWN: usize = 1 << 14;
/// Mappings are read again after this time, because a library may have been unloaded and replaced;
/// or sooner, for an address where nothing was mapped.
const CURRENT: Duration = Duration::from_secs(5);
const CURRENT_WITHOUT: Duration = Duration::from_millis(100);

/// A function of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeFunction {
    /// The library's file, without its folder.
    pub library: String,
    /// Its name in the source; one word.
    pub name: String,
}

/// The native code of this process that was looked up so far.
#[derive(Debug, Default)]
pub struct NativeSymbols {
    files: MappedFiles,
    read_at: Option<Instant>,
    /// `None` if the file has no symbols, or too many.
    libraries: HashMap<Arc<Path>, Option<LibrarySymbols>>,
    bytes: u64,
    known: HashMap<u64, Option<Arc<NativeFunction>>>,
}

impl NativeSymbols {
    /// The function at this address; `None` if it is not native code (a JVM's code cache, for
    /// example), or if it has no name.
    pub fn function_at(&mut self, address: u64) -> Option<Arc<NativeFunction>> {
        self.function_at_time(address, Instant::now())
    }

    fn function_at_time(&mut self, address: u64, now: Instant) -> Option<Arc<NativeFunction>> {
        let age = self.read_at.map(|at| now.saturating_duration_since(at));
        if age.is_none_or(|age| age >= CURRENT) {
            self.read_files(now);
        }
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let is_old = age.is_some_and(|age| age >= CURRENT_WITHOUT);
        if is_old && self.files.at(address) == Mapped::Nothing {
            self.read_files(now);
        }
        let function = match self.files.at(address) {
            Mapped::File(place) => {
                let (file, offset) = (Arc::clone(place.file), place.offset);
                self.function_in(file, offset).map(Arc::new)
            }
            Mapped::Memory => None,
            // The next reading may show it.
            Mapped::Nothing => return None,
        };
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(address, function.clone());
        function
    }

    fn read_files(&mut self, now: Instant) {
        self.files = MappedFiles::read();
        self.read_at = Some(now);
        self.known.clear();
        // Another file may take the name of a deleted one.
        let files = &self.files;
        self.libraries.retain(|file, _| files.has(file));
        let kept = self.libraries.values().flatten();
        self.bytes = kept.map(LibrarySymbols::bytes).sum();
    }

    fn function_in(&mut self, file: Arc<Path>, offset: u64) -> Option<NativeFunction> {
        let symbols = self.libraries.entry(Arc::clone(&file)).or_insert_with(|| {
            let read = LibrarySymbols::read(&file, MOST_BYTES.saturating_sub(self.bytes));
            self.bytes += read.as_ref().map_or(0, LibrarySymbols::bytes);
            read
        });
        let symbol = symbols.as_ref()?.function_at(offset)?;
        Some(NativeFunction {
            library: file.file_name()?.to_string_lossy().into_owned(),
            name: function_name(symbol),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_with_its_library() {
        let mut symbols = NativeSymbols::default();
        let address = libc::getpid as *const () as u64;
        let found = symbols.function_at(address).unwrap();
        assert_eq!(found.name, "getpid");
        assert!(found.library.starts_with("libc."), "{}", found.library);
        assert!(Arc::ptr_eq(&found, &symbols.function_at(address).unwrap()));
    }

    #[test]
    fn memory_that_is_no_code_has_no_function() {
        let mut symbols = NativeSymbols::default();
        let data = Box::new(0u64);
        assert_eq!(symbols.function_at(&raw const *data as u64), None);
        assert_eq!(symbols.function_at(0), None);
    }

    #[test]
    fn the_system_is_not_asked_for_each_unknown_address() {
        let mut symbols = NativeSymbols::default();
        let start = Instant::now();
        assert_eq!(symbols.function_at_time(0, start), None);
        assert_eq!(symbols.read_at, Some(start));
        let soon = start + CURRENT_WITHOUT / 2;
        assert_eq!(symbols.function_at_time(0, soon), None);
        assert_eq!(symbols.read_at, Some(start));
        let later = start + CURRENT_WITHOUT;
        assert_eq!(symbols.function_at_time(0, later), None);
        assert_eq!(symbols.read_at, Some(later));
        // Cached addresses are looked up again, too, but later.
        let address = libc::getpid as *const () as u64;
        for (after, read_at) in [(CURRENT / 2, later), (CURRENT, later + CURRENT)] {
            assert!(symbols.function_at_time(address, later + after).is_some());
            assert_eq!(symbols.read_at, Some(read_at));
        }
    }

    #[test]
    fn libraries_without_room_have_no_names() {
        let mut symbols = NativeSymbols {
            files: MappedFiles::read(),
            read_at: Some(Instant::now()),
            bytes: MOST_BYTES,
            ..NativeSymbols::default()
        };
        assert_eq!(symbols.function_at(libc::getpid as *const () as u64), None);
    }

    #[test]
    fn libraries_that_are_gone_are_forgotten() {
        let mut symbols = NativeSymbols::default();
        let gone = Arc::from(Path::new("/nowhere/libgone.so"));
        symbols.libraries.insert(gone, None);
        assert!(symbols
            .function_at(libc::getpid as *const () as u64)
            .is_some());
        assert_eq!(symbols.libraries.len(), 1);
        let bytes = symbols.bytes;
        assert!(bytes > 1000);
        symbols.read_files(Instant::now());
        assert_eq!((symbols.libraries.len(), symbols.bytes), (1, bytes));
    }
}
