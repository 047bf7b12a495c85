//! The values of the heap that are written to the file, including the arrays about which single
//! fields decide.
//!
//! Each string, and each field that the user names, decides about one array. The walk visits all
//! objects before the encoder writes primitive arrays, so it records the decisions: one bit for 8
//! bytes of heap, as for marks.

use crate::walk::Marks;
use format::redaction::{is_string_value, Decision, FieldRule, Redacted, Redaction};
use format::sent_numbers::is_sent;
use format::BasicType;
use std::ops::Range;
use tables::{ClassRow, Field, Tables};

/// The values of the heap that are written to the file.
#[derive(Debug, Default)]
pub struct Values {
    /// Whether primitive fields are written, unless a rule says otherwise.
    pub fields: bool,
    /// Whether elements of primitive arrays are written, unless a decision says otherwise.
    pub arrays: bool,
    /// Whether those numbers of instances are written that a graph stream contains.
    numbers: bool,
    redaction: Redaction,
    pub(crate) strings: Option<Marks>,
    kept: Option<Marks>,
    dropped: Option<Marks>,
}

impl Values {
    /// All values.
    pub fn all() -> Self {
        Self {
            fields: true,
            arrays: true,
            ..Self::default()
        }
    }

    /// No value.
    pub fn none() -> Self {
        Self::default()
    }

    /// Those that a graph stream contains.
    pub fn of_graph() -> Self {
        Self {
            numbers: true,
            ..Self::default()
        }
    }

    /// All values except redacted ones, for objects in this range of addresses; `None` if there is
    /// no memory.
    pub fn redacted(redaction: &Redaction, heap: &Range<u64>) -> Option<Self> {
        let marks = |are_needed: bool| match are_needed {
            true => Marks::new(heap.clone()).map(Some),
            false => Some(None),
        };
        Some(Self {
            fields: redaction.what < Redacted::Values,
            arrays: redaction.what < Redacted::Arrays,
            strings: marks(redaction.what == Redacted::Strings)?,
            kept: marks(!redaction.keep.is_empty())?,
            dropped: marks(!redaction.drop.is_empty())?,
            redaction: redaction.clone(),
            numbers: false,
        })
    }

    /// Restricts the values: primitive fields only if `fields`, elements of primitive arrays only
    /// if `arrays`. Rules and decisions stay.
    #[must_use]
    pub fn only(mut self, fields: bool, arrays: bool) -> Self {
        self.fields &= fields;
        self.arrays &= arrays;
        self
    }

    /// Whether fields decide about arrays, so that no primitive array may be written before all
    /// objects are marked.
    #[inline]
    pub fn are_decided(&self) -> bool {
        self.strings.is_some() || self.kept.is_some() || self.dropped.is_some()
    }

    /// Whether the value of this field is written, if the field is primitive.
    pub(crate) fn keeps_value(&self, tables: &Tables, class: &ClassRow, field: &Field) -> bool {
        let is_kept = || self.fields || self.is_sent(tables, class, field);
        self.rule(tables, class, field)
            .map_or_else(is_kept, |rule| rule == FieldRule::Keep)
    }

    fn is_sent(&self, tables: &Tables, class: &ClassRow, field: &Field) -> bool {
        let text = |id| tables.strings.get(id).unwrap_or_default();
        self.numbers && !field.is_static && is_sent(&text(class.name), &text(field.name))
    }

    /// The decisions of a reference field.
    pub(crate) fn decisions(
        &self,
        tables: &Tables,
        class: &ClassRow,
        field: &Field,
    ) -> impl Iterator<Item = Decision> {
        let is_reference = field.basic_type == BasicType::Object;
        let decides = self.are_decided() && is_reference;
        let is_string = decides && !field.is_static && is_named_string_value(tables, class, field);
        let rule = self.rule(tables, class, field).filter(|_| decides);
        let string = is_string.then_some(Decision::String);
        string.into_iter().chain(rule.map(Decision::Rule))
    }

    fn rule(&self, tables: &Tables, class: &ClassRow, field: &Field) -> Option<FieldRule> {
        if self.kept.is_none() && self.dropped.is_none() {
            return None;
        }
        let text = |id| tables.strings.get(id).unwrap_or_default();
        self.redaction.rule(&text(class.name), &text(field.name))
    }

