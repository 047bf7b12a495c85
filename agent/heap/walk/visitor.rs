//! The walk: each reference and value that the JVM reports becomes part of a record, each object once.
//!
//! HotSpot reports all that an object holds in one piece, so a record is put together on the fly and
//! sent off when the next object begins. The specification does not promise it; an object that comes back
//! ends the dump with a clear line instead of a wrong file.

use super::class_values::{ClassValues, StaticValue};
use super::identity::Identity;
use super::late::LateObject;
use super::progress::Progress;
use super::shape::{overwrite, zeros, Content, Open, Shape};
use crate::heap::error::DumpError;
use crate::heap::facts::allocation_traces::{AllocationTraces, ObjectTraces};
use crate::heap::facts::catalogue::Catalogue;
use crate::heap::facts::kept_objects::AGENTS_TAG;
use crate::heap::facts::roots::{RootNotes, SystemRoots};
use crate::heap::memory_left::MemoryLeft;
use crate::jvmti::heap::{Primitive, PrimitiveField, Reference, TagCell, Target, Visit, Visitor};
use format::BasicType;
use std::collections::{HashMap, HashSet};
use tables::{ClassId, ObjectId, ObjectIndex, ObjectTable, Tables};
use writer::heap_record::{InstanceDump, ObjectArrayHeader, PrimitiveArrayHeader};
use writer::{ObjectsSender, Segments};

/// Objects after which the walk looks at the memory left: some 6 MB of tags and rows, some 40 ms.
const OBJECTS_BETWEEN_LOOKS: u32 = 1 << 16;

/// One walk over the heap. It runs on the VM thread; nothing else touches it meanwhile.
#[derive(Debug)]
pub(in crate::heap) struct Walk {
    identity: Identity,
    objects: ObjectTable,
    shapes: Vec<Shape>,
    first_look: usize,
    class_class: Option<ObjectIndex>,
    primitive_arrays: bool,
    memory_left: MemoryLeft,
    progress: Progress,
    roots: RootNotes,
    allocated: AllocationTraces,
    traces: ObjectTraces,
    class_values: HashMap<ObjectIndex, ClassValues>,
    new_mirrors: HashSet<ObjectIndex>,
    late: Vec<LateObject>,
    segments: Segments<ObjectsSender>,
    open: Option<Open>,
    spare: Vec<u8>,
    cut_arrays: u64,
    failure: Option<DumpError>,
}

/// What a walk leaves behind.
#[derive(Debug)]
pub(in crate::heap) struct Walked {
    /// Every object that was met.
    pub(in crate::heap) objects: ObjectTable,
    /// The roots.
    pub(in crate::heap) roots: RootNotes,
    /// What the classes hold, by mirror.
    pub(in crate::heap) class_values: HashMap<ObjectIndex, ClassValues>,
    /// Mirrors of classes that the catalogue did not know.
    pub(in crate::heap) new_mirrors: HashSet<ObjectIndex>,
    /// Who allocated what, as far as it was sampled.
    pub(super) traces: ObjectTraces,
    /// Instances of classes whose fields are not known yet.
    pub(super) late: Vec<LateObject>,
    /// Where the remaining objects go.
    pub(super) segments: Segments<ObjectsSender>,
    /// Arrays that were cut because their record would have passed 4 GiB.
    pub(in crate::heap) cut_arrays: u64,
}

impl Walk {
    /// Prepares a walk over the classes of the catalogue; records go to `segments`.
    pub(in crate::heap) fn new(
        catalogue: &Catalogue<'_>,
        tables: &Tables,
        identity: Identity,
        objects: ObjectTable,
        own_thread: Option<ObjectIndex>,
        primitive_arrays: bool,
        segments: Segments<ObjectsSender>,
    ) -> Self {
        Self {
            identity,
            objects,
            shapes: Shape::all(tables, catalogue),
            first_look: catalogue.first_look(),
            class_class: catalogue.mirror(catalogue.class_class()),
            primitive_arrays,
            memory_left: MemoryLeft::open(),
            progress: Progress::default(),
            roots: RootNotes::new(own_thread, SystemRoots::of(catalogue, tables)),
            allocated: AllocationTraces::default(),
            traces: ObjectTraces::default(),
            class_values: HashMap::new(),
            // Stacks of profiles have named classes that were loaded since the first look.
            new_mirrors: (catalogue.first_look()..catalogue.len())
                .filter_map(|number| catalogue.mirror(ClassId::from_index(number)?))
                .collect(),
            late: Vec::new(),
            segments,
            open: None,
            spare: Vec::new(),
            cut_arrays: 0,
            failure: None,
        }
    }

