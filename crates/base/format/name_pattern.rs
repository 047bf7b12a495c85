//! Patterns of names in which a star stands for any letters.

/// Whether the name, as in class files, fits the pattern. Dots in the pattern stand for slashes in
/// the name.
pub fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', [])) => true,
        Some((b'*', rest)) => {
            let mut ends = (0..=name.len()).filter_map(|at| name.get(at..));
            ends.any(|end| fits(rest, end))
        }
        Some((&letter, rest)) => {
            let wanted = if letter == b'.' { b'/' } else { letter };
            let next = name.split_first();
            next.is_some_and(|(&letter, others)| letter == wanted && fits(rest, others))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters() {
        assert!(fits(b"com.acme.*", b"com/acme/gen/Parser"));
        assert!(fits(b"*.Order", b"com/acme/Order") && fits(b"a*c", b"ac"));
        assert!(!fits(b"com.acme.*", b"com/acmeOrder") && !fits(b"a*c", b"acd"));
        assert!(fits(b"", b"") && !fits(b"", b"a"));
    }
}
