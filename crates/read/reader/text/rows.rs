//! Single lines of a text profile: frames, and the rows of its tables.

use crate::cpu_table::{CpuKind, CpuRow};
use crate::sites::{Amount, Site};
use crate::stacks::StackFrame;

/// A frame as TRACE prints it: `demo.Main.main(Main.java:79)`, with `Unknown line`, `Native method`
/// or `Compiled method` for the number.
pub(super) fn frame(line: &str) -> StackFrame {
    let (name, place) = match line.rfind('(') {
        Some(open) => line.split_at(open),
        None => (line, ""),
    };
    let place = place.trim_start_matches('(').trim_end_matches(')');
    let (source, number) = place.rsplit_once(':').unwrap_or((place, ""));
    let (class, method) = name.rsplit_once('.').unwrap_or(("", name));
    let known = |word: &&str| !word.is_empty() && *word != "<Unknown Source>";
    StackFrame {
        class: class.into(),
        method: method.into(),
        source: Some(source).filter(known).map(Into::into),
        line: match number {
            "Native method" => -3,
            "Compiled method" => -2,
            number => number.parse().ok().filter(|line| *line > 0).unwrap_or(-1),
        },
    }
}

/// A row of SITES: rank, two percentages, live bytes and objects, allocated bytes and objects,
/// trace, class.
pub(super) fn site(line: &str) -> Option<Site> {
    let mut words = words_behind_shares(line)?;
    let mut amount = || {
        Some(Amount {
            bytes: unsigned(words.next()?)?,
            objects: unsigned(words.next()?)?,
        })
    };
    let (live, allocated) = (amount()?, amount()?);
    Some(Site {
        trace: words.next()?.parse().ok()?,
        class: words.next()?.into(),
        live,
        allocated: Some(allocated),
    })
}

/// A row of CPU SAMPLES or CPU TIME: rank, two percentages, count, trace, method.
pub(super) fn cpu(line: &str, kind: CpuKind, total: u64) -> Option<CpuRow> {
    let share = line.split_whitespace().nth(1)?;
    let mut words = words_behind_shares(line)?;
    let count = unsigned(words.next()?)?;
    let trace = words.next()?.parse().ok()?;
    let cost = match kind {
        CpuKind::Samples => count,
        // The count is the number of calls; only the percentage contains the time.
        CpuKind::Times => part(total, share),
    };
    Some(CpuRow { trace, cost })
}

/// Whether a line that is not a row is one of the table's titles.
pub(super) fn is_title(line: &str) -> bool {
    matches!(
        line.split_whitespace().next(),
        None | Some("percent" | "rank")
    )
}

/// A number that the JDK's agent may have printed as a signed 32-bit number.
pub(super) fn unsigned(word: &str) -> Option<u64> {
    let number: i64 = word.parse().ok()?;
    if let Ok(small) = i32::try_from(number) {
        return Some(u64::from(u32::from_ne_bytes(small.to_ne_bytes())));
    }
    u64::try_from(number).ok()
}

/// The words of a row that follow its rank and its two percentages.
fn words_behind_shares(line: &str) -> Option<std::str::SplitWhitespace<'_>> {
    let mut words = line.split_whitespace();
    words.next()?.parse::<u64>().ok()?;
    words.next()?.strip_suffix('%')?;
    words.next()?.strip_suffix('%')?;
    Some(words)
}

/// This percentage (two decimals, `57.82%`) of a whole, rounded; 0 if it is not a number.
fn part(total: u64, share: &str) -> u64 {
    let digits: String = share.chars().filter(char::is_ascii_digit).collect();
    let hundredths: u128 = digits.parse().unwrap_or(0).min(10_000);
    let part = (u128::from(total) * hundredths + 5_000) / 10_000;
    u64::try_from(part).unwrap_or(total)
}
