//! Milliseconds since 1970 as a date.

const MILLIS_PER_DAY: u64 = 86_400_000;

/// Last day that is shown as a date: 9999-12-31. A header may hold any number.
const LAST_DAY: u64 = 2_932_896;

/// `2026-01-31 23:59:59 UTC`, or the bare number if it is beyond the year 9999.
pub(crate) fn date(millis: u64) -> String {
    let days = millis / MILLIS_PER_DAY;
    if days > LAST_DAY {
        return format!("{millis} ms since 1970");
    }
    let (year, month, day) = civil(days);
    let seconds = millis % MILLIS_PER_DAY / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Year, month and day of a day since 1970-01-01: Howard Hinnant's `civil_from_days`, whose years begin in March
/// so that the leap day is the last.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
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
