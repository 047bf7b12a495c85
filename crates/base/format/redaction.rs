//! Redaction: which values a dump leaves out, by kind (`redact=`) and by field name.

use crate::name_pattern;

/// The kinds of values that a redacted dump replaces by zeros or stars. Each kind includes all
/// before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Redacted {
    /// Nothing.
    #[default]
    Nothing,
    /// The elements of the arrays that `java.lang.String` objects hold.
    Strings,
    /// The elements of all arrays of primitive types.
    Arrays,
    /// Also primitive fields, static ones included.
    Values,
    /// Also all text except the names of classes, fields and methods.
    All,
}

impl Redacted {
    /// The meaning of a word: `strings`, `arrays`, `values` or `all`; `None` for any other.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::Strings, Self::Arrays, Self::Values, Self::All];
        all.into_iter().find(|it| it.name() == word)
    }

    /// The word of `redact=` for this kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Strings => "strings",
            Self::Arrays => "arrays",
            Self::Values => "values",
            Self::All => "all",
        }
    }
}

/// The user's rule for one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRule {
    /// Its value stays.
    Keep,
    /// Its value becomes zeros.
    Drop,
}

/// Why an array's elements are kept or dropped: the reference field that leads to the array
/// decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The field is `String.value`.
    String,
    /// A rule of the user names the field, which refers to the array or to its string.
    Rule(FieldRule),
}

/// The class (as in class files) and the field that hold the elements of a string.
const STRING_VALUE: (&[u8], &[u8]) = (b"java/lang/String", b"value");

/// Whether this instance field holds the elements of a string. The class's name is as in class
/// files.
pub fn is_string_value(class: &[u8], field: &[u8]) -> bool {
    (class, field) == STRING_VALUE
}

/// Fields by class and name: `com.acme.Order#id`. A star stands for any letters in both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldPatterns(Vec<(String, String)>);

impl FieldPatterns {
    /// Patterns separated by `;` or `+`; `None` if one of them is not a class, `#` and a field.
    pub fn parse(text: &str) -> Option<Self> {
        let one = |pattern: &str| {
            let (class, field) = pattern.split_once('#')?;
            let is_whole = !class.is_empty() && !field.is_empty() && !field.contains('#');
            is_whole.then(|| (class.to_owned(), field.to_owned()))
        };
        let patterns: Option<Vec<_>> = text.split([';', '+']).map(one).collect();
        patterns.map(Self)
    }

    /// Whether a pattern matches the field. The class's name is as in class files,
    /// `java/lang/String`.
    pub fn matches(&self, class: &[u8], field: &[u8]) -> bool {
        self.0.iter().any(|pattern| fits(pattern, class, field))
    }

    /// The patterns that match none of these fields, as the user wrote them.
    pub fn unmatched<'f>(&self, fields: impl Iterator<Item = (&'f [u8], &'f [u8])>) -> Vec<String> {
        let mut left: Vec<_> = self.0.iter().collect();
        for (class, field) in fields {
            left.retain(|pattern| !fits(pattern, class, field));
        }
        let written = |(class, field): &(String, String)| format!("{class}#{field}");
        left.into_iter().map(written).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn fits((class, field): &(String, String), name: &[u8], of: &[u8]) -> bool {
    name_pattern::fits(class.as_bytes(), name) && name_pattern::fits(field.as_bytes(), of)
}

/// The values that a dump leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redaction {
    /// The kinds of values left out of all objects.
    pub what: Redacted,
    /// Fields that keep their values nevertheless.
    pub keep: FieldPatterns,
    /// Fields whose values are left out in any case.
    pub drop: FieldPatterns,
}

impl Redaction {
    /// Whether no value is left out.
    pub fn is_nothing(&self) -> bool {
        self.what == Redacted::Nothing && self.drop.is_empty()
    }

    /// This redaction, tightened so that the dump contains no more than `limits` allows.
    pub fn within(self, limits: Self) -> Self {
        let Self { what, keep, drop } = limits;
        let keep = match what {
            Redacted::Nothing => self.keep,
            _ => keep,
        };
        Self {
            what: self.what.max(what),
            keep,
            drop: FieldPatterns([self.drop.0, drop.0].concat()),
        }
    }

    /// The user's rule for this field; `None` if there is none. `drop` takes precedence over
    /// `keep`. The class's name is as in class files.
    pub fn rule(&self, class: &[u8], field: &[u8]) -> Option<FieldRule> {
        if self.drop.matches(class, field) {
            return Some(FieldRule::Drop);
        }
        self.keep.matches(class, field).then_some(FieldRule::Keep)
    }

