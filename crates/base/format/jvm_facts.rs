//! Facts about the JVM in a dump: texts that stand among the names in its head.
//!
//! HPROF has no record for them. Every reader ignores a STRING record whose id nothing refers to,
//! so each text is such a record. The first text has lines of `name=value`. The others list the
//! sizes of classes in the order of their serial numbers: the size of an instance and of the class
//! object, as in `3/14`, in units of [`UNIT_BYTES`]. A graph stream also has texts with areas of
//! memory, one a line.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use crate::redaction::Redacted;
use crate::{MemoryArea, ObjectSizes};

/// Sizes of objects are multiples of this in every JVM.
pub const UNIT_BYTES: u64 = 8;

/// The start of the text with the facts. The number is the version.
const FACTS: &str = "hprof-rs/facts 1\n";

/// The start of a text with sizes; the serial number of the first class follows on a line of its
/// own.
const SIZES: &str = "hprof-rs/sizes 1\n";

/// The start of a text with areas of memory.
const AREAS: &str = "hprof-rs/areas 1\n";

/// A text of sizes ends after this many bytes. Some readers fail on a text of 32 KiB.
const TEXT_BYTES: usize = 16_000;

/// A longer text is ignored: no agent has written it.
const MOST_TEXT_BYTES: usize = 64 << 10;

/// Further words are ignored.
const MOST_WORDS: usize = 64;

/// Further areas are ignored: there is one for each thread.
const MOST_AREAS: usize = 1 << 20;

/// The sizes of one class in units; 0 if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassUnits {
    /// The size of an instance.
    pub instance: u32,
    /// The size of the class object, with its static fields.
    pub object: u32,
}

impl ClassUnits {
    fn parse(text: &str) -> Self {
        let (instance, object) = text.split_once('/').unwrap_or((text, ""));
        Self {
            instance: instance.parse().unwrap_or(0),
            object: object.parse().unwrap_or(0),
        }
    }
}

/// What a dump contains about its JVM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JvmFacts {
    /// The layout of its objects.
    pub sizes: Option<ObjectSizes>,
    /// The other facts by name, for people.
    pub words: BTreeMap<String, String>,
    /// The sizes of its classes, by serial number.
    pub classes: BTreeMap<u32, ClassUnits>,
    /// Areas of its memory; only a graph stream has them.
    pub areas: Vec<MemoryArea>,
}

impl JvmFacts {
    /// The texts that contain all this.
    pub fn texts(&self) -> Vec<String> {
        let mut facts = FACTS.to_owned();
        for (name, value) in self.words.iter().chain(&self.layout_words()) {
            // A control character would end the line.
            let value = value.replace(|letter: char| letter.is_control(), " ");
            // Writing to a string cannot fail.
            let _ = writeln!(facts, "{name}={value}");
        }
        let mut texts = vec![facts];
        let mut open: Option<(u32, String)> = None;
        for (&serial, units) in &self.classes {
            let mut text = match open.take() {
                Some((last, text)) if text.len() + (serial - last) as usize <= TEXT_BYTES => {
                    text + &",".repeat((serial - last) as usize)
                }
                full => {
                    texts.extend(full.map(|(_, text)| text));
                    format!("{SIZES}{serial}\n")
                }
            };
            if units.instance > 0 {
                let _ = write!(text, "{}", units.instance);
            }
            if units.object > 0 {
                let _ = write!(text, "/{}", units.object);
            }
            open = Some((serial, text));
        }
        texts.extend(open.map(|(_, text)| text));
        texts.extend(self.areas_texts());
        texts
    }

    /// Adds the facts of a text of the file; false if it is another text. If two texts state the
    /// same fact, the last one counts.
    pub fn take(&mut self, text: &[u8]) -> bool {
        if text.len() > MOST_TEXT_BYTES {
            return false;
        }
        if let Some(facts) = text.strip_prefix(FACTS.as_bytes()) {
            self.take_facts(&String::from_utf8_lossy(facts));
            return true;
        }
        if let Some(areas) = text.strip_prefix(AREAS.as_bytes()) {
            let areas = String::from_utf8_lossy(areas);
            let room = MOST_AREAS.saturating_sub(self.areas.len());
            let areas = areas.lines().filter_map(MemoryArea::parse);
            self.areas.extend(areas.take(room));
            return true;
        }
        let Some(sizes) = text.strip_prefix(SIZES.as_bytes()) else {
            return false;
        };
        let sizes = String::from_utf8_lossy(sizes);
        let (first, sizes) = sizes.split_once('\n').unwrap_or((&sizes, ""));
        let Ok(first) = first.parse::<u32>() else {
            return true;
        };
        for (serial, text) in (first..=u32::MAX).zip(sizes.split(',')) {
            let units = ClassUnits::parse(text);
            if units != ClassUnits::default() {
                self.classes.insert(serial, units);
            }
        }
        true
    }

