//! The conditions of dumps in the user's syntax: `oom+heap>90%x3+rss>85%+growth>20%/h+every=1h`.

use std::fmt;
use std::time::Duration;

/// The highest number of collections in a row.
const MOST_IN_A_ROW: u32 = 1000;
/// The longest time: a year.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// A condition for a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// At the first OutOfMemoryError.
    OutOfMemory,
    /// More than this part of the heap is in use after each of this many collections in a row.
    Heap {
        /// The part of the largest heap, in percent.
        percent: u32,
        /// Collections in a row.
        in_a_row: u32,
    },
    /// The process uses more than this part of its memory limit, in percent.
    Resident {
        /// The part in percent.
        percent: u32,
    },
    /// The use after collections grows by more than this within this time.
    Growth {
        /// The growth in percent.
        percent: u32,
        /// The time.
        per: Duration,
    },
    /// This time has passed, again and again.
    Every(Duration),
}

impl Condition {
    /// Whether both are of the same kind.
    fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }

    /// Parses one condition. The error describes the valid form.
    fn parse(text: &str) -> Result<Self, &'static str> {
        if text == "oom" {
            return Ok(Self::OutOfMemory);
        }
        let at = text.find(['>', '=']).unwrap_or(text.len());
        let (name, value) = text.split_at(at);
        let over = value.strip_prefix('>');
        match name {
            "heap" => over.and_then(heap).ok_or("write it as heap>90%x3, for three collections in a row"),
            "rss" => over
                .and_then(part)
                .map(|percent| Self::Resident { percent })
                .ok_or("write it as rss>85%"),
            "growth" => over.and_then(growth).ok_or("write it as growth>20%/h"),
            "every" => value
                .strip_prefix('=')
                .and_then(duration)
                .map(Self::Every)
                .ok_or("write it as every=1h, with s, m, h or d"),
            _ => Err("there is no such condition; there are oom, heap>90%x3, rss>85%, growth>20%/h and every=1h, joined by +"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OutOfMemory => out.write_str("oom"),
            Self::Heap { percent, in_a_row } => write!(out, "heap>{percent}%x{in_a_row}"),
            Self::Resident { percent } => write!(out, "rss>{percent}%"),
            Self::Growth { percent, per } => {
                let per = shown(per);
                write!(
                    out,
                    "growth>{percent}%/{}",
                    per.strip_prefix('1')
                        .filter(|unit| unit.len() == 1)
                        .unwrap_or(&per)
                )
            }
            Self::Every(time) => write!(out, "every={}", shown(time)),
        }
    }
}

/// Parses conditions joined by `+` or `;`, each kind once. The error names the wrong one, and
/// describes the valid form.
pub fn conditions(text: &str) -> Result<Vec<Condition>, String> {
    let mut found: Vec<Condition> = Vec::new();
    for word in text.split(['+', ';']) {
        let condition = Condition::parse(word).map_err(|why| format!("{word}: {why}"))?;
        if found.iter().any(|other| other.is_like(condition)) {
            return Err(format!("{word}: each condition may be there once"));
        }
        found.push(condition);
    }
    Ok(found)
}

/// A percentage from 1 to 100 and its sign.
fn part(text: &str) -> Option<u32> {
    let percent = number(text.strip_suffix('%')?)?;
    (1..=100).contains(&percent).then_some(percent)
}

/// `90%` or `90%x3`.
fn heap(text: &str) -> Option<Condition> {
    let (percent, times) = text.split_once('x').unwrap_or((text, "1"));
    let in_a_row = number(times).filter(|times| (1..=MOST_IN_A_ROW).contains(times))?;
    let percent = part(percent).filter(|&percent| percent < 100)?;
    Some(Condition::Heap { percent, in_a_row })
}