    /// Tells whose traces stand behind the tags of sampled objects. Before the walk.
    pub(in crate::heap) fn set_allocated(&mut self, allocated: AllocationTraces) {
        self.allocated = allocated;
    }

    /// Has it said every few seconds how far the walk is, if the user wants to know. Before the walk.
    pub(in crate::heap) fn tell_progress(&mut self, verbose: bool) {
        if verbose {
            self.progress = Progress::start();
        }
    }

    /// Ends the walk: sends the last object off, or tells what went wrong.
    pub(in crate::heap) fn finish(mut self) -> Result<Walked, DumpError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.close()?;
        Ok(Walked {
            objects: self.objects,
            roots: self.roots,
            class_values: self.class_values,
            new_mirrors: self.new_mirrors,
            traces: self.traces,
            late: self.late,
            segments: self.segments,
            cut_arrays: self.cut_arrays,
        })
    }

    fn step(
        &mut self,
        kind: Reference,
        target: Target,
        object: &TagCell,
        referrer: Option<&TagCell>,
    ) -> Result<(), DumpError> {
        let index = self.identify(target, object)?;
        let Some(referrer) = referrer else {
            if matches!(kind, Reference::Thread | Reference::Other) {
                // Threads are looked for by tag after the walk.
                object.set(index.tag());
            }
            self.roots.note(kind, target.class_tag, index);
            return Ok(());
        };
        let referrer = self.identity.referrer(referrer, object, index)?;
        if kind == Reference::Class {
            // Known already but for instances of classes that the catalogue has not met.
            if self
                .objects
                .get(referrer)
                .is_some_and(|row| row.class().is_none())
            {
                self.objects.set_class(referrer, index);
            }
        }
        self.open(referrer)?;
        self.put_reference(kind, index)
    }

    /// The object's index; at the first meeting it gets one.
    fn identify(&mut self, target: Target, object: &TagCell) -> Result<ObjectIndex, DumpError> {
        if let Some(index) = self.identity.known(object, target.size_bytes)? {
            return Ok(index);
        }
        let class = ObjectIndex::from_tag(target.class_tag);
        let index = self.objects.push(target.size_bytes, class, target.length)?;
        if let Some(trace) = self.allocated.of_tag(object.get()) {
            self.traces.set(index, trace);
        }
        let growth_bytes = self.identity.growth_bytes();
        if growth_bytes > 0 || index.get() % OBJECTS_BETWEEN_LOOKS == 0 {
            self.progress.note(u64::from(index.get()));
            self.look_at_memory(growth_bytes)?;
        }
        self.identity
            .remember(object, target.size_bytes, index, class)?;
        if class.is_some() && class == self.class_class {
            self.new_mirrors.insert(index);
        }
        Ok(index)
    }

    /// Ends the walk before the system has to end the process: after so many bytes more.
    fn look_at_memory(&self, more_bytes: u64) -> Result<(), DumpError> {
        match self.memory_left.too_little_for(more_bytes) {
            Some(left_bytes) => Err(DumpError::LittleMemory { left_bytes }),
            None => Ok(()),
        }
    }

    fn open(&mut self, index: ObjectIndex) -> Result<(), DumpError> {
        if self.open.as_ref().is_some_and(|open| open.index == index) {
            return Ok(());
        }
        self.close()?;
        let content = if self.is_mirror(index) {
            Content::Mirror
        } else if self.objects.mark_written(index) {
            self.content(index)?
        } else {
            return Err(DumpError::InPieces);
        };
        self.open = Some(Open { index, content });
        Ok(())
    }

    fn is_mirror(&self, index: ObjectIndex) -> bool {
        let is_class = || {
            self.objects
                .get(index)
                .is_some_and(|row| row.class() == self.class_class)
        };
        index.index() < self.first_look || (is_class() && self.new_mirrors.contains(&index))
    }

    fn content(&mut self, index: ObjectIndex) -> Result<Content, DumpError> {
        let row = self
            .objects
            .get(index)
            .ok_or(DumpError::Layout("an object"))?;
        let length = row.length().unwrap_or(0) as usize;
        let place = row.class().map(ObjectIndex::index);
        let shape =
            place.and_then(|place| Some((ClassId::from_index(place)?, self.shapes.get(place)?)));
        Ok(match shape {
            Some((class, Shape::Instance(layout))) => {
                let data = zeros(
                    layout.data_bytes() as usize,
                    std::mem::take(&mut self.spare),
                )?;
                Content::Instance { class, data }
            }
            Some((_, Shape::ObjectArray)) => Content::ObjectArray {
                elements: zeros(length * 8, std::mem::take(&mut self.spare))?,
            },
            Some((_, Shape::PrimitiveArray(element_type))) => Content::PrimitiveArray {
                element_type: *element_type,
                told: false,
            },
            Some((_, Shape::Unknown)) | None => Content::Late(Vec::new()),
        })
    }

    fn put_reference(&mut self, kind: Reference, target: ObjectIndex) -> Result<(), DumpError> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let id = self
            .objects
            .id(target)
            .map_or(0, ObjectId::get)
            .to_be_bytes();
        match (&mut open.content, kind) {
            (Content::Mirror, _) => {
                self.class_values
                    .entry(open.index)
                    .or_default()
                    .refer(kind, target);
                Ok(())
            }
            (Content::Instance { class, data }, Reference::Field(field)) => {
                let offset = slot(&self.shapes, *class, field, BasicType::Object)?;
                overwrite(data, offset, &id)
            }
            (Content::ObjectArray { elements }, Reference::ArrayElement(element)) => {
                overwrite(elements, element as usize * 8, &id)
            }
            (Content::Late(values), Reference::Field(place) | Reference::ArrayElement(place)) => {
                values.push((place, StaticValue::Reference(target)));
                Ok(())
            }
            (_, Reference::Class) => Ok(()),
            _ => Err(DumpError::Layout("a reference")),
        }
    }

    fn put_primitive(&mut self, object: &TagCell, field: PrimitiveField) -> Result<(), DumpError> {
        let index = self.identity.owner(object)?;
        self.open(index)?;
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let value = StaticValue::Primitive(field.value);
        match &mut open.content {
            Content::Mirror if field.is_static => {
                self.class_values
                    .entry(index)
                    .or_default()
                    .statics
                    .push((field.index, value));
                Ok(())
            }
            Content::Instance { class, data } if !field.is_static => {
                let offset = slot(&self.shapes, *class, field.index, field.value.basic_type)?;
                put_value(data, offset, field.value)
            }
            Content::Late(values) => {
                values.push((field.index, value));
                Ok(())
            }
            _ => Err(DumpError::Layout("a value")),
        }
    }

    fn put_array(
        &mut self,
        object: &TagCell,
        found: BasicType,
        bytes: &[u8],
    ) -> Result<(), DumpError> {
        let index = self.identity.owner(object)?;
        self.open(index)?;
        match self.open.as_mut().map(|open| &mut open.content) {
            Some(Content::PrimitiveArray { element_type, told }) if *element_type == found => {
                *told = true
            }
            _ => return Err(DumpError::Layout("an array")),
        }
        self.write_primitive_array(index, found, bytes)
    }

    fn write_primitive_array(
        &mut self,
        index: ObjectIndex,
        element_type: BasicType,
        elements: &[u8],
    ) -> Result<(), DumpError> {
        let Some(object) = self.objects.id(index) else {
            return Ok(());
        };
        let header = PrimitiveArrayHeader {
            object,
            trace: self.traces.of(index),
            element_type,
        };
        let missing = self.segments.primitive_array(&header, elements)?;
        self.cut_arrays += u64::from(missing > 0);
        Ok(())
    }

    /// Writes an array whose elements are not wanted: only their number goes into the file.
    fn write_zeros(
        &mut self,
        index: ObjectIndex,
        element_type: BasicType,
        length: u32,
    ) -> Result<(), DumpError> {
        let Some(object) = self.objects.id(index) else {
            return Ok(());
        };
        let header = PrimitiveArrayHeader {
            object,
            trace: self.traces.of(index),
            element_type,
        };
        let missing = self.segments.zeroed_array(&header, length)?;
        self.cut_arrays += u64::from(missing > 0);
        Ok(())
    }

    /// Sends the open object off.
    fn close(&mut self) -> Result<(), DumpError> {
        let Some(Open { index, content }) = self.open.take() else {
            return Ok(());
        };
        let class = self.objects.get(index).and_then(|row| row.class());
        let ids = self
            .objects
            .id(index)
            .zip(class.and_then(|class| self.objects.id(class)));
        match (content, ids) {
            (Content::Mirror, _) => {}
            (Content::Instance { data, .. }, Some((object, class))) => {
                let record = InstanceDump {
                    object,
                    trace: self.traces.of(index),
                    class,
                    data: &data,
                };
                self.segments.record(|out| record.encode(out))?;
                self.spare = data;
            }
            (Content::ObjectArray { elements }, Some((object, class))) => {
                let header = ObjectArrayHeader {
                    object,
                    trace: self.traces.of(index),
                    class,
                };
                let missing = self.segments.object_array(&header, &elements)?;
                self.cut_arrays += u64::from(missing > 0);
                self.spare = elements;
            }
            (Content::PrimitiveArray { told: true, .. }, _) => {}
            (Content::PrimitiveArray { element_type, .. }, _) => {
                let length = self
                    .objects
                    .get(index)
                    .and_then(|row| row.length())
                    .unwrap_or(0);
                if length > 0 && self.primitive_arrays {
                    return Err(DumpError::Layout("an array without the elements"));
                }
                self.write_zeros(index, element_type, length)?;
            }
            (Content::Late(values), _) => self.late.push(LateObject { index, values }),
            (_, None) => return Err(DumpError::Layout("an object")),
        }
        Ok(())
    }

    fn answer(&mut self, result: Result<(), DumpError>) -> Visit {
        match result {
            Ok(()) => Visit::On,
            Err(failure) => {
                self.failure.get_or_insert(failure);
                Visit::Abort
            }
        }
    }
}