    /// The ranges in such a text that a redacted dump must hide, for example the host's name;
    /// `None` for another text.
    pub fn secrets(text: &[u8]) -> Option<Vec<Range<usize>>> {
        if let Some(sizes) = text.strip_prefix(SIZES.as_bytes()) {
            let is_size = |byte: &u8| byte.is_ascii_digit() || b",/\n".contains(byte);
            return sizes.iter().all(is_size).then(Vec::new);
        }
        let facts = text.strip_prefix(FACTS.as_bytes())?;
        let (mut secrets, mut at) = (Vec::new(), FACTS.len());
        for line in facts.split(|byte| *byte == b'\n') {
            let name_bytes = line.iter().position(|byte| *byte == b'=').unwrap_or(0);
            let name = line.get(..name_bytes).unwrap_or_default();
            let is_public = PUBLIC
                .iter()
                .chain(&LAYOUT)
                .any(|word| word.as_bytes() == name);
            let end = at + line.len();
            if !is_public {
                secrets.push(at + name_bytes..end);
            }
            at = end + 1;
        }
        Some(secrets)
    }

    /// The words, and the layout of objects in words.
    pub fn all_words(&self) -> BTreeMap<String, String> {
        let mut words = self.words.clone();
        words.extend(self.layout_words());
        words
    }

    /// These facts with the word of the redaction that leaves values out of the dump.
    #[must_use]
    pub fn with_redaction(mut self, word: &str) -> Self {
        self.words.insert(REDACTED.to_owned(), word.to_owned());
        self
    }

    /// The word of `redact=` for the values that the dump leaves out, or `fields`; `None` if it has
    /// all values, as far as it says.
    pub fn redacted(&self) -> Option<&str> {
        self.words.get(REDACTED).map(String::as_str)
    }

    /// Whether the file contains no facts.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
            && self.sizes.is_none()
            && self.classes.is_empty()
            && self.areas.is_empty()
    }

    /// The sizes of the class with this serial number.
    pub fn units(&self, serial: Option<u32>) -> ClassUnits {
        let units = serial.and_then(|serial| self.classes.get(&serial));
        units.copied().unwrap_or_default()
    }

    fn areas_texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for area in &self.areas {
            let is_full = |text: &String| text.len() > TEXT_BYTES;
            if texts.last().is_none_or(is_full) {
                texts.push(AREAS.to_owned());
            }
            if let Some(text) = texts.last_mut() {
                let _ = writeln!(text, "{area}");
            }
        }
        texts
    }

    fn layout_words(&self) -> BTreeMap<String, String> {
        let Some(sizes) = self.sizes else {
            return BTreeMap::new();
        };
        let word = |(name, bytes): (&str, u64)| (name.to_owned(), bytes.to_string());
        LAYOUT
            .iter()
            .copied()
            .zip(sizes.bytes())
            .map(word)
            .collect()
    }

    fn take_facts(&mut self, facts: &str) {
        let mut layout = [None; LAYOUT.len()];
        for line in facts.lines() {
            let Some((name, value)) = line.split_once('=') else {
                continue;
            };
            match LAYOUT.iter().zip(&mut layout).find(|(of, _)| **of == name) {
                Some((_, bytes)) => *bytes = value.parse().ok(),
                // A dump that was redacted twice lacks what the stronger word names.
                None if name == REDACTED
                    && strength(value) < self.redacted().map_or(0, strength) => {}
                None if self.words.len() < MOST_WORDS => {
                    self.words.insert(name.to_owned(), value.to_owned());
                }
                None => {}
            }
        }
        let told: Vec<u64> = layout.into_iter().flatten().collect();
        if let Ok(told) = <[u64; LAYOUT.len()]>::try_from(told) {
            self.sizes = Some(ObjectSizes::of_bytes(told));
        }
    }
}

/// The more values a word of `redact=` leaves out, the larger is this.
fn strength(word: &str) -> u8 {
    Redacted::parse(word).unwrap_or_default() as u8
}

/// The words that a redacted dump keeps.
const PUBLIC: [&str; 6] = ["agent", "collector", "engine", "jvm", "pause_us", REDACTED];

/// The name of the word that says which values the dump leaves out.
const REDACTED: &str = "redacted";

