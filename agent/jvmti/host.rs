//! What the agent asks of the operating system and `std` does not tell.

/// The name of this host, or "localhost" if the system does not say (`gethostname`).
pub(crate) fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer has `name.len()` bytes; the last is kept as a terminating NUL.
    let answer = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let text: Vec<u8> = name.iter().copied().take_while(|&byte| byte != 0).collect();
    if answer != 0 || text.is_empty() {
        return "localhost".to_owned();
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Seconds since 1970 as `20261121T091500Z`, which sorts as text and holds no colon (`gmtime_r`).
///
/// A time beyond what the system's calendar knows is the bare number.
pub(crate) fn utc(unix_seconds: u64) -> String {
    let Ok(seconds) = libc::time_t::try_from(unix_seconds) else {
        return unix_seconds.to_string();
    };
    // SAFETY: a struct of numbers and a pointer that may be null; zeros are valid.
    let mut date: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers outlive the call, which keeps neither.
    if unsafe { libc::gmtime_r(&seconds, &mut date) }.is_null() {
        return unix_seconds.to_string();
    }
    format!(
        "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
        i64::from(date.tm_year) + 1900,
        date.tm_mon + 1,
        date.tm_mday,
        date.tm_hour,
        date.tm_min,
        date.tm_sec
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_a_civil_date() {
        assert_eq!(utc(0), "19700101T000000Z");
        assert_eq!(utc(4_102_444_799), "20991231T235959Z");
        assert_eq!(utc(1_709_164_800), "20240229T000000Z");
        assert_eq!(utc(u64::MAX), u64::MAX.to_string());
    }

    #[test]
    fn the_host_has_a_name() {
        assert!(!host_name().is_empty());
    }
}
