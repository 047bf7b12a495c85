//! The first pass: names, classes, roots, and the id of each object.

use std::borrow::Borrow;

use format::{record as tag, BasicType, ObjectSizes, HEADER_GRAPH, RECORD_HEADER_BYTES};
use reader::{
    bytes_beyond, heap_bytes, record_starts, sub_records_follow, ClassDump, ClassInstances,
    Directory, Header, ReadError, Record, RecordHead, ReferenceWidth, Root, Sizes, Source, Version,
    BEYOND_BYTES_MAX, LOOK_BYTES, START_BYTES,
};

use crate::error::GraphError;
use crate::heap_scan::{scan, ScanEnd, OPEN_END};
use crate::id_list::IdList;
use crate::input::Input;
use crate::parts::{in_order, Checkpoint, PartPlace};
use crate::twins::Twins;
use crate::visitor::{id_at, u32_at, Head, Visitor};

/// The start of graph streams of all versions.
const GRAPH_MAGIC: &[u8] = b"HPROF-RS GRAPH ";

/// Bytes of the header of a graph stream: version, NUL, size of ids, time, four sizes.
const GRAPH_HEADER_BYTES: usize = HEADER_GRAPH.len() + 1 + 4 + 8 + 16;

/// Objects between two checkpoints, from which an object is found again.
const CHECKPOINT_OBJECTS: u64 = 1024;

/// Least memory for one part of the heap, in bytes.
const PART_BYTES: u64 = 256;

/// A class in the file, with the offset of its record.
#[derive(Debug)]
pub(crate) struct FileClass {
    pub(crate) offset: u64,
    pub(crate) dump: ClassDump,
    /// Its number as an object of the part.
    place: u64,
}

/// A HEAP DUMP or HEAP DUMP SEGMENT record and its contents.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Where it is; the numbers of objects are counted from its first.
    pub(crate) place: PartPlace,
    /// Ids of the objects in order.
    pub(crate) ids: IdList,
    pub(crate) roots: Vec<Root>,
    pub(crate) classes: Vec<FileClass>,
    pub(crate) class_instances: ClassInstances,
    /// The evidence for the width of references.
    pub(crate) width: ReferenceWidth,
    /// Whether it contains something that is not a sub-record; the rest is then not read.
    pub(crate) damaged: bool,
    /// The record of the last object.
    last: Checkpoint,
}

/// The result of the first pass.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) header: Header,
    /// The JVM's object layout in a stream; `None` for a dump.
    pub(crate) sizes: Option<Sizes>,
    pub(crate) directory: Directory,
    /// `java.lang.Class`, of which each part notes the instances.
    class_instances: ClassInstances,
    pub(crate) parts: Vec<Part>,
    /// Number of damaged places.
    pub(crate) damaged: u64,
}

impl Borrow<PartPlace> for Part {
    fn borrow(&self) -> &PartPlace {
        &self.place
    }
}

impl Part {
    /// A part that has not been read.
    fn new(start: u64, end: u64, class_instances: ClassInstances) -> Self {
        let place = PartPlace {
            start,
            end,
            ..PartPlace::default()
        };
        Self {
            place,
            class_instances,
            ..Self::default()
        }
    }

    fn object(&mut self, offset: u64, id: u64) {
        if offset != self.last.offset {
            self.last = Checkpoint {
                offset,
                first: u32::try_from(self.ids.count).unwrap_or(u32::MAX),
            };
        }
        if self.ids.count % CHECKPOINT_OBJECTS == 0 {
            self.place.checkpoints.push(self.last);
        }
        self.ids.push(id);
    }

    /// Removes classes from the objects. Returns their dumps.
    pub(crate) fn without(&mut self, is_wanted: impl Fn(u64) -> bool) -> Vec<ClassDump> {
        let all = std::mem::take(&mut self.classes).into_iter();
        let (removed, kept) = all.partition(|class| is_wanted(class.dump.class));
        self.classes = kept;
        let places: Vec<u64> = removed.iter().map(|class| class.place).collect();
        let before = |place: u64| places.partition_point(|removed| *removed < place);
        let mut ids = IdList::default();
        let stays = |(place, _): &(u64, u64)| places.binary_search(place).is_err();
        let all = (0..).zip(self.ids.iter()).filter(stays);
        all.for_each(|(_, id)| ids.push(id));
        self.ids = ids;
        for checkpoint in &mut self.place.checkpoints {
            let before = u32::try_from(before(checkpoint.first.into())).unwrap_or(u32::MAX);
            checkpoint.first = checkpoint.first.saturating_sub(before);
        }
        removed.into_iter().map(|class| class.dump).collect()
    }

