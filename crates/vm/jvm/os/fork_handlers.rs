//! Detects libraries that run their own code in a fork (`pthread_atfork`), and forks without that
//! code.
//!
//! The C library calls such handlers on the thread that forks: here, the VM thread at a safepoint.
//! A handler that waits for a thread of its library then stops the JVM for good; OpenBLAS joins its
//! workers there. The child needs only the allocator's handlers, because it allocates. So if
//! another library may have registered handlers, we fork without running any. The price: a thread
//! that does not exist in the child may hold the allocator's lock. So the child has memory of
//! its own. The C library still allocates in one case, to start the first
//! thread. If that hangs, the child's watchdog ends it, and the dump forks again.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::io;
use std::mem::{transmute, zeroed};

/// Which fork function to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkBy {
    /// `fork`: runs all handlers. Only the C library and the allocator have any.
    Handlers,
    /// `_Fork`, or the bare system call: runs none.
    NoHandlers,
}

/// The findings in the list of loaded libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkHandlers {
    by: ForkBy,
    /// Number of libraries loaded until then, as counted by the dynamic linker.
    loaded: u64,
}

/// The functions that register handlers. Programs call the first; the C library links it
/// statically, and it calls the second.
const REGISTER: [&CStr; 2] = [c"pthread_atfork", c"__register_atfork"];
/// Parts of the C library that forward such calls.
const C_LIBRARY: [&[u8]; 3] = [b"libc.so", b"libpthread", b"ld-"];
/// More symbols than any library imports.
const MOST_SYMBOLS: u32 = 1 << 20;

/// Tags of the dynamic section (ELF specification, "Dynamic Section"; GNU hash sections).
const DT_NULL: i64 = 0;
const DT_HASH: i64 = 4;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_STRSZ: i64 = 10;
const DT_GNU_HASH: i64 = 0x6fff_fef5;

impl ForkHandlers {
    /// Inspects the loaded libraries. Call it before the pause: it takes the dynamic linker's lock
    /// for its list.
    pub fn look() -> Self {
        let mut seen = Seen {
            allocator: allocator_base(),
            registers: false,
            loaded: 0,
        };
        // SAFETY: `visit` gets this `Seen`, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::from_mut(&mut seen).cast()) };
        Self {
            by: if seen.registers {
                ForkBy::NoHandlers
            } else {
                ForkBy::Handlers
            },
            loaded: seen.loaded,
        }
    }

    /// The way to fork now. A library loaded since `look` may have registered handlers.
    pub fn fork_by(self) -> ForkBy {
        let mut loaded = 0_u64;
        // SAFETY: `count` gets this number, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(count), std::ptr::from_mut(&mut loaded).cast()) };
        if loaded == self.loaded {
            self.by
        } else {
            ForkBy::NoHandlers
        }
    }
}

impl ForkBy {
    /// Forks. Returns 0 in the child and the child's process id in the parent, like `fork(2)`.
    ///
    /// # Safety
    /// The limits of `fork` in a multi-threaded process apply: the child may do little. With
    /// [`ForkBy::NoHandlers`] the allocator's lock may be held for ever in the child.
    pub unsafe fn fork(self) -> io::Result<libc::pid_t> {
        // SAFETY: the caller's promise; the calls have no other preconditions.
        let answer = unsafe {
            match (self, async_signal_safe_fork()) {
                (Self::Handlers, _) => libc::fork(),
                (Self::NoHandlers, Some(fork)) => fork(),
                // Before glibc 2.34. In the child, glibc's cached id of this thread is stale, but
                // nothing there relies on it.
                (Self::NoHandlers, None) => {
                    let answer = libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0);
                    libc::pid_t::try_from(answer).unwrap_or(-1)
                }
            }
        };
        if answer < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(answer)
    }
}

/// `_Fork` (POSIX.1-2024, glibc 2.34): a fork that runs no handlers.
fn async_signal_safe_fork() -> Option<unsafe extern "C" fn() -> libc::pid_t> {
    // SAFETY: a C string; the answer is null or this function.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"_Fork".as_ptr());
        (!found.is_null())
            .then(|| transmute::<*mut c_void, unsafe extern "C" fn() -> libc::pid_t>(found))
    }
}

/// The input and the result of `visit`.
struct Seen {
    /// Base address of the library that provides `malloc`.
    allocator: u64,
    registers: bool,
    loaded: u64,
}

/// Base address of the library that provides `malloc`; 0 if unknown.
fn allocator_base() -> u64 {
    // SAFETY: zeros are a valid Dl_info; it outlives the calls.
    unsafe {
        let mut info: libc::Dl_info = zeroed();
        let malloc = libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr());
        if libc::dladdr(malloc, &mut info) == 0 {
            return 0;
        }
        info.dli_fbase as u64
    }
}

/// Notes whether a library imports a function that registers handlers.
unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _bytes: libc::size_t,
    seen: *mut c_void,
) -> c_int {
    // SAFETY: the dynamic linker's description of a library, and the `Seen` of `look`.
    let (info, seen) = unsafe { (&*info, &mut *seen.cast::<Seen>()) };
    seen.loaded = info.dlpi_adds;
    // SAFETY: null or the library's path.
    let path = unsafe { text(info.dlpi_name) };
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    if C_LIBRARY.iter().any(|part| name.starts_with(part)) {
        return 0;
    }
    // SAFETY: the library is loaded, and the dynamic linker's lock keeps it loaded.
    if let Some(library) = unsafe { Library::of(info) } {
        let is_allocator = seen.allocator != 0 && library.first_byte == seen.allocator;
        // SAFETY: the library is loaded, and the dynamic linker's lock keeps it loaded.
        seen.registers |= !is_allocator && unsafe { library.imports(&REGISTER) };
    }
    c_int::from(seen.registers)
}