/// Where a field of this type lies in the data of an instance; an error if the class has none there.
fn slot(
    shapes: &[Shape],
    class: ClassId,
    field: u32,
    found: BasicType,
) -> Result<usize, DumpError> {
    match shapes.get(class.index()) {
        Some(Shape::Instance(layout)) => layout
            .slot(field)
            .filter(|slot| slot.basic_type == found)
            .map(|slot| slot.offset_bytes as usize)
            .ok_or(DumpError::Layout("a field")),
        _ => Err(DumpError::Layout("a field")),
    }
}

/// Writes a primitive value, big-endian, at `offset`.
pub(super) fn put_value(data: &mut [u8], offset: usize, value: Primitive) -> Result<(), DumpError> {
    // Readers want a boolean to be 0 or 1; native code may have stored anything.
    let bits = if value.basic_type == BasicType::Boolean {
        u64::from(value.bits != 0)
    } else {
        value.bits
    };
    let bytes = bits.to_be_bytes();
    let width = value.basic_type.size_bytes(8) as usize;
    overwrite(
        data,
        offset,
        bytes.get(bytes.len() - width..).unwrap_or(&bytes),
    )
}

impl Visitor for Walk {
    fn reference(
        &mut self,
        kind: Reference,
        target: Target,
        object: &TagCell,
        referrer: Option<&TagCell>,
    ) -> Visit {
        let is_root = referrer.is_none();
        // What else refers to the object has the walk visit it.
        let is_left_out = || self.roots.is_left_out(kind, target.class_tag);
        if is_root && (object.get() == AGENTS_TAG || is_left_out()) {
            return Visit::Past;
        }
        let result = self.step(kind, target, object, referrer);
        self.answer(result)
    }

