//! The first pass over HotSpot's file: all that stands before and between the objects, and which objects there are.

use crate::{Surroundings, TranslateError};
use format::BasicType;
use reader::{
    ClassDump, DumpReader, Event, Frame, HeapRecord, IdSet, LoadClass, Record, Root, StringTable,
    Trace,
};
use rustc_hash::FxHashSet;
use std::collections::{HashMap, HashSet};

/// Objects between two looks at what memory is left.
const LOOK_OBJECTS: u64 = 1 << 20;

/// What HotSpot's file holds beside the objects.
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
    /// Each class once.
    pub(crate) classes: Vec<ClassDump>,
    /// Classes without a dump: HotSpot leaves out those that are not linked, and refers to them all the same.
    pub(crate) left_out: FxHashSet<u64>,
    /// The roots in the order of the file, to objects that are in it.
    pub(crate) roots: Vec<Root>,
    /// Everything that has a record, classes included.
    pub(crate) ids: IdSet,
    /// How many objects there are, classes not counted.
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

    /// Leaves out what refers to classes without a dump.
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
            // HotSpot writes no others that say anything.
            _ => {}
        }
    }
}

/// The object that a record is of; 0 for a root or a class.
pub(crate) fn object_id(record: &HeapRecord) -> u64 {
    match record {
        HeapRecord::Instance(instance) => instance.object,
        HeapRecord::ObjectArray(array) => array.object,
        HeapRecord::PrimitiveArray(array) => array.object,
        _ => 0,
    }
}