/// The bytes of a C string; empty for null.
///
/// # Safety
/// `start` is null or a C string that outlives the result.
unsafe fn text<'t>(start: *const c_char) -> &'t [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(start) }.to_bytes()
}

/// Takes the dynamic linker's count of loaded libraries from the first entry.
unsafe extern "C" fn count(
    info: *mut libc::dl_phdr_info,
    _bytes: libc::size_t,
    loaded: *mut c_void,
) -> c_int {
    // SAFETY: the dynamic linker's description of a library, and the number of `fork_by`.
    unsafe { *loaded.cast::<u64>() = (*info).dlpi_adds };
    1
}

/// The symbol table of a loaded library.
struct Library {
    /// Address of the file's first byte, as `dladdr` returns it.
    first_byte: u64,
    symbols: *const libc::Elf64_Sym,
    /// Number of symbols at the start of the table that include all imported ones.
    count: u32,
    names: *const u8,
    names_bytes: u64,
}

impl Library {
    /// `None` if the library imports nothing.
    ///
    /// # Safety
    /// The library is loaded.
    unsafe fn of(info: &libc::dl_phdr_info) -> Option<Self> {
        let headers = usize::from(info.dlpi_phnum);
        if info.dlpi_phdr.is_null() {
            return None;
        }
        // SAFETY: the library has this many headers.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, headers) };
        let first = headers
            .iter()
            .find(|header| header.p_type == libc::PT_LOAD)?;
        let dynamic = headers
            .iter()
            .find(|header| header.p_type == libc::PT_DYNAMIC)?;
        let address = |value: u64| {
            // The dynamic linker has turned most values into addresses, but on some processors not
            // all of them.
            if value < info.dlpi_addr {
                value.wrapping_add(info.dlpi_addr)
            } else {
                value
            }
        };
        let (mut symbols, mut names, mut names_bytes) = (0, 0, 0);
        let (mut hash, mut gnu_hash) = (0, 0);
        let mut entry = info.dlpi_addr.wrapping_add(dynamic.p_vaddr) as *const (i64, u64);
        loop {
            // SAFETY: the section ends with a DT_NULL entry.
            let (tag, value) = unsafe { entry.read() };
            match tag {
                DT_NULL => break,
                DT_SYMTAB => symbols = address(value),
                DT_STRTAB => names = address(value),
                DT_STRSZ => names_bytes = value,
                DT_HASH => hash = address(value),
                DT_GNU_HASH => gnu_hash = address(value),
                _ => {}
            }
            // SAFETY: not past the DT_NULL entry.
            entry = unsafe { entry.add(1) };
        }
        // SAFETY: both tables begin with four-byte numbers. The second word of DT_HASH is the
        // number of all symbols; that of DT_GNU_HASH is the number of symbols before the exported
        // ones.
        let count = unsafe {
            match (gnu_hash, hash) {
                (0, 0) => return None,
                (0, hash) => (hash as *const u32).add(1).read(),
                (gnu_hash, _) => (gnu_hash as *const u32).add(1).read(),
            }
        };
        if symbols == 0 || names == 0 || count > MOST_SYMBOLS {
            return None;
        }
        Some(Self {
            first_byte: info
                .dlpi_addr
                .wrapping_add(first.p_vaddr)
                .wrapping_sub(first.p_offset),
            symbols: symbols as *const libc::Elf64_Sym,
            count,
            names: names as *const u8,
            names_bytes,
        })
    }

    /// Whether the library imports one of these functions.
    ///
    /// # Safety
    /// The library is loaded.
    unsafe fn imports(&self, functions: &[&CStr]) -> bool {
        (1..self.count).any(|number| {
            // SAFETY: the table has this many symbols, and their names lie in the name table.
            unsafe {
                let symbol = self.symbols.add(number as usize).read();
                if symbol.st_shndx != 0 || u64::from(symbol.st_name) >= self.names_bytes {
                    return false;
                }
                let name = self.names.add(symbol.st_name as usize);
                let name = CStr::from_ptr(name.cast());
                functions.contains(&name)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Compiles a library and loads it permanently.
    fn load(directory: &std::path::Path, name: &str, source: &str) {
        let (code, library) = (directory.join("code.c"), directory.join(name));
        std::fs::write(&code, source).expect("source");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &code])
            .status();
        assert!(built.expect("a C compiler").success());
        let path = std::ffi::CString::new(library.to_str().expect("a path")).expect("a path");
        // SAFETY: loads a library that runs no code at load time.
        assert!(!unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) }.is_null());
    }

    #[test]
    fn a_library_that_registers_handlers_is_seen() {
        let directory = tempfile::tempdir().expect("a folder");
        let before = ForkHandlers::look();
        assert_eq!(before.by, ForkBy::Handlers, "nobody has registered any yet");
        assert_eq!(before.fork_by(), ForkBy::Handlers);
        load(
            directory.path(),
            "libwithhandlers.so",
            "#include <pthread.h>\nint with_handlers(void (*f)(void)) { return pthread_atfork(f, f, f); }",
        );
        // Loaded after `look`.
        assert_eq!(before.fork_by(), ForkBy::NoHandlers);
        assert_eq!(ForkHandlers::look().fork_by(), ForkBy::NoHandlers);
    }

    #[test]
    fn both_forks_fork() {
        for by in [ForkBy::Handlers, ForkBy::NoHandlers] {
            // SAFETY: the child only exits.
            let pid = unsafe { by.fork() }.expect("a fork");
            if pid == 0 {
                // SAFETY: ends this process at once.
                unsafe { libc::_exit(7) };
            }
            let mut status = 0;
            // SAFETY: waits for this child.
            assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
            assert_eq!(libc::WEXITSTATUS(status), 7);
        }
    }
}
