//! Rules on the order of sub-records and on the ids of objects.

use super::fault::Faults;
use super::rule::Rule;
use crate::id_set::IdSet;
use format::Root;
use format::RootKind;

/// The alignment that readers assume to infer sizes.
const ID_ALIGNMENT: u64 = 8;

/// The objects so far, including classes.
#[derive(Debug, Default)]
pub(super) struct ObjectRules {
    pub(super) ids: IdSet,
    root_seen: bool,
    object_seen: bool,
}

impl ObjectRules {
    pub(super) fn root(&mut self, offset: u64, root: &Root, faults: &mut Faults) {
        self.root_seen = true;
        let name = root.kind.name();
        if self.object_seen {
            faults.add(Rule::RootLate, offset, || format!("{name} after an object"));
        }
        if root.object == 0 {
            faults.add(Rule::RootZero, offset, || format!("{name} of object 0"));
        }
        match root.kind {
            RootKind::Unknown => faults.add(Rule::RootUnknown, offset, || {
                format!("{name} of object {:#x}", root.object)
            }),
            kind if kind >= RootKind::InternedString => {
                faults.add(Rule::AndroidRecord, offset, || name.to_owned());
            }
            _ => {}
        }
    }

    pub(super) fn class(&mut self, offset: u64, id: u64, known: bool, faults: &mut Faults) {
        if self.root_seen || self.object_seen {
            let before = if self.object_seen {
                "an object"
            } else {
                "a root"
            };
            faults.add(Rule::ClassDumpLate, offset, || {
                format!("class {id:#x} after {before}")
            });
        }
        // A duplicate class has its own rule.
        if !self.add(offset, id, faults) && !known {
            faults.add(Rule::ClassMirrorInstance, offset, || {
                format!("class {id:#x} was dumped as an object before")
            });
        }
    }

    pub(super) fn object(
        &mut self,
        offset: u64,
        id: u64,
        is_class: impl FnOnce() -> bool,
        faults: &mut Faults,
    ) {
        self.object_seen = true;
        if self.add(offset, id, faults) {
            return;
        }
        if is_class() {
            faults.add(Rule::ClassMirrorInstance, offset, || {
                format!("object {id:#x} is a class and has a CLASS DUMP")
            });
        } else {
            faults.add(Rule::DuplicateObject, offset, || {
                format!("a second object with id {id:#x}")
            });
        }
    }

    fn add(&mut self, offset: u64, id: u64, faults: &mut Faults) -> bool {
        if id == 0 {
            faults.add(Rule::ObjectIdZero, offset, || {
                "an object with id 0".to_owned()
            });
        }
        if id % ID_ALIGNMENT != 0 {
            faults.add(Rule::UnalignedId, offset, || format!("object {id:#x}"));
        }
        self.ids.insert(id)
    }
}