    fn primitive_field(&mut self, object: &TagCell, field: PrimitiveField) -> Visit {
        let result = self.put_primitive(object, field);
        self.answer(result)
    }

    fn primitive_array(
        &mut self,
        object: &TagCell,
        basic_type: BasicType,
        elements: &[u8],
    ) -> Visit {
        let result = self.put_array(object, basic_type, elements);
        self.answer(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::{ClassRow, Field, InstanceLayout};
    use writer::{DumpFile, Existing};

    /// Tags of the classes in [`Scene::new`], as the JVM would give them.
    const CLASS: i64 = 1;
    const NODE: i64 = 2;
    const NODES: i64 = 3;
    const INTS: i64 = 4;

    /// A walk over four classes whose objects go into a file of its own.
    struct Scene {
        walk: Walk,
        // Kept so that the objects have somewhere to go.
        _file: DumpFile,
        _folder: tempfile::TempDir,
    }

    impl Scene {
        /// `Class`, `Node { Node next; int value; }`, `Node[]`, `int[]`.
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let target = writer::Target {
                path: folder.path().join("out.hprof"),
                existing: Existing::Replace,
                gzip: None,
            };
            let file = DumpFile::create(target).expect("a file");
            let tables = Tables::new();
            let name = tables.strings.intern(b"name");
            let field = |basic_type| Field {
                name,
                basic_type,
                is_primitive_array: false,
                is_static: false,
            };
            let node = tables.classes.add(ClassRow {
                signature: name,
                name,
                loader: None,
                super_class: None,
                interfaces: Vec::new(),
                fields: Some(vec![field(BasicType::Object), field(BasicType::Int)]),
            });
            let layout = || InstanceLayout::of(&tables.classes, node).expect("a layout");
            let mut objects = ObjectTable::new();
            for _ in 0..4 {
                objects.push(16, None, None).expect("room");
            }
            let walk = Walk {
                identity: Identity::Tags,
                objects,
                shapes: vec![
                    Shape::Instance(layout()),
                    Shape::Instance(layout()),
                    Shape::ObjectArray,
                    Shape::PrimitiveArray(BasicType::Int),
                ],
                first_look: 4,
                class_class: ObjectIndex::from_tag(CLASS),
                primitive_arrays: true,
                memory_left: MemoryLeft::open(),
                progress: Progress::default(),
                roots: RootNotes::new(None, SystemRoots::default()),
                allocated: AllocationTraces::default(),
                traces: ObjectTraces::default(),
                class_values: HashMap::new(),
                new_mirrors: HashSet::new(),
                late: Vec::new(),
                segments: Segments::new(file.objects_sender()),
                open: None,
                spare: Vec::new(),
                cut_arrays: 0,
                failure: None,
            };
            Self {
                walk,
                _file: file,
                _folder: folder,
            }
        }

        /// Reports a reference from `referrer` (0: a root) to `object`, a new one where that is 0; its tag.
        fn refer(
            &mut self,
            kind: Reference,
            referrer: i64,
            object: i64,
            class_tag: i64,
        ) -> (Visit, i64) {
            let (mut from, mut to) = (referrer, object);
            let target = Target {
                class_tag,
                size_bytes: 24,
                length: Some(3),
            };
            let referrer = (from != 0).then_some(TagCell::for_test(&mut from));
            let visit =
                self.walk
                    .reference(kind, target, &TagCell::for_test(&mut to), referrer.as_ref());
            (visit, to)
        }

        fn value(&mut self, object: i64, index: u32, basic_type: BasicType, bits: u64) -> Visit {
            let mut tag = object;
            let field = PrimitiveField {
                index,
                is_static: false,
                value: Primitive { basic_type, bits },
            };
            self.walk
                .primitive_field(&TagCell::for_test(&mut tag), field)
        }

        fn failure(self) -> Option<DumpError> {
            self.walk.finish().err()
        }
    }

    #[test]
    fn an_instance_is_put_together_from_its_values() {
        let mut scene = Scene::new();
        let (_, first) = scene.refer(Reference::JniGlobal, 0, 0, NODE);
        let (_, second) = scene.refer(Reference::Field(0), first, 0, NODE);
        assert_eq!((first, second), (5, 6));
        assert_eq!(
            scene.value(first, 1, BasicType::Int, 0xFFFF_FFFE),
            Visit::On
        );
        let second = ObjectIndex::from_tag(second).expect("a tag");
        let mut expected = scene
            .walk
            .objects
            .id(second)
            .expect("an id")
            .get()
            .to_be_bytes()
            .to_vec();
        expected.extend([0xFF, 0xFF, 0xFF, 0xFE]);
        match &scene.walk.open.as_ref().expect("an open object").content {
            Content::Instance { data, .. } => assert_eq!(data, &expected),
            other => panic!("{other:?}"),
        }
        assert_eq!(scene.failure(), None);
    }

    #[test]
    fn nulls_of_an_array_are_kept() {
        let mut scene = Scene::new();
        let (_, array) = scene.refer(Reference::JniGlobal, 0, 0, NODES);
        scene.refer(Reference::Class, array, NODES, CLASS);
        scene.refer(Reference::ArrayElement(1), array, 0, NODE);
        match &scene.walk.open.as_ref().expect("an open object").content {
            Content::ObjectArray { elements } => {
                assert_eq!(elements.len(), 24);
                assert_eq!(elements[..8], [0; 8]);
                assert_ne!(elements[8..16], [0; 8]);
                assert_eq!(elements[16..], [0; 8]);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_agents_own_objects_do_not_belong_to_the_heap() {
        let mut scene = Scene::new();
        let met = scene.walk.objects.len();
        let visit = scene.refer(Reference::JniGlobal, 0, AGENTS_TAG, NODES);
        assert_eq!(visit, (Visit::Past, AGENTS_TAG));
        assert_eq!(scene.walk.objects.len(), met);
        assert_eq!(scene.walk.roots.objects().count(), 0);
        assert_eq!(scene.failure(), None);
    }

    #[test]
    fn an_object_that_comes_back_ends_the_walk() {
        let mut scene = Scene::new();
        let (_, first) = scene.refer(Reference::JniGlobal, 0, 0, NODE);
        let (_, second) = scene.refer(Reference::Field(0), first, 0, NODE);
        assert_eq!(scene.value(second, 1, BasicType::Int, 1), Visit::On);
        assert_eq!(scene.value(first, 1, BasicType::Int, 1), Visit::Abort);
        assert_eq!(scene.failure(), Some(DumpError::InPieces));
    }

    #[test]
    fn a_field_that_is_not_in_the_class_ends_the_walk() {
        for (index, basic_type) in [
            (2, BasicType::Int),
            (0, BasicType::Int),
            (1, BasicType::Long),
        ] {
            let mut scene = Scene::new();
            let (_, object) = scene.refer(Reference::JniGlobal, 0, 0, NODE);
            assert_eq!(scene.value(object, index, basic_type, 1), Visit::Abort);
            assert_eq!(scene.failure(), Some(DumpError::Layout("a field")));
        }
    }

    #[test]
    fn an_array_without_its_elements_is_refused() {
        let mut scene = Scene::new();
        let (_, array) = scene.refer(Reference::JniGlobal, 0, 0, INTS);
        scene.refer(Reference::Class, array, INTS, CLASS);
        assert_eq!(
            scene.failure(),
            Some(DumpError::Layout("an array without the elements"))
        );
    }

    #[test]
    fn instances_of_a_class_that_was_loaded_since_are_kept_for_later() {
        let mut scene = Scene::new();
        let (_, object) = scene.refer(Reference::JniGlobal, 0, 0, 0);
        let (_, mirror) = scene.refer(Reference::Class, object, 0, CLASS);
        scene.value(object, 7, BasicType::Int, 9);
        let walked = scene.walk.finish().expect("a walk");
        let mirror = ObjectIndex::from_tag(mirror).expect("a tag");
        assert!(walked.new_mirrors.contains(&mirror));
        assert_eq!(
            walked
                .objects
                .get(walked.late[0].index)
                .and_then(|row| row.class()),
            Some(mirror)
        );
        assert_eq!(walked.late[0].values.len(), 1);
    }

    #[test]
    fn a_class_keeps_its_values_by_kind() {
        let mut scene = Scene::new();
        let (_, domain) = scene.refer(Reference::ProtectionDomain, NODE, 0, NODE);
        scene.refer(Reference::ConstantPool(12), NODE, domain, NODE);
        scene.refer(Reference::StaticField(3), NODE, domain, NODE);
        scene.refer(Reference::Superclass, NODE, CLASS, CLASS);
        let index = |tag| ObjectIndex::from_tag(tag).expect("a tag");
        let values = &scene.walk.class_values[&index(NODE)];
        assert_eq!(values.protection_domain, Some(index(domain)));
        assert_eq!(values.constant_pool, [(12, index(domain))]);
        assert_eq!(values.statics, [(3, StaticValue::Reference(index(domain)))]);
    }
}
