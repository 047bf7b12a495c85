//! Names with a number: the free names beside one that is taken.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// `out.hprof` and 1 → `out.1.hprof`; a name without an extension gets the number at its end.
///
/// `.gz` counts as part of the extension before it, because tools expect `.hprof.gz`.
pub fn numbered(path: &Path, number: u64) -> PathBuf {
    let whole = path.file_name().unwrap_or_default();
    let stem = match path.extension() {
        Some(gz) if gz == "gz" => Path::new(path.file_stem().unwrap_or_default()).file_stem(),
        _ => path.file_stem(),
    };
    let stem = stem.unwrap_or_default();
    let ending = whole.as_bytes().get(stem.len()..).unwrap_or_default();
    let mut name = stem.to_os_string();
    name.push(format!(".{number}"));
    name.push(OsStr::from_bytes(ending));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_before_the_ending() {
        for (name, expected) in [
            ("/d/out.hprof", "/d/out.7.hprof"),
            ("out.hprof.gz", "out.7.hprof.gz"),
            ("out.gz", "out.7.gz"),
            ("out", "out.7"),
            ("/d/a.b.txt", "/d/a.b.7.txt"),
            ("/d.x/out", "/d.x/out.7"),
            ("/d/.hidden", "/d/.hidden.7"),
        ] {
            assert_eq!(numbered(Path::new(name), 7), Path::new(expected));
        }
    }
}
