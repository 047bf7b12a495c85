//! Rules on the sequence of records: segments, their end, and records between them.

use format::record as tag;

use super::fault::Faults;
use super::rule::Rule;
use crate::header::{Header, Version};
use crate::record::RecordHead;
use format::record::Record;

/// Length of a heap record that signed 32-bit readers take as negative.
const HUGE_BYTES: u32 = 1 << 31;

/// The state of the run of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Run {
    #[default]
    NotBegun,
    Open,
    Ended {
        offset: u64,
    },
    /// Segments after an end: another dump if it gets its own end, otherwise the first end was
    /// misplaced.
    Again {
        end: u64,
        offset: u64,
    },
}

/// The file's structure so far.
#[derive(Debug, Default)]
pub(super) struct Framing {
    version: Version,
    run: Run,
    /// Records since the last segment; each is a fault if the run continues or ends.
    strays: Vec<RecordHead>,
    heap_dumps: u64,
    segments: u64,
    sub_records: u64,
    current: Option<RecordHead>,
    profile: bool,
    stacks: bool,
    summary: Option<u64>,
}

/// Most strays kept for the report; a run of them is one fault of the writer.
const STRAYS_MAX: usize = 1000;

impl Framing {
    pub(super) fn new(header: &Header, faults: &mut Faults) -> Self {
        if header.version == Version::V1_0_3 {
            faults.add(Rule::AndroidVersion, 0, || {
                "the header has version 1.0.3".to_owned()
            });
        }
        Self {
            version: header.version,
            ..Self::default()
        }
    }

    /// Whether a heap record has been seen.
    pub(super) fn heap_begun(&self) -> bool {
        self.heap_dumps + self.segments > 0
    }

    /// A record outside the heap.
    pub(super) fn record(&mut self, head: &RecordHead, faults: &mut Faults) {
        judge_time(head, faults);
        match head.tag {
            tag::HEAP_DUMP_END => self.end(head, faults),
            _ if self.run_is_open() && self.strays.len() < STRAYS_MAX => self.strays.push(*head),
            _ => {}
        }
        match head.tag {
            tag::HEAP_SUMMARY => self.summary = self.summary.or(Some(head.offset)),
            tag::CPU_SAMPLES | tag::ALLOC_SITES => self.profile = true,
            tag::TRACE => self.stacks = true,
            _ => {}
        }
    }

    pub(super) fn heap_start(&mut self, head: &RecordHead, faults: &mut Faults) {
        judge_time(head, faults);
        if head.length >= HUGE_BYTES {
            faults.add(Rule::HugeSegment, head.offset, || {
                format!("{} bytes", head.length)
            });
        }
        if head.tag == tag::HEAP_DUMP_SEGMENT {
            self.segment(head, faults);
        } else {
            self.heap_dump(head, faults);
        }
        self.current = Some(*head);
        self.sub_records = 0;
    }

    /// A sub-record, or damage in its place.
    pub(super) fn sub_record(&mut self) {
        self.sub_records += 1;
    }

    pub(super) fn heap_end(&mut self, faults: &mut Faults) {
        let empty = self.sub_records == 0;
        if let Some(head) = self.current.take().filter(|_| empty) {
            faults.add(Rule::EmptySegment, head.offset, || {
                format!("{} without sub-records", name(&head))
            });
        }
    }

    /// Checks what only the whole file shows; `incomplete` if its end may be missing.
    pub(super) fn finish(self, incomplete: bool, faults: &mut Faults) {
        match self.run {
            Run::Again { end, offset } => faults.add(Rule::HeapEndMisplaced, end, || {
                format!("a segment follows at {offset:#x}, and no other end")
            }),
            Run::Open if !incomplete => faults.add(Rule::NoHeapEnd, 0, || {
                format!("{} segments and no HEAP DUMP END after them", self.segments)
            }),
            _ => {}
        }
        let holds_something = self.heap_begun() || self.profile || self.summary.is_some();
        if !holds_something && !incomplete {
            let rule = if self.stacks {
                Rule::StacksAlone
            } else {
                Rule::NoHeap
            };
            faults.add(rule, 0, || {
                "no heap dump, samples, sites or summary".to_owned()
            });
        }
        if let Some(offset) = self.summary.filter(|_| self.heap_begun()) {
            faults.add(Rule::HeapSummary, offset, || {
                "HEAP SUMMARY in a file that holds a heap dump".to_owned()
            });
        }
    }

    fn run_is_open(&self) -> bool {
        matches!(self.run, Run::Open | Run::Again { .. })
    }

    fn segment(&mut self, head: &RecordHead, faults: &mut Faults) {
        if self.segments == 0 && self.version == Version::V1_0_1 {
            faults.add(Rule::SegmentVersion, head.offset, || {
                "the header has version 1.0.1, whose readers know HEAP DUMP only".to_owned()
            });
        }
        if self.segments == 0 && self.heap_dumps > 0 {
            faults.add(Rule::MixedDumpKinds, head.offset, || {
                "HEAP DUMP SEGMENT after a HEAP DUMP".to_owned()
            });
        }
        self.segments += 1;
        self.report_strays(faults);
        self.run = match self.run {
            Run::NotBegun => Run::Open,
            Run::Ended { offset: end } => Run::Again {
                end,
                offset: head.offset,
            },
            other => other,
        };
    }

    fn heap_dump(&mut self, head: &RecordHead, faults: &mut Faults) {
        if self.segments > 0 {
            faults.add(Rule::MixedDumpKinds, head.offset, || {
                "HEAP DUMP after a HEAP DUMP SEGMENT".to_owned()
            });
        }
        if self.heap_dumps > 0 {
            faults.add(Rule::SeveralDumps, head.offset, || {
                "another HEAP DUMP".to_owned()
            });
        }
        self.heap_dumps += 1;
    }

    fn end(&mut self, head: &RecordHead, faults: &mut Faults) {
        if head.length != 0 {
            faults.add(Rule::HeapEndLength, head.offset, || {
                format!("HEAP DUMP END with a body of {} bytes", head.length)
            });
        }
        match self.run {
            Run::Open => {}
            Run::Again { offset, .. } => faults.add(Rule::SeveralDumps, offset, || {
                "segments after HEAP DUMP END, with an end of their own".to_owned()
            }),
            Run::NotBegun => faults.add(Rule::HeapEndMisplaced, head.offset, || {
                "HEAP DUMP END without a segment before it".to_owned()
            }),
            Run::Ended { offset } => faults.add(Rule::HeapEndMisplaced, head.offset, || {
                format!("another HEAP DUMP END, the first at {offset:#x}")
            }),
        }
        self.report_strays(faults);
        self.run = Run::Ended {
            offset: head.offset,
        };
    }

    fn report_strays(&mut self, faults: &mut Faults) {
        for head in self.strays.drain(..) {
            faults.add(Rule::RecordBetweenSegments, head.offset, || {
                let name = name(&head);
                format!("{name} between the first segment and HEAP DUMP END")
            });
        }
    }
}

fn judge_time(head: &RecordHead, faults: &mut Faults) {
    if head.time_micros != 0 {
        faults.add(Rule::RecordTime, head.offset, || {
            let (name, micros) = (name(head), head.time_micros);
            format!("{name} with time {micros} µs, 0 expected")
        });
    }
}

fn name(head: &RecordHead) -> &'static str {
    Record::name_of(head.tag).unwrap_or("unknown record")
}
