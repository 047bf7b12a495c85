//! Records what the fields of the objects on the way decide about arrays.

use crate::classes::{Class, Deciding, Shape};
use crate::memory::Memory;
use crate::Snapshot;
use format::redaction::{Decision, FieldRule};

impl<M: Memory> Snapshot<M> {
    /// Records the decisions of an object's fields.
    #[inline]
    pub(crate) fn decide(&self, class: &Class, object: u64) {
        for deciding in &class.deciding {
            let target = self.load(object, deciding);
            self.decide_over(deciding.decision, target);
        }
    }

    /// Records a decision about the array at `target`, or about that of the string at `target`.
    /// Ignores null and other objects.
    #[inline]
    pub(crate) fn decide_over(&self, decision: Decision, target: u64) {
        match decision {
            Decision::String => {
                if let Some(strings) = &self.values.strings {
                    strings.mark(target);
                }
            }
            Decision::Rule(rule) => self.follow_rule(rule, target),
        }
    }

    fn follow_rule(&self, rule: FieldRule, target: u64) {
        if !self.marks.covers(target) {
            return;
        }
        // An object without a known class ends the dump when the walk or the encoder reaches it.
        let Ok(class) = self.class_of(target) else {
            return;
        };
        match class.shape {
            Shape::PrimitiveArray(_) => self.values.note(rule, target),
            Shape::Instance { .. } => {
                let mut fields = class.deciding.iter();
                let value = fields.find(|it| it.decision == Decision::String);
                if let Some(value) = value {
                    self.values.note(rule, self.load(target, value));
                }
            }
            Shape::ObjectArray | Shape::Unknown => {}
        }
    }

    fn load(&self, object: u64, field: &Deciding) -> u64 {
        let place = object + u64::from(field.offset);
        self.layout.oops.load(self.memory, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::ClassMap;
    use crate::walk::{Batch, MarkOnly, Walker, Work};
    use crate::Values;
    use format::redaction::{FieldPatterns, Redacted, Redaction};
    use format::BasicType;

    /// Strings, arrays, and objects that refer to a string and to an array.
    fn shapes() -> Vec<Shape> {
        let instance = |references, primitive_arrays| Shape::Instance {
            fields: Vec::new(),
            data_bytes: 0,
            references,
            primitive_arrays,
            heap_bytes: 32,
        };
        vec![
            instance(Vec::new(), vec![16]),
            Shape::PrimitiveArray(BasicType::Long),
            instance(vec![16], vec![24]),
        ]
    }

    /// Which of the three arrays keep their elements: that of the string, that of the object, that
    /// of another string.
    fn kept(word: &str, keep: Option<FieldRule>) -> [bool; 3] {
        let array = [1, 2, 1, 7];
        let mut words = [
            [1, 3, 0, 0],
            [1, 1, 0, 0],
            [1, 1, 0, 0],
            array,
            array,
            array,
        ]
        .concat();
        let start = words.as_ptr() as u64;
        let at = |object: u64| start + object * 32;
        words[2] = at(1);
        words[3] = at(4);
        words[6] = at(3);
        words[10] = at(5);
        let mut snapshot = Snapshot::of_words(&words, shapes());
        let any = FieldPatterns::parse("*#*").expect("a pattern");
        let (mut redaction, mut deciding) = (Redaction::default(), Vec::new());
        redaction.what = Redacted::parse(word).unwrap_or_default();
        if let Some(rule) = keep {
            match rule {
                FieldRule::Keep => redaction.keep = any,
                FieldRule::Drop => redaction.drop = any,
            }
            let decision = Decision::Rule(rule);
            deciding = [16, 24].map(|offset| Deciding { offset, decision }).into();
        }
        let heap = start..start + words.len() as u64 * 8;
        snapshot.values = Values::redacted(&redaction, &heap).expect("memory");
        let string = Deciding {
            offset: 16,
            decision: Decision::String,
        };
        snapshot.classes = ClassMap::of_shapes(shapes())
            .with_deciding(0, vec![string])
            .with_deciding(2, deciding);
        let work = Work::new(vec![Batch::References(vec![at(0), at(2)])]);
        Walker::new(&snapshot, &work, MarkOnly)
            .run()
            .expect("no failure");
        [3, 4, 5].map(|array| snapshot.values.keeps_elements(at(array)))
    }

    #[test]
    fn the_word_decides_and_a_rule_is_stronger() {
        assert_eq!(kept("", None), [true; 3]);
        assert_eq!(kept("strings", None), [false, true, false]);
        assert_eq!(kept("arrays", None), [false; 3]);
        assert_eq!(kept("strings", Some(FieldRule::Keep)), [true, true, false]);
        assert_eq!(kept("all", Some(FieldRule::Keep)), [true, true, false]);
        assert_eq!(kept("", Some(FieldRule::Drop)), [false, false, true]);
    }
}
