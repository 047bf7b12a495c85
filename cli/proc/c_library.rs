//! The two C libraries of Linux: a process that runs on one cannot load a library that is built for
//! the other.

use std::fmt;

/// A C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CLibrary {
    Glibc,
    Musl,
}

impl CLibrary {
    /// The one that a process runs on, by its map (`/proc/PID/maps`); `None` if that names neither.
    pub(crate) fn of_process(maps: &[u8]) -> Option<Self> {
        let has = |name: &[u8]| contains(maps, name);
        if has(b"/libc.so.6") || has(b"/libc-2.") {
            Some(Self::Glibc)
        } else if has(b"/ld-musl-") || has(b"/libc.musl-") || has(b"-linux-musl/libc.so") {
            Some(Self::Musl)
        } else {
            None
        }
    }

    /// The one that a library is built for, by the names of the libraries that it needs; `None` if
    /// it names neither.
    pub(crate) fn of_library(file: &[u8]) -> Option<Self> {
        let needs = |name: &[u8]| contains(file, name);
        if needs(b"\0libc.so.6\0") {
            Some(Self::Glibc)
        } else if needs(b"\0libc.so\0") || needs(b"\0libc.musl-") {
            Some(Self::Musl)
        } else {
            None
        }
    }

    /// The target that is built for it on this processor, as an archive's name has it.
    pub(crate) fn target(self) -> String {
        let end = match self {
            Self::Glibc => "gnu",
            Self::Musl => "musl",
        };
        format!("{}-unknown-linux-{end}", std::env::consts::ARCH)
    }
}

impl fmt::Display for CLibrary {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Glibc => "glibc",
            Self::Musl => "musl",
        })
    }
}

/// Whether the bytes have these bytes in them.
pub(crate) fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_map() {
        for (path, is) in [
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", Some(CLibrary::Glibc)),
            ("/lib64/libc-2.17.so", Some(CLibrary::Glibc)),
            ("/lib/ld-musl-aarch64.so.1", Some(CLibrary::Musl)),
            ("/usr/lib/x86_64-linux-musl/libc.so", Some(CLibrary::Musl)),
            ("/usr/lib/jvm/lib/server/libjvm.so", None),
        ] {
            let line = format!("7f00-7f01 r-xp 00000000 08:01 42 {path}\n");
            assert_eq!(CLibrary::of_process(line.as_bytes()), is, "{path}");
        }
    }

    #[test]
    fn a_library_is_known_by_what_it_needs() {
        let of = |names: &str| CLibrary::of_library(names.as_bytes());
        assert_eq!(of("\0libm.so.6\0libc.so.6\0"), Some(CLibrary::Glibc));
        assert_eq!(of("\0libc.so\0"), Some(CLibrary::Musl));
        assert_eq!(of("\0libc.musl-x86_64.so.1\0"), Some(CLibrary::Musl));
        assert_eq!(of("libc.so of any kind"), None);
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let built_for = if cfg!(target_env = "musl") {
            CLibrary::Musl
        } else {
            CLibrary::Glibc
        };
        assert_eq!(CLibrary::of_library(&own), Some(built_for));
        assert_eq!(
            CLibrary::of_process(&std::fs::read("/proc/self/maps").unwrap()),
            Some(built_for)
        );
    }
}