/// `20%/h` or `20%/30m`.
fn growth(text: &str) -> Option<Condition> {
    let (percent, time) = text.split_once("%/")?;
    let percent = number(percent).filter(|percent| (1..=10_000).contains(percent))?;
    let per = match time.len() {
        1 => duration(&format!("1{time}"))?,
        _ => duration(time)?,
    };
    Some(Condition::Growth { percent, per })
}

/// Parses decimal digits only.
fn number(text: &str) -> Option<u32> {
    text.bytes()
        .all(|digit| digit.is_ascii_digit())
        .then(|| text.parse().ok())?
}

/// A time of at least a second and at most a year: `90s`, `10m`, `1h`, `7d`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    let count = number(text.strip_suffix(unit)?)?;
    let time = Duration::from_secs(u64::from(count).checked_mul(seconds)?);
    (!time.is_zero() && time <= LONGEST).then_some(time)
}

/// A number of bytes: `500m`, `20g`, or without a unit.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.chars().last()?.to_ascii_lowercase() {
        'k' => (text.get(..text.len() - 1)?, 10),
        'm' => (text.get(..text.len() - 1)?, 20),
        'g' => (text.get(..text.len() - 1)?, 30),
        't' => (text.get(..text.len() - 1)?, 40),
        _ => (text, 0),
    };
    u64::from(number(digits)?).checked_mul(1 << shift)
}

/// A time in its largest whole unit.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(86_400, 'd'), (3600, 'h'), (60, 'm')];
    let fits = units
        .into_iter()
        .find(|&(unit, _)| seconds > 0 && seconds % unit == 0);
    let (unit, letter) = fits.unwrap_or((1, 's'));
    format!("{}{letter}", seconds / unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_is_told_again() {
        let text = "oom+heap>90%x3+rss>85%+growth>20%/h+every=90s";
        let found = conditions(text).unwrap();
        let told: Vec<String> = found.iter().map(Condition::to_string).collect();
        assert_eq!(told.join("+"), text);
        assert_eq!(conditions("heap>5%").unwrap()[0].to_string(), "heap>5%x1");
        assert_eq!(
            conditions("growth>5%/2d;oom").unwrap()[0].to_string(),
            "growth>5%/2d"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, start) in [
            ("", ": there is no such condition"),
            ("oom+", ": there is no such condition"),
            ("heep>90%", "heep>90%: there is no such condition"),
            ("oom+heap>90", "heap>90: write it as heap>90%x3"),
            ("heap>100%", "heap>100%: write it"),
            ("heap>0%", "heap>0%: write it"),
            ("heap=90%", "heap=90%: write it"),
            ("heap>90%x0", "heap>90%x0: write it"),
            ("rss>101%", "rss>101%: write it as rss>85%"),
            ("rss>+5%", "rss>: write it"),
            ("growth>20%", "growth>20%: write it as growth>20%/h"),
            ("growth>20%/w", "growth>20%/w: write it"),
            ("every>1h", "every>1h: write it as every=1h"),
            ("every=0s", "every=0s: write it"),
            (
                "every=1h+every=2h",
                "every=2h: each condition may be there once",
            ),
        ] {
            let error = conditions(text).unwrap_err();
            assert!(error.starts_with(start), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_have_units() {
        assert_eq!(bytes("20g"), Some(20 << 30));
        assert_eq!(bytes("7"), Some(7));
        for text in ["", "g", "-1k", "1.5g", "1kk", "é"] {
            assert_eq!(bytes(text), None, "{text}");
        }
        assert_eq!(duration("2m"), Some(Duration::from_secs(120)));
        for text in ["", "5", "m", "1é", "367d", "4294967295d"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "[a-z>=%x/+;0-9é]{0,24}") {
            if let Ok(found) = conditions(&text) {
                let told: Vec<String> = found.iter().map(Condition::to_string).collect();
                prop_assert_eq!(conditions(&told.join("+")).unwrap(), found);
            }
            let _ = (bytes(&text), duration(&text));
        }
    }
}
