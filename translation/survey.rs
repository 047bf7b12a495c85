//! The first pass over HotSpot's file: everything except the objects, and the objects' ids.

use crate::{Surroundings, TranslateError};
use format::BasicType;
use reader::{
    ClassDump, DumpReader, Event, Frame, HeapRecord, IdSet, LoadClass, Record, Root, StringTable,
    Trace,
};
use rustc_hash::FxHashSet;
use std::collections::{HashMap, HashSet};

/// Objects between two checks of the memory left.
const LOOK_OBJECTS: u64 = 1 << 20;

/// The contents of HotSpot's file except the objects.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// When HotSpot made it: milliseconds since 1970, UTC.
    pub(crate) millis_since_epoch: u64,
    /// Names, in modified UTF-8.
    pub(crate) strings: StringTable,
    /// Classes and their serial numbers; HotSpot up to 20 writes some twice.
    pub(crate) loaded: Vec<LoadClass>,
    /// The frames by id.
    pub(crate) frames: HashMap<u64, Frame>,
    /// The traces by serial number.
    pub(crate) traces: HashMap<u32, Trace>,
    /// The dumps of all classes, each once.
    pub(crate) classes: Vec<ClassDump>,
    /// Classes without a dump: HotSpot leaves out those that are not linked, but refers to them.
    pub(crate) left_out: FxHashSet<u64>,
    /// The roots in file order, restricted to objects in the file.
    pub(crate) roots: Vec<Root>,
    /// The ids of all objects with a record, including classes.
    pub(crate) ids: IdSet,
    /// Number of objects, without classes.
    pub(crate) objects: u64,
}

impl Survey {
    /// Reads the file.
    pub(crate) fn of(surroundings: &dyn Surroundings) -> Result<Self, TranslateError> {
        let mut dump = DumpReader::new(surroundings.open())?;
        let mut survey = Self {
            millis_since_epoch: dump.header().time_millis,
            ..Self::default()
        };
        let mut dumped = HashSet::new();
        while let Some(event) = dump.next_event()? {
            match event {
                Event::Record(_, record) => survey.note(record),
                Event::Heap(_, HeapRecord::Root(root)) => survey.roots.push(root),
                Event::Heap(_, HeapRecord::Class(class)) => {
                    survey.ids.insert(class.class);
                    // HotSpot up to 20 writes some twice.
                    if dumped.insert(class.class) {
                        survey.classes.push(*class);
                    }
                }
                Event::Heap(_, record) => {
                    survey.ids.insert(object_id(&record));
                    survey.objects += 1;
                    if survey.objects % LOOK_OBJECTS == 0 {
                        surroundings.show_life();
                        if let Some(left_bytes) = surroundings.too_little_memory() {
                            return Err(TranslateError::LittleMemory { left_bytes });
                        }
                    }
                }
                Event::HeapStart(_) | Event::HeapEnd => {}
                Event::Damage(damage) => {
                    return Err(TranslateError::Unreadable(damage.kind.to_string()))
                }
            }
        }
        survey.leave_out();
        Ok(survey)
    }

    /// Removes references to classes without a dump.
    fn leave_out(&mut self) {
        let (ids, loaded) = (&self.ids, self.loaded.iter().map(|loaded| loaded.class));
        self.left_out = loaded.filter(|&class| !ids.contains(class)).collect();
        self.roots.retain(|root| ids.contains(root.object));
        for class in &mut self.classes {
            for field in &mut class.statics {
                if field.kind == BasicType::Object && self.left_out.contains(&field.value) {
                    field.value = 0;
                }
            }
        }
    }

    fn note(&mut self, record: Record) {
        match record {
            Record::Utf8(string) => {
                self.strings.insert(string);
            }
            // A class that is being loaded has no class object yet, so nothing refers to it.
            Record::LoadClass(class) if class.class == 0 => {}
            Record::LoadClass(class) => self.loaded.push(class),
            Record::Frame(frame) => {
                self.frames.insert(frame.id, frame);
            }
            Record::Trace(trace) => {
                self.traces.insert(trace.serial, trace);
            }
            // HotSpot writes no other records of interest.
            _ => {}
        }
    }
}

/// The object of a record; 0 for a root or a class.
pub(crate) fn object_id(record: &HeapRecord) -> u64 {
    match record {
        HeapRecord::Instance(instance) => instance.object,
        HeapRecord::ObjectArray(array) => array.object,
        HeapRecord::PrimitiveArray(array) => array.object,
        _ => 0,
    }
}
