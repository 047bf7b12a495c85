//! The time, and the memory of this host and of the C library.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01 UTC.
pub fn unix_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(0)
}

/// Seconds by which local time was ahead of UTC at a moment, negative west of Greenwich
/// (`localtime_r`, which uses `TZ` or `/etc/localtime`); 0 if the C library cannot convert the
/// moment.
///
/// Any thread, but never in a forked child: the C library holds a lock meanwhile, and may read a
/// file.
pub fn utc_offset_seconds(unix_seconds: u64) -> i32 {
    let Ok(seconds) = i64::try_from(unix_seconds) else {
        return 0;
    };
    // SAFETY: a struct of numbers and a pointer that may be null; zeros are valid.
    let mut date: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers outlive the call, which keeps neither.
    if unsafe { libc::localtime_r(&seconds, &mut date) }.is_null() {
        return 0;
    }
    i32::try_from(date.tm_gmtoff).unwrap_or(0)
}

/// The size of a page of memory.
pub fn page_bytes() -> u64 {
    // SAFETY: a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}

/// Makes the C library return freed memory to the kernel, if it can (glibc's `malloc_trim`). Any
/// thread. Takes 0.2 s for 2 GB. Threads that allocate from the same arena wait meanwhile; mostly
/// there are none, because few threads share an arena.
pub fn trim_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it touches only free memory.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// `TZ` is read once per process, so a test with its own zone needs its own process.
    const ZONE_TEST: &str = "os::host::tests::local_time_is_ahead_by_the_zone_of_the_environment";

    #[test]
    fn local_time_is_ahead_by_the_zone_of_the_environment() {
        if let Ok(expected) = std::env::var("EXPECTED_OFFSETS") {
            let january_and_july = [1_705_276_800, 1_721_001_600].map(utc_offset_seconds);
            assert_eq!(format!("{january_and_july:?}"), expected);
            assert_eq!(utc_offset_seconds(u64::MAX), 0);
            return;
        }
        // POSIX adds the number after a zone's name to local time to get UTC. These zones need no
        // file.
        for (zone, expected) in [
            ("UTC0", "[0, 0]"),
            ("XYZ-5:30", "[19800, 19800]"),
            ("XYZ3", "[-10800, -10800]"),
            ("XYZ-1XYS,M3.5.0,M10.5.0/3", "[3600, 7200]"),
        ] {
            let this = std::env::current_exe().unwrap();
            let told = Command::new(this)
                .args([ZONE_TEST, "--exact"])
                .env("TZ", zone)
                .env("EXPECTED_OFFSETS", expected)
                .output()
                .unwrap();
            let output = String::from_utf8_lossy(&told.stdout);
            assert!(told.status.success(), "{zone}: {output}");
            assert!(output.contains("1 passed"), "{zone}: {output}");
        }
    }
}
