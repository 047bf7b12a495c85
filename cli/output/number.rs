//! Numbers in human-readable form.

use indicatif::HumanCount;

/// The limit that a user sets by this number: 0 stands for none.
pub(crate) fn limit(number: usize) -> usize {
    match number {
        0 => usize::MAX,
        number => number,
    }
}

/// What a user writes for a number of bytes: `1000000`, `10MB`, or `512k` of 1,024 bytes each.
pub(crate) fn bytes(text: &str) -> Result<u64, &'static str> {
    let wrong = "it takes a number of bytes, such as 1000000 or 10MB";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    let unit: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return Err(wrong),
    };
    let number: Option<u64> = digits.parse().ok();
    number.and_then(|it| it.checked_mul(unit)).ok_or(wrong)
}

/// Digits in groups of three: `1234567` becomes `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// `+1,234`, `-5` or `0`.
pub(crate) fn signed(change: i128) -> String {
    let size = grouped(u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX));
    match change {
        0 => size,
        1.. => format!("+{size}"),
        _ => format!("-{size}"),
    }
}

/// A number with its noun, which gets an `s` unless the number is 1: `2 faults`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// Bytes with a unit of thousands and three digits: `68.7 MB`.
pub(crate) fn in_units(bytes: u64) -> String {
    let mut unit = 1;
    for name in ["B", "kB", "MB", "GB", "TB"] {
        // Rounding must not produce four digits.
        let tenths = (u128::from(bytes) * 10 + unit / 2) / unit;
        if tenths < 10_000 || name == "TB" {
            return match tenths {
                _ if unit == 1 => format!("{bytes} B"),
                0..1000 => format!("{}.{} {name}", tenths / 10, tenths % 10),
                _ => format!("{} {name}", (u128::from(bytes) + unit / 2) / unit),
            };
        }
        unit *= 1000;
    }
    format!("{bytes} B")
}

/// A part of a whole in percent: `99.8 %`.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let whole = u128::from(whole);
    let tenths = (u128::from(part) * 1000 + whole / 2).checked_div(whole);
    let tenths = tenths.unwrap_or(0);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// A part of a whole from 0 to 1, with four digits.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    (part as f64 / whole.max(1) as f64 * 10_000.0).round() / 10_000.0
}

/// A sum of bytes or objects without its fraction; 0 for NaN.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(crate) fn whole(sum: f64) -> u64 {
    sum.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_their_sign() {
        assert_eq!([signed(0), signed(1234), signed(-5)], ["0", "+1,234", "-5"]);
    }

    #[test]
    fn units_keep_three_digits() {
        let cases = [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (68_749_000, "68.7 MB"),
            (999_949, "1000 kB"),
            (123_456_789, "123 MB"),
            (u64::MAX, "18446744 TB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(in_units(bytes), text);
        }
        assert_eq!(percent(998, 1000), "99.8 %");
        assert_eq!(percent(1, 0), "0.0 %");
    }

    #[test]
    fn groups_have_three_digits() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(counted(1, "fault"), "1 fault");
        assert_eq!(counted(0, "fault"), "0 faults");
    }
}