    /// Reads the part's sub-records from the window, which is at its start.
    fn read(&mut self, window: &mut Source<'_>, id_bytes: u32) -> Result<(), GraphError> {
        let none = Twins::default();
        let scanned = scan(window, self.place.end, id_bytes, &none, self)?;
        self.damaged = scanned != ScanEnd::Whole;
        let offset = window.offset();
        let left = self.place.end.saturating_sub(offset);
        let is_cut = left == 0 || scanned == ScanEnd::Damaged(offset);
        if is_cut && self.place.end != OPEN_END && left < BEYOND_BYTES_MAX as u64 {
            // The length of the record may be false.
            let is_right = left == 0 && record_starts(window.look(START_BYTES)?, id_bytes);
            let length = match is_right {
                true => None,
                false => bytes_beyond(window.look(BEYOND_BYTES_MAX)?, left, id_bytes),
            };
            if let Some(length) = length {
                (self.place.end, self.damaged) = (offset.saturating_add(length), true);
                scan(window, self.place.end, id_bytes, &none, self)?;
            }
        }
        Ok(())
    }
}

impl Visitor for Part {
    const WANTS_DATA: bool = false;

    fn root(&mut self, root: Root) {
        self.roots.push(root);
    }

    fn class(&mut self, offset: u64, dump: ClassDump, _: Option<&[u8]>) {
        self.width.object(dump.class);
        let place = self.ids.count;
        self.object(offset, dump.class);
        self.classes.push(FileClass {
            offset,
            dump,
            place,
        });
    }

    fn instance(&mut self, offset: u64, head: Head, _: &[u8]) {
        self.width.object(head.object);
        self.class_instances.instance(head.object, head.class);
        self.object(offset, head.object);
    }

    fn array(&mut self, offset: u64, head: Head, length: u32, kind: BasicType) {
        let references = if kind == BasicType::Object { length } else { 0 };
        self.width.array(head.object, references);
        self.object(offset, head.object);
    }
}

/// Reads the whole file once; several threads read an uncompressed one. Stores the members of a
/// compressed file in `input`.
pub(crate) fn survey(input: &mut Input<'_>, threads: usize) -> Result<Survey, GraphError> {
    let (mut window, members) = input.first()?;
    let (header, sizes) = header(&mut window)?;
    let mut survey = Survey {
        header,
        sizes,
        directory: Directory::default(),
        class_instances: ClassInstances::default(),
        parts: Vec::new(),
        damaged: 0,
    };
    let budget = input.budget();
    while window.look(RECORD_HEADER_BYTES)?.len() >= RECORD_HEADER_BYTES {
        let head = RecordHead::read(&mut window)?;
        if head.tag == tag::HEAP_DUMP || head.tag == tag::HEAP_DUMP_SEGMENT {
            survey.part(&mut window, &head, input.is_packed())?;
            budget.allow((survey.parts.len() as u64).saturating_mul(PART_BYTES))?;
        } else {
            survey.record(&mut window, &head)?;
            survey.directory.allow(budget)?;
        }
    }
    if !window.look(1)?.is_empty() {
        survey.damaged += 1;
    }
    let read_bytes = window.offset();
    drop(window);
    if let Some(members) = members {
        input.learn(members.so_far(), read_bytes);
    }
    if !input.is_packed() {
        survey.read_parts(input, threads)?;
    }
    survey.damaged += survey.parts.iter().filter(|part| part.damaged).count() as u64;
    if survey.parts.is_empty() {
        return Err(GraphError::NoHeap);
    }
    Ok(survey)
}