    /// One word for lines about the dump: the one of `redact=`, or `fields` if only some fields are
    /// dropped.
    pub fn name(&self) -> &'static str {
        match self.what {
            Redacted::Nothing => "fields",
            what => what.name(),
        }
    }
}

/// Stars in place of a text of `bytes` bytes.
pub fn stars(bytes: usize) -> Vec<u8> {
    vec![b'*'; bytes]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_means_more_than_the_one_before() {
        let words = ["strings", "arrays", "values", "all"];
        let meant: Vec<_> = words.map(|word| Redacted::parse(word).unwrap()).to_vec();
        assert!(meant.is_sorted() && meant[0] > Redacted::Nothing);
        for word in ["", "nothing", "Strings", "string"] {
            assert_eq!(Redacted::parse(word), None, "{word}");
        }
    }

    #[test]
    fn a_pattern_is_a_class_and_a_field() {
        let some = FieldPatterns::parse("com.acme.Order#id;com.acme.*#card*+Main$Inner#x").unwrap();
        for (class, field, is_meant) in [
            ("com/acme/Order", "id", true),
            ("com/acme/Order", "ids", false),
            ("com/acme/Customer", "cardNumber", true),
            ("org/Customer", "cardNumber", false),
            ("Main$Inner", "x", true),
            ("Main", "x", false),
        ] {
            let found = some.matches(class.as_bytes(), field.as_bytes());
            assert_eq!(found, is_meant, "{class}#{field}");
        }
        for wrong in ["", "a", "a#", "#b", "a#b;", "a#b#c", "a#b;;c#d"] {
            assert_eq!(FieldPatterns::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn patterns_without_a_field_are_told() {
        let some = FieldPatterns::parse("a.B#c;a.B#d;*#e").unwrap();
        let fields: [(&[u8], &[u8]); 2] = [(b"a/B", b"d"), (b"x/Y", b"e")];
        assert_eq!(some.unmatched(fields.into_iter()), ["a.B#c"]);
    }

    #[test]
    fn a_dump_that_drops_a_field_does_not_tell_everything() {
        let nothing = Redaction::default();
        assert!(nothing.is_nothing() && nothing.drop.is_empty());
        let some = FieldPatterns::parse("A#b").unwrap();
        assert!(!some.is_empty());
        let kept = Redaction {
            keep: some.clone(),
            ..Redaction::default()
        };
        assert!(kept.is_nothing());
        let dropped = Redaction {
            drop: some,
            ..Redaction::default()
        };
        assert!(!dropped.is_nothing());
        assert_eq!(dropped.name(), "fields");
        let strings = Redaction {
            what: Redacted::Strings,
            ..Redaction::default()
        };
        assert!(!strings.is_nothing());
        assert_eq!(strings.name(), "strings");
        assert_eq!(stars(3), b"***");
    }

    #[test]
    fn drop_is_stronger_than_keep() {
        let redaction = Redaction {
            what: Redacted::Values,
            keep: FieldPatterns::parse("A#*").unwrap(),
            drop: FieldPatterns::parse("A#b").unwrap(),
        };
        assert_eq!(redaction.rule(b"A", b"a"), Some(FieldRule::Keep));
        assert_eq!(redaction.rule(b"A", b"b"), Some(FieldRule::Drop));
        assert_eq!(redaction.rule(b"B", b"a"), None);
    }

    #[test]
    fn what_is_within_limits_tells_no_more_than_they_do() {
        let some = |text: &str| FieldPatterns::parse(text).unwrap();
        let redaction = |what, keep, drop| Redaction {
            what,
            keep: some(keep),
            drop: some(drop),
        };
        let limits = || redaction(Redacted::Arrays, "A#kept", "A#dropped");
        for (asked, what) in [
            (Redacted::Nothing, Redacted::Arrays),
            (Redacted::Strings, Redacted::Arrays),
            (Redacted::All, Redacted::All),
        ] {
            let within = redaction(asked, "A#*", "B#x").within(limits());
            assert_eq!(within.what, what);
            assert_eq!(within.keep, some("A#kept"));
            assert_eq!(within.drop, some("B#x;A#dropped"));
        }
        let asked = || redaction(Redacted::Values, "A#a", "B#x");
        assert_eq!(asked().within(Redaction::default()), asked());
    }
}
