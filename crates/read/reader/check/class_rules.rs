//! Rules on classes: names, serials, superclasses, sizes, and the classes that readers look up by
//! name.

use std::collections::HashSet;

use super::citations::Citations;
use super::fault::Faults;
use super::rule::Rule;
use super::serials::Serials;
use crate::budget::entries;
use crate::classes::{Class, ClassTable, Layout};
use crate::strings::StringTable;
use format::record::LoadClass;
use format::sub_record::ClassDump;

/// The root of the class hierarchy.
const OBJECT: &str = "java/lang/Object";

/// Classes that at least one reader looks up by name.
const CORE_CLASSES: [&str; 6] = [
    OBJECT,
    "java/lang/Class",
    "java/lang/String",
    "java/lang/ClassLoader",
    "java/lang/ref/SoftReference",
    "java/lang/ref/WeakReference",
];

/// The array classes of the primitive types.
const PRIMITIVE_CLASSES: [&str; 8] = ["[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"];

/// First field count that readers with signed 16-bit numbers cannot handle.
const FIELDS_END: usize = 1 << 15;

/// The classes so far, their serials, and serials that were referred to too early.
#[derive(Debug, Default)]
pub(super) struct ClassRules {
    pub(super) table: ClassTable,
    serials: Serials,
    citations: Citations<u32>,
    unloaded: Vec<(u64, u32)>,
}

impl ClassRules {
    pub(super) fn load(
        &mut self,
        offset: u64,
        load: &LoadClass,
        heap_begun: bool,
        faults: &mut Faults,
    ) {
        let LoadClass { serial, class, .. } = *load;
        if heap_begun {
            faults.add(Rule::LoadClassLate, offset, || {
                format!("LOAD CLASS of class {class:#x} after the beginning of the heap")
            });
        }
        if !self.serials.insert(u64::from(serial), offset) {
            faults.add(Rule::DuplicateClassSerial, offset, || {
                format!("a second class with serial {serial}")
            });
        }
        if !self.table.add_load(load) {
            faults.add(Rule::DuplicateLoadClass, offset, || {
                format!("class {class:#x} again")
            });
        }
        self.citations
            .define(serial, Rule::LoadClassLate, faults, || {
                format!("class serial {serial}, whose LOAD CLASS stands at {offset:#x}")
            });
    }

    pub(super) fn cite_serial(&mut self, offset: u64, serial: u32, by: &'static str) {
        if !self.serials.contains(u64::from(serial)) {
            self.citations.add(serial, offset, by);
        }
    }

    pub(super) fn unload(&mut self, offset: u64, serial: u32, faults: &mut Faults) {
        if self.serials.contains(u64::from(serial)) {
            self.unloaded.push((offset, serial));
        } else {
            faults.add(Rule::UnloadUnknown, offset, || {
                format!("UNLOAD CLASS of serial {serial}")
            });
        }
    }

    pub(super) fn dump(&mut self, offset: u64, dump: &ClassDump, faults: &mut Faults) {
        if !self.table.add_dump(offset, dump) {
            faults.add(Rule::DuplicateClass, offset, || {
                format!("class {:#x} again", dump.class)
            });
        }
        if !dump.constants.is_empty() {
            faults.add(Rule::ConstantPool, offset, || {
                let (class, constants) = (dump.class, dump.constants.len());
                format!("class {class:#x} with {constants} constants")
            });
        }
        let fields = dump.statics.len().max(dump.fields.len());
        if fields >= FIELDS_END {
            faults.add(Rule::TooManyFields, offset, || {
                format!("class {:#x} with {fields} fields", dump.class)
            });
        }
    }

    /// Bytes of memory that the tables take.
    pub(super) fn held_bytes(&self) -> u64 {
        let tables = self.table.held_bytes() + self.serials.held_bytes();
        tables + self.citations.held_bytes() + entries(self.unloaded.len())
    }

    /// Checks what only the whole file shows; returns the table with computed layouts.
    pub(super) fn finish(
        mut self,
        strings: &StringTable,
        id_bytes: u32,
        incomplete: bool,
        faults: &mut Faults,
    ) -> ClassTable {
        self.table.resolve(id_bytes);
        if !incomplete {
            self.judge_serials(faults);
            for index in 0..self.table.len() {
                judge_class(&self.table, index, strings, faults);
            }
            if self.table.iter().any(|class| class.dump_offset.is_some()) {
                judge_names(&self.table, strings, faults);
            }
        }
        self.table
    }

