//! Values of options: numbers with units, yes and no.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// A number of bytes, optionally followed by `k` or `m`.
pub(super) fn bytes(value: &str) -> Option<u32> {
    let bytes = i32::try_from(crate::condition::bytes(value)?).ok()?;
    u32::try_from(bytes).ok()
}

/// A percentage up to 100, with at most two decimals, in hundredths of a percent.
pub(super) fn basis_points(value: &str) -> Option<u16> {
    const ALL: u16 = 10_000;
    let (whole, decimals) = value.split_once('.').unwrap_or((value, "0"));
    if value.contains(['+', '-']) {
        return None;
    }
    let hundredths: u16 = match decimals.len() {
        1 => decimals.parse::<u16>().ok()?.checked_mul(10)?,
        2 => decimals.parse().ok()?,
        _ => return None,
    };
    let points = whole.parse::<u16>().ok()?.checked_mul(100)?;
    let points = points.checked_add(hundredths)?;
    (points <= ALL).then_some(points)
}

/// Microseconds, from a number of milliseconds or a number of microseconds followed by `us`.
pub(super) fn micros(value: &str) -> Option<u32> {
    match value.strip_suffix("us") {
        Some(micros) => micros.parse().ok(),
        None => Some(value.parse::<u32>().ok()?.saturating_mul(1000)),
    }
}

/// A number in a range; otherwise `why`.
pub(super) fn within<N: FromStr + PartialOrd>(
    value: &str,
    range: RangeInclusive<N>,
    why: &'static str,
) -> Result<N, &'static str> {
    let number = value.parse().ok();
    number.filter(|number| range.contains(number)).ok_or(why)
}

/// `y` or `n`; an empty reason for anything else.
pub(super) fn yes_no(value: &str) -> Result<bool, &'static str> {
    match value {
        "y" => Ok(true),
        "n" => Ok(false),
        _ => Err(""),
    }
}