    /// Whether the elements of this primitive array are written. Call it only when all objects are
    /// marked.
    #[inline]
    pub(crate) fn keeps_elements(&self, array: u64) -> bool {
        if !self.are_decided() {
            return self.arrays;
        }
        let among = |marks: &Option<Marks>| marks.as_ref().is_some_and(|it| it.has(array));
        if among(&self.dropped) {
            return false;
        }
        among(&self.kept) || self.arrays && !among(&self.strings)
    }

    pub(crate) fn note(&self, rule: FieldRule, array: u64) {
        let marks = match rule {
            FieldRule::Keep => &self.kept,
            FieldRule::Drop => &self.dropped,
        };
        if let Some(marks) = marks {
            marks.mark(array);
        }
    }
}

fn is_named_string_value(tables: &Tables, class: &ClassRow, field: &Field) -> bool {
    let names = (
        tables.strings.get(class.name),
        tables.strings.get(field.name),
    );
    matches!(names, (Some(class), Some(field)) if is_string_value(&class, &field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::redaction::FieldPatterns;

    #[test]
    fn more_is_redacted_from_word_to_word() {
        let values = |what| {
            let redaction = Redaction {
                what,
                ..Redaction::default()
            };
            let values = Values::redacted(&redaction, &(0..1024)).expect("memory");
            (values.fields, values.arrays, values.are_decided())
        };
        assert_eq!(values(Redacted::Nothing), (true, true, false));
        assert_eq!(values(Redacted::Strings), (true, true, true));
        assert_eq!(values(Redacted::Arrays), (true, false, false));
        assert_eq!(values(Redacted::Values), (false, false, false));
        assert_eq!(values(Redacted::All), (false, false, false));
    }

    #[test]
    fn an_array_whose_elements_are_undecided_is_not_written_early() {
        let heap = 0..64;
        let open = |word| {
            let what = Redacted::parse(word).expect("a word");
            let redaction = Redaction {
                what,
                ..Redaction::default()
            };
            let values = Values::redacted(&redaction, &heap);
            values.is_some_and(|values| values.are_decided())
        };
        assert!(open("strings") && !open("arrays") && !open("all"));
    }

    #[test]
    fn fewer_values_are_never_more() {
        let words = |values: Values| (values.fields, values.arrays);
        assert_eq!(words(Values::all()), (true, true));
        assert_eq!(words(Values::none()), (false, false));
        for (fields, arrays) in [(true, false), (false, true)] {
            assert_eq!(words(Values::all().only(fields, arrays)), (fields, arrays));
            assert_eq!(words(Values::none().only(fields, arrays)), (false, false));
        }
    }

    #[test]
    fn only_a_reference_field_that_holds_a_strings_elements_decides() {
        let tables = Tables::default();
        let intern = |text: &str| tables.strings.intern(text.as_bytes());
        let class = |name| ClassRow {
            signature: intern(name),
            name: intern(name),
            loader: None,
            super_class: None,
            fields: None,
        };
        let field = |name, basic_type, is_static| Field {
            name: intern(name),
            basic_type,
            is_primitive_array: false,
            is_static,
        };
        let values = |word, keep| {
            let redaction = Redaction {
                what: Redacted::parse(word).unwrap_or_default(),
                keep: FieldPatterns::parse(keep).unwrap_or_default(),
                ..Redaction::default()
            };
            Values::redacted(&redaction, &(0..64)).expect("memory")
        };
        let decisions = |values: &Values, name, field| {
            let found = values.decisions(&tables, &class(name), &field);
            found.collect::<Vec<_>>()
        };
        let reference = BasicType::Object;
        let strings = values("strings", "");
        let of_strings = |name, field| decisions(&strings, name, field);
        let value = || field("value", reference, false);
        assert_eq!(of_strings("java/lang/String", value()), [Decision::String]);
        assert_eq!(of_strings("java/lang/Integer", value()), []);
        for other in [
            field("hash", reference, false),
            field("value", reference, true),
            field("value", BasicType::Int, false),
        ] {
            assert_eq!(of_strings("java/lang/String", other), []);
        }
        let keeps = values("all", "*Cache#map");
        let map = |basic_type| field("map", basic_type, false);
        let kept = [Decision::Rule(FieldRule::Keep)];
        assert_eq!(decisions(&keeps, "a/Cache", map(reference)), kept);
        assert_eq!(decisions(&keeps, "a/Cache", map(BasicType::Int)), []);
        assert_eq!(decisions(&keeps, "a/Store", map(reference)), []);
        let nothing = values("arrays", "");
        assert_eq!(decisions(&nothing, "java/lang/String", value()), []);
    }
}