    fn judge_serials(&mut self, faults: &mut Faults) {
        self.serials.judge(Rule::ClassSerialGap, "classes", faults);
        let citations = std::mem::take(&mut self.citations);
        citations.judge(Rule::ClassSerialMissing, faults, |serial| {
            format!("class serial {serial}, which is nowhere")
        });
        let classes = self.table.iter();
        let dumped = classes.filter(|class| class.dump_offset.is_some());
        let dumped: HashSet<u32> = dumped.filter_map(|class| class.serial).collect();
        for &(offset, serial) in &self.unloaded {
            if dumped.contains(&serial) {
                faults.add(Rule::UnloadedDumped, offset, || {
                    format!("UNLOAD CLASS of serial {serial}, whose class is in the dump")
                });
            }
        }
    }
}

fn judge_class(table: &ClassTable, index: usize, strings: &StringTable, faults: &mut Faults) {
    let class = table.at(index);
    let Some((class, offset)) = class.and_then(|class| Some((class, class.dump_offset?))) else {
        return;
    };
    let name = || table.java_name(class.id, strings);
    if class.serial.is_none() {
        faults.add(Rule::ClassNotLoaded, offset, || {
            format!("no LOAD CLASS for class {:#x}", class.id)
        });
    }
    judge_super(table, class, offset, strings, faults);
    match table.layout(index) {
        Layout::Complete { data_bytes, .. } if data_bytes != u64::from(class.instance_bytes) => {
            faults.add(Rule::InstanceSize, offset, || {
                let (name, said) = (name(), class.instance_bytes);
                format!("{name} has instance size {said}, its fields sum up to {data_bytes}")
            });
        }
        Layout::Cycle => faults.add(Rule::SuperCycle, offset, || {
            format!("the supers of {} go round in a circle", name())
        }),
        _ => {}
    }
}

fn judge_super(
    table: &ClassTable,
    class: &Class,
    offset: u64,
    strings: &StringTable,
    faults: &mut Faults,
) {
    let name = || table.java_name(class.id, strings);
    let known = strings.contains(class.name);
    if class.super_class == 0 {
        if known && !strings.is_class(class.name, OBJECT) {
            faults.add(Rule::SuperZero, offset, || {
                format!("{} has no super class", name())
            });
        }
    } else if !table.is_dumped(class.super_class) {
        faults.add(Rule::SuperMissing, offset, || {
            let (name, super_class) = (name(), class.super_class);
            format!("{name} has super class {super_class:#x}, which has no CLASS DUMP")
        });
    }
}

fn judge_names(table: &ClassTable, strings: &StringTable, faults: &mut Faults) {
    let mut core = [0_u32; CORE_CLASSES.len()];
    let mut primitive = [0_u32; PRIMITIVE_CLASSES.len()];
    for class in table.iter() {
        let Some(offset) = class.dump_offset else {
            continue;
        };
        let is = |name: &&str| strings.is_class(class.name, name);
        if let Some(count) = counted(&CORE_CLASSES, &mut core, is) {
            *count += 1;
            judge_dots(class, offset, strings, faults);
        } else if let Some(count) = counted(&PRIMITIVE_CLASSES, &mut primitive, is) {
            *count += 1;
            if *count > 1 {
                faults.add(Rule::DuplicatePrimitiveClass, offset, || {
                    format!("another class named {}", table.java_name(class.id, strings))
                });
            }
        }
    }
    let mut judge = |rule, names: &[&str], counts: &[u32]| {
        for (name, _) in names.iter().zip(counts).filter(|(_, count)| **count == 0) {
            faults.add(rule, 0, || format!("no CLASS DUMP of a class named {name}"));
        }
    };
    judge(Rule::CoreClassMissing, &CORE_CLASSES, &core);
    judge(Rule::PrimitiveClassMissing, &PRIMITIVE_CLASSES, &primitive);
}

/// Reports a class that readers look up by another spelling of its name.
fn judge_dots(class: &Class, offset: u64, strings: &StringTable, faults: &mut Faults) {
    let name = strings.text(class.name).unwrap_or_default();
    if name.contains('.') {
        faults.add(Rule::DottedName, offset, || {
            format!("{name} for {}", name.replace('.', "/"))
        });
    }
}

/// The counter of the class with this name.
fn counted<'c>(
    names: &[&str],
    counts: &'c mut [u32],
    is: impl Fn(&&str) -> bool,
) -> Option<&'c mut u32> {
    counts.get_mut(names.iter().position(is)?)
}
