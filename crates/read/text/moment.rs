//! A moment: the date and time in the headings of text reports.

use std::fmt::{self, Formatter};

const SECONDS_A_DAY: i64 = 86_400;
/// From Thursday, the first day of the epoch.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// A second, and the offset of local time from UTC.
///
/// Displayed like C's `ctime`, without its line feed: `Tue Jul  4 17:50:46 2018`. Parsers expect
/// exactly that, so neither zone nor fraction is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1 January 1970, UTC.
    pub seconds_since_epoch: i64,
    /// Seconds that local time is ahead of UTC, negative west of Greenwich; 0 shows UTC.
    pub utc_offset_seconds: i32,
}

impl Moment {
    /// The moment in UTC as `20261121T091500Z`, which sorts as text and contains no colon: for file
    /// names.
    pub fn file_stamp(&self) -> String {
        let second = self.seconds_since_epoch.rem_euclid(SECONDS_A_DAY);
        let date = Date::of(self.seconds_since_epoch.div_euclid(SECONDS_A_DAY));
        format!(
            "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
            date.year,
            date.month,
            date.day,
            second / 3600,
            second / 60 % 60,
            second % 60
        )
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let local = self
            .seconds_since_epoch
            .saturating_add(i64::from(self.utc_offset_seconds));
        let days = local.div_euclid(SECONDS_A_DAY);
        let second = local.rem_euclid(SECONDS_A_DAY);
        let Date { year, month, day } = Date::of(days);
        let month = named(&MONTHS, month - 1);
        write!(
            out,
            "{} {month} {day:>2} {:02}:{:02}:{:02} {year}",
            named(&WEEKDAYS, days.rem_euclid(7)),
            second / 3600,
            second / 60 % 60,
            second % 60,
        )
    }
}

struct Date {
    year: i64,
    /// From 1.
    month: i64,
    day: i64,
}

impl Date {
    /// The day this many days after 1 January 1970, in the Gregorian calendar.
    ///
    /// Years are counted from 1 March, so that a leap day is the last day of a year; 400 years have
    /// 146,097 days.
    fn of(days_since_epoch: i64) -> Self {
        let days = days_since_epoch + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let leaps = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
        let year_of_era = (day_of_era - leaps) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Months from March have 31, 30, 31, 30, 31 days and again: 153 in five.
        let month = (5 * day_of_year + 2) / 153;
        Self {
            year: 400 * era + year_of_era + i64::from(month >= 10),
            month: (month + 2) % 12 + 1,
            day: day_of_year - (153 * month + 2) / 5 + 1,
        }
    }
}

fn named(names: &[&'static str], index: i64) -> &'static str {
    usize::try_from(index)
        .ok()
        .and_then(|index| names.get(index).copied())
        .unwrap_or("???")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stamps_of_files_sort_as_text() {
        let stamp = |seconds_since_epoch| {
            let utc_offset_seconds = 3600;
            let moment = Moment {
                seconds_since_epoch,
                utc_offset_seconds,
            };
            moment.file_stamp()
        };
        assert_eq!(stamp(0), "19700101T000000Z");
        assert_eq!(stamp(4_102_444_799), "20991231T235959Z");
        assert_eq!(stamp(1_709_164_800), "20240229T000000Z");
    }

    fn utc(seconds_since_epoch: i64) -> String {
        let utc_offset_seconds = 0;
        Moment {
            seconds_since_epoch,
            utc_offset_seconds,
        }
        .to_string()
    }

    #[test]
    fn moments_are_those_of_date() {
        // Each as printed by `TZ=UTC date -d @SECONDS '+%a %b %e %T %Y'`.
        for (seconds, text) in [
            (0, "Thu Jan  1 00:00:00 1970"),
            (-1, "Wed Dec 31 23:59:59 1969"),
            (951_782_400, "Tue Feb 29 00:00:00 2000"),
            (1_532_454_646, "Tue Jul 24 17:50:46 2018"),
            (1_709_251_199, "Thu Feb 29 23:59:59 2024"),
            (4_107_542_400, "Mon Mar  1 00:00:00 2100"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }

    #[test]
    fn local_time_is_shown() {
        let moment = Moment {
            seconds_since_epoch: 0,
            utc_offset_seconds: -3600,
        };
        assert_eq!(moment.to_string(), "Wed Dec 31 23:00:00 1969");
    }

    proptest! {
        /// A thousand years, day by day: the calendar is counted, not computed.
        #[test]
        fn a_day_is_followed_by_the_next(day in 0i64..365_000) {
            let (today, tomorrow) = (Date::of(day), Date::of(day + 1));
            if tomorrow.day == 1 {
                let year = today.year;
                let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                let last = match today.month {
                    4 | 6 | 9 | 11 => 30,
                    2 if leap => 29,
                    2 => 28,
                    _ => 31,
                };
                prop_assert_eq!(today.day, last);
                prop_assert_eq!(tomorrow.month, today.month % 12 + 1);
            } else {
                prop_assert_eq!(tomorrow.day, today.day + 1);
                prop_assert_eq!((tomorrow.month, tomorrow.year), (today.month, today.year));
            }
        }
    }
}
