//! The last pass: copies all bytes, with zeros and stars as the survey determines.

use std::io::Write;

use crate::{ClassDump, DumpReader, Event, HeapRecord, Instance, Open, Record, RecordHead, Utf8};
use format::redaction::{Redacted as Word, Redaction};
use format::sub_record::{head_bytes, COUNT_BYTES, TAG_BYTES};
use format::{BasicType, JvmFacts, RECORD_HEADER_BYTES};

use super::blanks::Blanks;
use super::result::{next, RedactError, Redacted};
use super::survey::Survey;

/// Copies the file.
pub(crate) fn copy(
    open: &mut Open<'_, '_>,
    survey: &Survey<'_>,
    out: &mut dyn Write,
) -> Result<Redacted, RedactError> {
    let opened = open().map_err(|source| crate::ReadError::Io { offset: 0, source })?;
    let (blanks, listening) = Blanks::new(opened, out);
    let mut dump = DumpReader::new(listening)?;
    let mut copy = Copy {
        survey,
        id_bytes: u64::from(dump.header().id_bytes),
        blanks,
        redacted: Redacted {
            unmatched: survey.unmatched(),
            ..Redacted::default()
        },
    };
    copy.blanks.copy_to(dump.offset())?;
    let known = survey.redacted().and_then(Word::parse);
    if known.is_none_or(|known| known < survey.redaction.what) {
        let mark = mark(survey.redaction, dump.header().id_bytes);
        copy.blanks.add(&mark)?;
    }
    while let Some(event) = next(&mut dump)? {
        copy.event(&event, dump.offset());
        copy.blanks.copy_to(dump.offset())?;
        // The bytes of an object are copied in pieces, however large it is.
        while !dump.next_chunk()?.is_empty() {
            copy.blanks.copy_to(dump.offset())?;
        }
    }
    copy.blanks.copy_to(dump.offset())?;
    Ok(copy.redacted)
}

/// A STRING record that says which values the copy lacks. Nothing refers to its id.
fn mark(redaction: &Redaction, id_bytes: u32) -> Vec<u8> {
    let facts = JvmFacts::default().with_redaction(redaction.name());
    let mut records = Vec::new();
    for text in facts.texts() {
        // Each kind has its own: a copy may be redacted again.
        let id = (u64::MAX - redaction.what as u64).to_be_bytes();
        let skipped = id.len().saturating_sub(id_bytes as usize);
        let id = id.get(skipped..).unwrap_or(&id);
        let length = u32::try_from(id.len() + text.len()).unwrap_or(0);
        records.push(format::record::UTF8);
        records.extend_from_slice(&[0; 4]);
        records.extend_from_slice(&length.to_be_bytes());
        records.extend_from_slice(id);
        records.extend_from_slice(text.as_bytes());
    }
    records
}

struct Copy<'s, 'o> {
    survey: &'s Survey<'s>,
    id_bytes: u64,
    blanks: Blanks<'o>,
    redacted: Redacted,
}

impl Copy<'_, '_> {
    /// Plans the copy of a record whose data, if any, starts at `data`.
    fn event(&mut self, event: &Event, data: u64) {
        match event {
            Event::Record(head, Record::Utf8(text)) => self.text(head, text),
            Event::Heap(offset, HeapRecord::Class(class)) => self.class(*offset, class),
            Event::Heap(_, HeapRecord::Instance(instance)) => self.instance(instance, data),
            Event::Heap(_, HeapRecord::PrimitiveArray(array)) => {
                let bytes = HeapRecord::PrimitiveArray(*array).data_bytes(8);
                if bytes > 0 && !self.survey.keeps_elements(array.object) {
                    self.redacted.arrays += 1;
                    self.blanks.blank(data..data + bytes, 0);
                }
            }
            Event::Record(..) | Event::HeapStart(_) | Event::HeapEnd | Event::Damage(_) => {}
            Event::Heap(
                _,
                HeapRecord::Root(_)
                | HeapRecord::ObjectArray(_)
                | HeapRecord::NoData(_)
                | HeapRecord::HeapInfo(_),
            ) => {}
        }
    }

    fn text(&mut self, head: &RecordHead, text: &Utf8) {
        if let Some(secrets) = JvmFacts::secrets(&text.text) {
            let start = head.offset + RECORD_HEADER_BYTES as u64 + self.id_bytes;
            for place in secrets {
                let (from, to) = (start + place.start as u64, start + place.end as u64);
                self.blanks.blank(from..to, b'*');
            }
            return;
        }
        let names = self.survey.names.as_ref();
        if names.is_none_or(|names| names.contains(text.id)) {
            return;
        }
        let body = head.offset + RECORD_HEADER_BYTES as u64;
        let (start, end) = (body + self.id_bytes, body + u64::from(head.length));
        self.redacted.texts += u64::from(start < end);
        self.blanks.blank(start..end, b'*');
    }

    /// Redacts the constants and static fields of primitive types.
    fn class(&mut self, offset: u64, class: &ClassDump) {
        let id_bytes = u32::try_from(self.id_bytes).unwrap_or(8);
        let (count_bytes, type_bytes) = (u64::from(COUNT_BYTES), u64::from(TAG_BYTES));
        // The head has the counts of static fields and of fields, too, which stand later.
        let mut at = offset + u64::from(head_bytes::<ClassDump>(id_bytes)) - 2 * count_bytes;
        let name = self.survey.class_name(class.class);
        let mut is_redacted = false;
        for constant in &class.constants {
            // A constant has no name, so no rule matches it.
            let has_value = self.survey.planner().keeps_value(name, 0);
            at += count_bytes + type_bytes;
            is_redacted |= self.value(constant.kind, has_value, &mut at);
        }
        at += count_bytes;
        for field in &class.statics {
            let has_value = self.survey.planner().keeps_value(name, field.name);
            at += self.id_bytes + type_bytes;
            is_redacted |= self.value(field.kind, has_value, &mut at);
        }
        self.redacted.objects += u64::from(is_redacted);
    }

    /// Redacts a value at this offset, and moves the offset past it. Returns whether it becomes
    /// zeros.
    fn value(&mut self, kind: BasicType, has_value: bool, at: &mut u64) -> bool {
        let id_bytes = u32::try_from(self.id_bytes).unwrap_or(8);
        let end = *at + u64::from(kind.size_bytes(id_bytes));
        let is_redacted = kind != BasicType::Object && !has_value;
        if is_redacted {
            self.blanks.blank(*at..end, 0);
        }
        *at = end;
        is_redacted
    }

    fn instance(&mut self, instance: &Instance, data: u64) {
        let plan = self.survey.plan(instance.class);
        let bytes = u64::from(instance.data_bytes);
        if plan.data_bytes != Some(bytes) {
            let redaction = self.survey.redaction;
            if redaction.what < Word::Values && redaction.drop.is_empty() {
                return;
            }
            // Without the class's fields, it is unknown which bytes are values.
            self.redacted.objects += u64::from(bytes > 0);
            self.blanks.blank(data..data + bytes, 0);
            return;
        }
        self.redacted.objects += u64::from(!plan.blanks.is_empty());
        for place in &plan.blanks {
            self.blanks.blank(data + place.start..data + place.end, 0);
        }
    }
}
