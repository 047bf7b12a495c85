//! Values of options: numbers with units, yes and no.

/// A number of bytes, optionally followed by `k` or `m`.
pub(super) fn bytes(value: &str) -> Option<u32> {
    let (digits, unit) = match value.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => match value.strip_suffix(['m', 'M']) {
            Some(digits) => (digits, 1 << 20),
            None => (value, 1),
        },
    };
    let bytes = digits.parse::<u32>().ok()?.checked_mul(unit)?;
    i32::try_from(bytes).is_ok().then_some(bytes)
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

/// `y` or `n`; an empty reason for anything else.
pub(super) fn yes_no(value: &str) -> Result<bool, &'static str> {
    match value {
        "y" => Ok(true),
        "n" => Ok(false),
        _ => Err(""),
    }
}
