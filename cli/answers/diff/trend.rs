//! Whether what is kept grows, by more than two heaps.

use std::collections::BTreeMap;

use serde_json::json;

use super::site_growth::signed_sum;
use super::Sums;
use crate::output::number::{signed, whole};
use crate::output::{grouped, Cell, Sections, Table};

/// What grows by less than this part is as large as before.
const LITTLE: f64 = 0.01;

/// One step with at least this part of the growth is all of it.
const NEARLY_ALL: f64 = 0.875;

/// A step with at least this part of the mean one is a step of steady growth.
const STEADY: f64 = 0.25;

/// How bytes changed from heap to heap.
#[derive(Debug)]
struct Trend {
    bytes: Vec<u64>,
    /// Bytes from one heap to the next, by least squares.
    slope: f64,
    /// The standard error of the slope.
    error: f64,
    word: &'static str,
}

/// A row for each class that grew from the first heap to the last, and the first line, about all
/// objects. The heaps are in the order of time, and more than two.
pub(crate) fn trends<'a>(heaps: &[&Sums], most: usize) -> Sections<'a> {
    let mut answer = Sections::default();
    let all = Trend::of(heaps.iter().map(|heap| heap.total_bytes).collect());
    let (slope, error) = (signed(signed_sum(all.slope)), grouped(whole(all.error)));
    let (count, word) = (heaps.len(), all.word);
    answer.line(format!(
        "all reachable objects of {count} dumps: {slope} bytes from one to the next, error {error}: {word}\n"
    ));
    answer.json("trend", all.in_json());
    let mut classes: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (at, heap) in heaps.iter().enumerate() {
        for (class, total) in &heap.classes {
            let bytes = classes.entry(class).or_insert_with(|| vec![0; heaps.len()]);
            if let Some(bytes) = bytes.get_mut(at) {
                *bytes = total.retained_bytes;
            }
        }
    }
    let trends = classes.into_iter();
    let mut rows: Vec<(String, Trend)> = trends
        .map(|(class, bytes)| (class.to_owned(), Trend::of(bytes)))
        .filter(|(_, trend)| trend.grown() > 0.0)
        .collect();
    rows.sort_by(|a, b| b.1.slope.total_cmp(&a.1.slope).then_with(|| a.0.cmp(&b.0)));
    let table = Table::of(rows, most)
        .right("a dump", "", |row| signed_sum(row.1.slope))
        .right("error", "", |row| whole(row.1.error))
        .right("retained", "", |row| row.1.bytes.last().copied())
        .left("over time", "", |row| row.1.word)
        .left("class", "class", |row| row.0.clone())
        .hidden("trend", |row| Cell::json(row.1.in_json()));
    answer.table("trends", "trends_left_out", table.noun("class"));
    answer.line("");
    answer
}

impl Trend {
    fn of(bytes: Vec<u64>) -> Self {
        let steps: Vec<f64> = bytes
            .windows(2)
            .map(|two| two.iter().rev().map(|it| *it as f64).reduce(|a, b| a - b))
            .map(Option::unwrap_or_default)
            .collect();
        let count = bytes.len() as f64;
        let middle = (count - 1.0) / 2.0;
        let mean = bytes.iter().map(|it| *it as f64).sum::<f64>() / count;
        let points = || {
            (0..)
                .zip(&bytes)
                .map(|(at, it)| (f64::from(at) - middle, *it as f64 - mean))
        };
        let spread: f64 = points().map(|(x, _)| x * x).sum();
        let slope = points().map(|(x, y)| x * y).sum::<f64>() / spread;
        let rest: f64 = points().map(|(x, y)| (y - slope * x).powi(2)).sum();
        let error = (rest / (count - 2.0) / spread).sqrt();
        let grown: f64 = steps.iter().sum();
        let first = bytes.first().map_or(0.0, |it| *it as f64);
        let word = if grown <= first * LITTLE {
            "no growth"
        } else if steps.iter().any(|it| *it >= grown * NEARLY_ALL) {
            "grew once"
        } else if steps
            .iter()
            .all(|it| *it >= grown / steps.len() as f64 * STEADY)
        {
            "grows steadily"
        } else {
            "grew unevenly"
        };
        Self {
            bytes,
            slope,
            error,
            word,
        }
    }

    /// Bytes from the first heap to the last.
    fn grown(&self) -> f64 {
        let ends = self.bytes.first().zip(self.bytes.last());
        ends.map_or(0.0, |(first, last)| *last as f64 - *first as f64)
    }

    fn in_json(&self) -> serde_json::Value {
        json!({
            "bytes": self.bytes,
            "error": whole(self.error),
            "slope": signed_sum(self.slope),
            "word": self.word,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_growth_is_told_from_a_step() {
        let word = |bytes: &[u64]| Trend::of(bytes.to_vec()).word;
        assert_eq!(word(&[1000, 1500, 2000]), "grows steadily");
        assert_eq!(word(&[0, 900, 1000, 2100]), "grew unevenly");
        assert_eq!(word(&[1000, 2000, 2000, 2010]), "grew once");
        assert_eq!(word(&[1000, 1200, 1005]), "no growth");
        let exact = Trend::of(vec![10, 20, 30, 40]);
        assert_eq!((exact.slope, exact.error), (10.0, 0.0));
        let uneven = Trend::of(vec![0, 12, 18]);
        assert_eq!((uneven.slope, whole(uneven.error)), (9.0, 2));
    }
}