impl Survey {
    /// A part of the heap: read now if the file is compressed, otherwise only recorded.
    fn part(
        &mut self,
        window: &mut Source<'_>,
        head: &RecordHead,
        is_packed: bool,
    ) -> Result<(), GraphError> {
        let start = window.offset();
        let end = start.saturating_add(heap_bytes(head.length, window.rest_of_file()));
        let mut part = Part::new(start, end, self.class_instances.clone());
        let id_bytes = self.header.id_bytes;
        if head.length == 0 && sub_records_follow(window.look(LOOK_BYTES)?, id_bytes) {
            part.place.end = OPEN_END;
            part.read(window, id_bytes)?;
            part.place.end = window.offset();
            let is_damaged = std::mem::take(&mut part.damaged);
            let goes_on = record_starts(window.look(START_BYTES)?, id_bytes);
            self.damaged += 1 + u64::from(is_damaged && !goes_on);
            if is_damaged && !goes_on {
                window.skip(u64::MAX)?;
            }
            self.parts.push(part);
            return Ok(());
        }
        // Where a record starts, the part ends, so that any thread can read it.
        let after = window.look_at::<START_BYTES>(part.place.end)?;
        if is_packed || after.is_some_and(|after| !record_starts(&after, id_bytes)) {
            part.read(window, id_bytes)?;
            if part.place.end != end {
                self.damaged += u64::from(std::mem::take(&mut part.damaged));
            }
        }
        let left = part.place.end.saturating_sub(window.offset());
        window.skip(left)?;
        if part.place.end > start {
            self.parts.push(part);
        }
        Ok(())
    }

    fn record(&mut self, window: &mut Source<'_>, head: &RecordHead) -> Result<(), GraphError> {
        let end = window.offset().saturating_add(head.length.into());
        window.set_limit(end);
        let read = Record::read(head.tag, window);
        window.set_limit(u64::MAX);
        match read {
            Ok(Some(record)) => {
                if let Record::LoadClass(load) = &record {
                    self.class_instances.load(load, &self.directory.strings);
                }
                self.directory.add(record);
            }
            Err(fault @ ReadError::Io { .. }) => return Err(fault.into()),
            Ok(None) | Err(_) => self.damaged += 1,
        }
        window.skip(end.saturating_sub(window.offset()))?;
        Ok(())
    }

    /// Reads all parts; each thread takes the next free one.
    fn read_parts(&mut self, input: &Input<'_>, threads: usize) -> Result<(), GraphError> {
        let id_bytes = self.header.id_bytes;
        let parts = std::mem::take(&mut self.parts);
        let read = |window: &mut Source<'_>, part: &Part| {
            let PartPlace { start, end, .. } = part.place;
            let mut part = Part::new(start, end, part.class_instances.clone());
            part.read(window, id_bytes)?;
            Ok(part)
        };
        in_order(input, &parts, threads, read, |part| {
            self.parts.push(part);
            Ok(())
        })
    }
}

fn header(window: &mut Source<'_>) -> Result<(Header, Option<Sizes>), GraphError> {
    let bytes = window.look(GRAPH_HEADER_BYTES)?;
    if !bytes.starts_with(GRAPH_MAGIC) {
        return Ok((Header::read(window)?, None));
    }
    let (header, sizes) = graph_header(bytes)?;
    window.set_id_bytes(header.id_bytes);
    window.advance(GRAPH_HEADER_BYTES);
    Ok((header, Some(sizes)))
}

/// The header of a graph stream: version, size of ids, time, four sizes of the JVM's layout.
fn graph_header(bytes: &[u8]) -> Result<(Header, Sizes), GraphError> {
    let rest = bytes.strip_prefix(HEADER_GRAPH);
    let rest = rest.and_then(|rest| rest.strip_prefix(&[0]));
    let rest = rest.ok_or(GraphError::OtherStream)?;
    if rest.len() < GRAPH_HEADER_BYTES - HEADER_GRAPH.len() - 1 || u32_at(rest, 0) != 8 {
        return Err(GraphError::OtherStream);
    }
    let header = Header {
        version: Version::V1_0_2,
        id_bytes: 8,
        time_millis: id_at::<8>(rest, 4),
    };
    let size = |place: usize| u64::from(u32_at(rest, 12 + place * 4));
    let sizes = ObjectSizes {
        header_bytes: size(0),
        array_header_bytes: size(1),
        value_header_bytes: size(1),
        reference_bytes: size(2),
        alignment_bytes: size(3),
    };
    Ok((header, Sizes::told(sizes, true)))
}
