//! The first pass: passes each record to the rules about it.

use super::class_rules::ClassRules;
use super::fault::Faults;
use super::framing::Framing;
use super::object_rules::ObjectRules;
use super::profile_rules;
use super::rule::Rule;
use super::string_rules::StringRules;
use super::thread_rules::ThreadRules;
use super::trace_rules::{TraceRules, LOAD_CLASS};
use crate::classes::ClassTable;
use crate::damage::{Damage, DamageKind};
use crate::dump::Event;
use crate::header::Header;
use crate::id_set::IdSet;
use crate::record::RecordHead;
use crate::strings::StringTable;
use format::record::{AllocSites, Frame, LoadClass, Record, StartThread};
use format::sub_record::{ClassDump, HeapRecord};

/// All rules that one pass can check.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    faults: &'a mut Faults,
    framing: Framing,
    strings: StringRules,
    classes: ClassRules,
    traces: TraceRules,
    threads: ThreadRules,
    objects: ObjectRules,
    incomplete: bool,
}

/// What the second pass needs from the first.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) classes: ClassTable,
    pub(super) strings: StringTable,
    pub(super) ids: IdSet,
    /// Whether something could not be decoded, so that a missing thing may not be a fault.
    pub(super) incomplete: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(header: &Header, faults: &'a mut Faults) -> Self {
        Self {
            framing: Framing::new(header, faults),
            faults,
            strings: StringRules::default(),
            classes: ClassRules::default(),
            traces: TraceRules::default(),
            threads: ThreadRules::default(),
            objects: ObjectRules::default(),
            incomplete: false,
        }
    }

    pub(super) fn event(&mut self, event: Event) {
        match event {
            Event::Record(head, record) => {
                self.framing.record(&head, self.faults);
                self.record(&head, record);
            }
            Event::HeapStart(head) => self.framing.heap_start(&head, self.faults),
            Event::Heap(offset, record) => {
                self.framing.sub_record();
                self.heap_record(offset, &record);
            }
            Event::HeapEnd => self.framing.heap_end(self.faults),
            Event::Damage(damage) => self.damage(damage),
        }
    }

    /// Bytes of memory that the tables take.
    pub(super) fn held_bytes(&self) -> u64 {
        let names = self.strings.held_bytes() + self.classes.held_bytes();
        let stacks = self.traces.held_bytes() + self.threads.held_bytes();
        names + stacks + self.objects.ids.held_bytes()
    }

    pub(super) fn finish(self, id_bytes: u32) -> Contents {
        let incomplete = self.incomplete;
        let has_heap = self.framing.heap_begun();
        self.framing.finish(incomplete, self.faults);
        if !incomplete {
            self.traces.finish(has_heap, self.faults);
            self.threads.finish(has_heap, self.faults);
        }
        let strings = self.strings.finish(incomplete, self.faults);
        Contents {
            classes: self
                .classes
                .finish(&strings, id_bytes, incomplete, self.faults),
            strings,
            ids: self.objects.ids,
            incomplete,
        }
    }

    fn damage(&mut self, damage: Damage) {
        let rule = match damage.kind {
            DamageKind::Truncated => Rule::Truncated,
            DamageKind::TrailingBytes => Rule::TrailingBytes,
            DamageKind::UnknownRecord { .. } => Rule::UnknownRecord,
            DamageKind::RecordTooShort { .. } => Rule::RecordTooShort,
            DamageKind::RecordTooLong { .. } => Rule::RecordTooLong,
            DamageKind::UnknownHeapRecord { .. } => Rule::UnknownHeapRecord,
            DamageKind::UnknownType { .. } => Rule::UnknownType,
            DamageKind::HeapRecordCut => Rule::HeapRecordCut,
            DamageKind::HeapLengthZero => Rule::HeapLengthZero,
            DamageKind::HeapLengthShort => Rule::HeapLengthShort,
        };
        self.incomplete |= matches!(
            damage.kind,
            DamageKind::Truncated
                | DamageKind::RecordTooShort { .. }
                | DamageKind::UnknownHeapRecord { .. }
                | DamageKind::UnknownType { .. }
                | DamageKind::HeapRecordCut
        );
        self.framing.sub_record();
        self.faults
            .add(rule, damage.offset, || damage.kind.to_string());
    }

    fn record(&mut self, head: &RecordHead, record: Record) {
        let at = head.offset;
        match record {
            Record::Utf8(string) => self.strings.define(at, string, self.faults),
            Record::LoadClass(load) => self.load_class(at, &load),
            Record::UnloadClass(class) => self.classes.unload(at, class.serial, self.faults),
            Record::Frame(frame) => self.frame(at, &frame),
            Record::Trace(trace) => {
                self.traces.trace(at, &trace, self.faults);
                if trace.thread_serial != 0 {
                    self.threads.cite(at, trace.thread_serial, "TRACE");
                }
            }
            Record::AllocSites(sites) => self.sites(at, &sites),
            Record::StartThread(start) => self.start_thread(at, &start),
            Record::EndThread(end) => self.threads.cite(at, end.serial, "END THREAD"),
            Record::CpuSamples(samples) => {
                profile_rules::samples(at, &samples, self.faults);
                for row in &samples.rows {
                    self.traces.cite(at, row.trace, "CPU SAMPLES", self.faults);
                }
            }
            Record::HeapSummary(summary) => profile_rules::summary(at, &summary, self.faults),
            Record::ControlSettings(settings) => profile_rules::control(at, settings, self.faults),
            Record::HeapDumpEnd(_) => {}
        }
    }

    fn load_class(&mut self, at: u64, load: &LoadClass) {
        self.strings.cite(at, load.name, LOAD_CLASS, self.faults);
        self.traces.cite(at, load.trace, LOAD_CLASS, self.faults);
        self.classes
            .load(at, load, self.framing.heap_begun(), self.faults);
    }

    fn frame(&mut self, at: u64, frame: &Frame) {
        self.strings.cite(at, frame.method, "FRAME", self.faults);
        self.strings.cite(at, frame.signature, "FRAME", self.faults);
        self.strings.cite_or_null(at, frame.source, "FRAME");
        self.classes.cite_serial(at, frame.class_serial, "FRAME");
        self.traces.frame(at, frame, self.faults);
    }

    fn sites(&mut self, at: u64, sites: &AllocSites) {
        profile_rules::sites(at, sites, self.faults);
        for site in &sites.sites {
            self.traces.cite(at, site.trace, "ALLOC SITES", self.faults);
            // The format allows 0 for classes that were used before they were announced.
            if site.class_serial != 0 {
                self.classes
                    .cite_serial(at, site.class_serial, "ALLOC SITES");
            }
        }
    }

    fn start_thread(&mut self, at: u64, start: &StartThread) {
        const BY: &str = "START THREAD";
        self.threads.start(at, start.serial);
        self.traces.cite(at, start.trace, BY, self.faults);
        self.strings.cite(at, start.name, BY, self.faults);
        self.strings.cite_or_null(at, start.group, BY);
        self.strings.cite_or_null(at, start.parent_group, BY);
    }

    fn heap_record(&mut self, at: u64, record: &HeapRecord) {
        let (object, trace) = match record {
            HeapRecord::Root(root) => {
                self.objects.root(at, root, self.faults);
                self.threads.root(at, root, &self.traces, self.faults);
                if let Some(trace) = root.trace {
                    self.traces.cite(at, trace, root.kind.name(), self.faults);
                }
                return;
            }
            HeapRecord::Class(dump) => return self.class_dump(at, dump),
            HeapRecord::HeapInfo(info) => {
                self.strings.cite(at, info.name, record.name(), self.faults);
                return self.android(at, record);
            }
            HeapRecord::Instance(instance) => (instance.object, instance.trace),
            HeapRecord::ObjectArray(array) => (array.object, array.trace),
            HeapRecord::PrimitiveArray(array) => (array.object, array.trace),
            HeapRecord::NoData(array) => {
                self.android(at, record);
                (array.object, array.trace)
            }
        };
        let is_class = || self.classes.table.is_dumped(object);
        self.objects.object(at, object, is_class, self.faults);
        self.traces.cite(at, trace, record.name(), self.faults);
    }

    fn class_dump(&mut self, at: u64, dump: &ClassDump) {
        const BY: &str = "CLASS DUMP";
        let known = self.classes.table.is_dumped(dump.class);
        self.objects.class(at, dump.class, known, self.faults);
        self.classes.dump(at, dump, self.faults);
        self.traces.cite(at, dump.trace, BY, self.faults);
        let names = dump.statics.iter().map(|field| field.name);
        for name in names.chain(dump.fields.iter().map(|field| field.name)) {
            self.strings.cite(at, name, BY, self.faults);
        }
    }

    fn android(&mut self, at: u64, record: &HeapRecord) {
        self.faults
            .add(Rule::AndroidRecord, at, || record.name().to_owned());
    }
}
