//! The name that somebody meant who mistyped it.

/// Of these names the one most like `said`: it begins as that does, or few letters differ. `None`
/// if none is like it.
pub(crate) fn nearest<'n>(said: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let said = said.to_lowercase();
    let most = (said.len() / 3).max(1);
    let like = names.filter_map(|name| {
        let begins = name.starts_with(&said) || said.starts_with(name);
        let apart = if begins && !said.is_empty() {
            0
        } else {
            distance(&said, name)
        };
        (apart <= most).then_some((apart, name))
    });
    like.min_by_key(|(apart, _)| *apart).map(|(_, name)| name)
}

/// How many letters must be put in, left out or changed to make one text of the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (1..=other.len()).collect();
    for (place, letter) in one.bytes().enumerate() {
        let (mut before, mut left) = (place, place + 1);
        for (cell, its) in row.iter_mut().zip(other.bytes()) {
            let changed = before + usize::from(letter != its);
            before = *cell;
            left = changed.min(before + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(one.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_few_letters_away() {
        let names = ["heap", "cpu", "file", "gz", "sampling", "timeout"];
        for (said, meant) in [
            ("heep", Some("heap")),
            ("Heap", Some("heap")),
            ("fil", Some("file")),
            ("gzip", Some("gz")),
            ("samplng", Some("sampling")),
            ("time", Some("timeout")),
            ("foo", None),
            ("", None),
        ] {
            assert_eq!(nearest(said, names.into_iter()), meant, "{said}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
