//! What is left of the process's limits, for whoever must not go on without knowing it.

use super::error::DumpError;
use headroom::MemoryLeft;
use jvm::os::descriptor::{in_reserve, read};
use std::io;

/// Mappings that a dump's threads and copies need at once.
pub(super) const MAPPINGS: usize = 150;

/// Opens what tells it.
pub(super) fn memory_left() -> Result<MemoryLeft, DumpError> {
    in_reserve(MemoryLeft::open)
        .map_err(|error| DumpError::NoCopy(format!("the memory left is not known: {error}")))
}

/// An error, as the end of a sentence, if a dump would leave no mapping for the application, which
/// ends a JVM.
pub(super) fn check_mappings(needed: usize) -> Result<(), String> {
    let limit = match read("/proc/sys/vm/max_map_count") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        limit => limit.map_err(|error| format!("{error}; the application ran on; try again"))?,
    };
    // A dump cannot do without them, and will tell.
    let mapped = read("/proc/self/maps").unwrap_or_default();
    let mapped = mapped.iter().filter(|&&byte| byte == b'\n').count();
    check(&limit, mapped, needed)
}

fn check(limit: &[u8], mapped: usize, needed: usize) -> Result<(), String> {
    let limit = std::str::from_utf8(limit)
        .ok()
        .and_then(|it| it.trim().parse().ok());
    match limit.filter(|&limit| mapped.saturating_add(needed) > limit) {
        Some(limit) => Err(format!(
            "this process has {mapped} mappings of the {limit} that the system allows, and a dump needs {needed} more; \
             raise vm.max_map_count"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_leaves_mappings_to_the_application() {
        assert_eq!(check(b"65530\n", 65_380, MAPPINGS), Ok(()));
        let few = check(b"65530\n", 65_381, MAPPINGS).unwrap_err();
        assert!(
            few.starts_with("this process has 65381 mappings of the 65530 "),
            "{few}"
        );
        assert_eq!(check(b"no number", usize::MAX, MAPPINGS), Ok(()));
        assert_eq!(check_mappings(MAPPINGS), Ok(()));
    }
}
