//! A sample of a heap: the objects of its classes at a moment, as a line of JSON.

use format::CountedClass;
use std::cmp::Reverse;
use std::fmt::{self, Display, Formatter, Write};
use std::time::Duration;

/// Counts of objects, of more than one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Total {
    classes: u64,
    instances: u64,
    bytes: u64,
}

impl Total {
    fn of<'c>(counted: impl IntoIterator<Item = &'c CountedClass>) -> Self {
        let mut total = Self::default();
        for one in counted {
            total.classes += 1;
            total.instances = total.instances.saturating_add(one.instances);
            total.bytes = total.bytes.saturating_add(one.bytes);
        }
        total
    }
}

/// The time, process and cause of a sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// Milliseconds since 1970.
    pub(super) time_ms: u64,
    /// The process id.
    pub(super) process: u32,
    /// Its cause.
    pub(super) cause: String,
    /// Length of the application's pause.
    pub(super) pause: Duration,
    /// The heap in use, including unreachable objects; `None` if the JVM does not report it.
    pub(super) used: Option<u64>,
}

impl Taken {
    /// One line of JSON, with its end, which also contains the JSON value `json` under `name`.
    pub(super) fn json_line(&self, name: &str, json: &str) -> String {
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_json(&mut line);
        // JSON has line ends only between its tokens.
        let json: String = json.lines().map(str::trim).collect();
        line + &format!(",\"{name}\":{json}}}\n")
    }

    /// Writes the start of an object.
    fn write_json(&self, out: &mut String) -> fmt::Result {
        let (seconds, millis) = (self.time_ms / 1000, self.time_ms % 1000);
        let process = self.process;
        write!(out, "{{\"time\":{seconds}.{millis:03},\"pid\":{process}")?;
        write!(out, ",\"cause\":{}", Quoted(&self.cause))
    }
}

/// A sample.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    taken: Taken,
    /// The classes with the most bytes, largest first.
    classes: Vec<CountedClass>,
    rest: Total,
    all: Total,
}

impl Sample {
    /// A sample with the `top` largest of these classes, and the sum of the others.
    pub(super) fn of(
        taken: Taken,
        counted: impl IntoIterator<Item = CountedClass>,
        top: usize,
    ) -> Self {
        let mut classes: Vec<CountedClass> = counted.into_iter().collect();
        classes.sort_by(|a, b| a.class.cmp(&b.class));
        classes.dedup_by(|more, sum| {
            let is_same = more.class == sum.class;
            if is_same {
                sum.instances = sum.instances.saturating_add(more.instances);
                sum.bytes = sum.bytes.saturating_add(more.bytes);
            }
            is_same
        });
        classes.retain(|it| it.instances > 0);
        classes.sort_by_key(|it| Reverse(it.bytes));
        let all = Total::of(&classes);
        let rest = Total::of(classes.iter().skip(top));
        classes.truncate(top);
        Self {
            taken,
            classes,
            rest,
            all,
        }
    }

    /// The sample as one line, with its end.
    pub(super) fn json_line(&self) -> String {
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_json(&mut line);
        line
    }

    fn write_json(&self, out: &mut String) -> fmt::Result {
        self.taken.write_json(out)?;
        write!(out, ",\"pause_ms\":{}", self.taken.pause.as_millis())?;
        if let Some(used) = self.taken.used {
            write!(out, ",\"used_bytes\":{used}")?;
        }
        let Total {
            instances, bytes, ..
        } = self.all;
        write!(
            out,
            ",\"instances\":{instances},\"bytes\":{bytes},\"classes\":["
        )?;
        for (number, one) in self.classes.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            let class = Quoted(&one.class);
            write!(
                out,
                "{comma}{{\"class\":{class},\"instances\":{},\"bytes\":{}}}",
                one.instances, one.bytes
            )?;
        }
        let Total {
            classes,
            instances,
            bytes,
        } = self.rest;
        writeln!(
            out,
            "],\"rest\":{{\"classes\":{classes},\"instances\":{instances},\"bytes\":{bytes}}}}}"
        )
    }
}

/// A text as JSON.
struct Quoted<'t>(&'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(out, "\\{letter}")?,
                '\n' => out.write_str("\\n")?,
                // JSON allows no bare control characters, and no class name needs one.
                _ if letter.is_control() => out.write_char('\u{FFFD}')?,
                _ => out.write_char(letter)?,
            }
        }
        out.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{json, Value};

    fn counted(class: &str, instances: u64, bytes: u64) -> CountedClass {
        CountedClass {
            class: class.to_owned(),
            loader: 0,
            instances,
            bytes,
        }
    }

    fn sample(top: usize) -> Sample {
        let all = [
            counted("a.Small", 1, 16),
            counted("byte[]", 3, 4000),
            counted("a.Twice", 1, 100),
            counted("a.Twice", 2, 200),
            counted("a.None", 0, 0),
        ];
        let taken = Taken {
            time_ms: 1_764_081_000_007,
            process: 42,
            cause: "every=1m: the time has come".to_owned(),
            pause: Duration::from_micros(2500),
            used: Some(5000),
        };
        Sample::of(taken, all, top)
    }

    #[test]
    fn a_line_has_the_largest_classes_and_the_rest() {
        let line = sample(2).json_line();
        assert!(line.ends_with("}\n") && !line.trim_end().contains('\n'));
        let found: Value = serde_json::from_str(&line).unwrap();
        let expected = json!({
            "time": 1_764_081_000.007,
            "pid": 42,
            "cause": "every=1m: the time has come",
            "pause_ms": 2,
            "used_bytes": 5000,
            "instances": 7,
            "bytes": 4316,
            "classes": [
                { "class": "byte[]", "instances": 3, "bytes": 4000 },
                { "class": "a.Twice", "instances": 3, "bytes": 300 },
            ],
            "rest": { "classes": 1, "instances": 1, "bytes": 16 },
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn what_else_is_told_is_in_one_line() {
        let line = sample(1)
            .taken
            .json_line("leaks", "{\n  \"a b\": [\n    1\n  ]\n}\n");
        assert_eq!(line.matches('\n').count(), 1);
        let found: Value = serde_json::from_str(&line).unwrap();
        let expected = json!({
            "time": 1_764_081_000.007,
            "pid": 42,
            "cause": "every=1m: the time has come",
            "leaks": { "a b": [1] },
        });
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn any_names_make_a_line_of_json_that_sums_up(
            all in prop::collection::vec((any::<String>(), 1u64..1000, 0u64..1000), 0..20),
            top in 0usize..10,
        ) {
            let counts = all.iter().map(|(class, instances, bytes)| counted(class, *instances, *bytes));
            let line = Sample::of(Taken::default(), counts, top).json_line();
            prop_assert_eq!(line.matches('\n').count(), 1);
            let found: Value = serde_json::from_str(&line).unwrap();
            let classes = found["classes"].as_array().unwrap();
            prop_assert!(classes.len() <= top);
            for key in ["instances", "bytes"] {
                let told: u64 = classes.iter().map(|it| it[key].as_u64().unwrap()).sum();
                let all = found[key].as_u64().unwrap();
                prop_assert_eq!(told + found["rest"][key].as_u64().unwrap(), all);
            }
        }
    }
}
