//! Converts milliseconds since 1970 to a date.

use jiff::Timestamp;

/// `2026-01-31 23:59:59 UTC`, or just the number if it is after the year 9999, because a header may
/// contain any number.
pub(crate) fn date(millis: u64) -> String {
    match i64::try_from(millis).map(Timestamp::from_millisecond) {
        Ok(Ok(timestamp)) => timestamp.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        _ => format!("{millis} ms since 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_right() {
        for (millis, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (1_767_225_599_000, "2025-12-31 23:59:59 UTC"),
            (u64::MAX, "18446744073709551615 ms since 1970"),
        ] {
            assert_eq!(date(millis), text);
        }
    }
}
