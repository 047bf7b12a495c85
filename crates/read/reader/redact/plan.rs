//! Plans the redaction of a class's instances: which bytes become zeros, and which references
//! decide about arrays.

use std::ops::Range;

use crate::{Class, ClassTable, Field, FieldPlace, Layout, StringTable};
use format::redaction::{is_string_value, Decision, FieldRule, Redacted, Redaction};
use format::BasicType;

/// The redaction of a class's instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Bytes of an instance's values; `None` if the file does not define its fields.
    pub(crate) data_bytes: Option<u64>,
    /// The ranges of these bytes that become zeros.
    pub(crate) blanks: Vec<Range<u64>>,
    /// The references that decide about arrays, by offset.
    pub(crate) deciding: Vec<(usize, Decision)>,
}

/// Names and layouts, from which plans are made.
#[derive(Clone, Copy)]
pub(crate) struct Planner<'s> {
    pub(crate) redaction: &'s Redaction,
    pub(crate) strings: &'s StringTable,
    pub(crate) classes: &'s ClassTable,
}

impl Planner<'_> {
    /// The plan for the class with this number.
    pub(crate) fn plan(&self, index: usize) -> Plan {
        let Layout::Complete { data_bytes, .. } = self.classes.layout(index) else {
            return Plan::default();
        };
        let mut plan = Plan {
            data_bytes: Some(data_bytes),
            ..Plan::default()
        };
        for place in self.classes.places(index) {
            self.add(&place, &mut plan);
        }
        plan
    }

    fn add(&self, place: &FieldPlace<'_>, plan: &mut Plan) {
        let (class, field) = (place.class, &place.field);
        let (start, end) = (place.bytes.start.into(), place.bytes.end.into());
        if field.kind != BasicType::Object {
            if !self.keeps_value(class.name, field.name) {
                match plan.blanks.last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    _ => plan.blanks.push(start..end),
                }
            }
            return;
        }
        let at = place.bytes.start as usize;
        if self.is_string_value(class, field) {
            plan.deciding.push((at, Decision::String));
        }
        if let Some(rule) = self.rule(class.name, field.name) {
            plan.deciding.push((at, Decision::Rule(rule)));
        }
    }

    /// Whether the field holds the elements of a string.
    fn is_string_value(&self, class: &Class, field: &Field) -> bool {
        let names = (self.class_name(class.name), self.strings.bytes(field.name));
        matches!(names, (Some(class), Some(field)) if is_string_value(&class, field))
    }

    /// Whether the file's class of strings has such a field.
    pub(crate) fn knows_strings(&self) -> bool {
        let is_value = |class: &Class| {
            let mut fields = class.fields.iter();
            fields.any(|field| self.is_string_value(class, field))
        };
        self.classes.iter().any(is_value)
    }

    /// Whether a primitive field keeps its value. Class and field are ids of names.
    pub(crate) fn keeps_value(&self, class: u64, field: u64) -> bool {
        let usually = self.redaction.what < Redacted::Values;
        self.rule(class, field)
            .map_or(usually, |rule| rule == FieldRule::Keep)
    }

    /// The user's rule for a field. Class and field are ids of names.
    pub(crate) fn rule(&self, class: u64, field: u64) -> Option<FieldRule> {
        if self.redaction.keep.is_empty() && self.redaction.drop.is_empty() {
            return None;
        }
        let field = self.strings.bytes(field)?;
        self.redaction.rule(&self.class_name(class)?, field)
    }

    /// A class's name as in class files; the JDK's own agent and Android write dots.
    pub(crate) fn class_name(&self, id: u64) -> Option<Vec<u8>> {
        let mut name = self.strings.bytes(id)?.to_vec();
        for byte in &mut name {
            if *byte == b'.' {
                *byte = b'/';
            }
        }
        Some(name)
    }
}