/// The names of the numbers of [`ObjectSizes::bytes`].
const LAYOUT: [&str; 5] = [
    "header_bytes",
    "array_header_bytes",
    "value_header_bytes",
    "reference_bytes",
    "alignment_bytes",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AreaKind;
    use proptest::prelude::*;

    fn taken(texts: &[String]) -> JvmFacts {
        let mut facts = JvmFacts::default();
        for text in texts {
            assert!(facts.take(text.as_bytes()));
        }
        facts
    }

    #[test]
    fn other_texts_tell_nothing() {
        let mut facts = JvmFacts::default();
        for text in ["", "java/lang/String", "hprof-rs/facts 2\nheader_bytes=8\n"] {
            assert!(!facts.take(text.as_bytes()) && JvmFacts::secrets(text.as_bytes()).is_none());
        }
        assert!(facts.is_empty());
        assert!(facts.take(b"hprof-rs/facts 1\nheader_bytes=8\nnonsense\n"));
        assert!(facts.take(b"hprof-rs/sizes 1\nnonsense\n1,2"));
        assert!(facts.take(b"hprof-rs/sizes 1\n"));
        assert!(facts.is_empty());
    }

    #[test]
    fn secrets_are_what_is_not_known_to_be_public() {
        let text = b"hprof-rs/facts 1\nhost=abc\njvm=a\nodd\nheader_bytes=8\npid=1\n";
        let secrets = JvmFacts::secrets(text).expect("facts").into_iter();
        let words: Vec<&[u8]> = secrets.map(|place| &text[place]).collect();
        assert_eq!(words, [&b"=abc"[..], b"odd", b"=1", b""]);
        assert_eq!(
            JvmFacts::secrets(b"hprof-rs/sizes 1\n1\n2/14,,3"),
            Some(Vec::new())
        );
        assert_eq!(JvmFacts::secrets(b"hprof-rs/sizes 1\n1\n2/14,secret"), None);
    }

    #[test]
    fn the_texts_are_as_they_always_were() {
        let mut facts = JvmFacts {
            sizes: Some(ObjectSizes::default()),
            ..JvmFacts::default()
        };
        facts.words.insert("jvm".to_owned(), "a\nb".to_owned());
        let units = |instance, object| ClassUnits { instance, object };
        facts.classes = [(1, units(2, 14)), (2, units(0, 13)), (5, units(3, 0))].into();
        let layout =
            "array_header_bytes=16\nheader_bytes=12\nreference_bytes=4\nvalue_header_bytes=16\n";
        assert_eq!(
            facts.texts(),
            [
                format!("hprof-rs/facts 1\njvm=a b\nalignment_bytes=8\n{layout}"),
                "hprof-rs/sizes 1\n1\n2/14,/13,,,3".to_owned()
            ]
        );
    }

    #[test]
    fn no_text_is_too_long_for_a_reader() {
        let units = ClassUnits {
            instance: u32::MAX,
            object: 14,
        };
        let facts = JvmFacts {
            classes: (1..9_999)
                .chain([u32::MAX])
                .map(|serial| (serial, units))
                .collect(),
            ..JvmFacts::default()
        };
        let texts = facts.texts();
        assert!(texts.len() > 5 && texts.iter().all(|text| text.len() < 20_000));
        assert_eq!(taken(&texts), facts);
    }

    #[test]
    fn nobody_fills_the_memory_with_words() {
        let lines = |count: u32| (0..count).map(|line| format!("{line:04x}=\n")).collect();
        let told = |lines: String| {
            let mut facts = JvmFacts::default();
            (
                facts.take(format!("{FACTS}{lines}").as_bytes()),
                facts.words.len(),
            )
        };
        assert_eq!(told(lines(9_000)), (true, MOST_WORDS));
        assert_eq!(told(lines(12_000)), (false, 0));
    }

    proptest! {
        #[test]
        fn what_was_told_is_taken(
            classes in prop::collection::btree_map(0_u32..90_000, (0_u32..9_999, 1_u32..99), 0..99),
            bytes in prop::array::uniform5(0_u64..1_000_000),
            areas in prop::collection::vec(any::<(u64, u64)>(), 0..999),
        ) {
            let units = |(serial, (instance, object))| (serial, ClassUnits { instance, object });
            let facts = JvmFacts {
                sizes: Some(ObjectSizes::of_bytes(bytes)),
                words: [("host".to_owned(), "a=b".to_owned())].into(),
                classes: classes.into_iter().map(units).collect(),
                areas: areas.into_iter().map(|(start, end)| MemoryArea { kind: AreaKind::Stack, range: start..end }).collect(),
            };
            prop_assert_eq!(taken(&facts.texts()), facts);
        }

        #[test]
        fn hostile_texts_end(text in ".*") {
            JvmFacts::default().take(format!("{SIZES}{text}").as_bytes());
            JvmFacts::default().take(format!("{FACTS}{text}").as_bytes());
        }
    }
}
