//! Decodes and checks HPROF heap dumps: versions 1.0.1, 1.0.2 and Android's 1.0.3, uncompressed or
//! gzip.
//!
//! [`DumpReader`] returns a file's records as events, sequentially and in little memory. Built on
//! it are [`check()`] (is the file valid?), [`summarize`] (what does it contain?), [`Histogram`]
//! (objects by class), [`Profiles`] (allocation sites and CPU time), which also reads
//! text profiles, with [`TextReader`]. [`redact()`] copies a file without its values. Files may be
//! hostile: no length or count in a file is trusted for allocation, a text to which many records
//! refer is stored once, and the memory for everything stored has a limit, [`Budget`].
#![forbid(unsafe_code)]

pub mod command;

mod budget;
mod check;
mod classes;
mod cpu_table;
mod damage;
mod directory;
mod dump;
mod dumped_sites;
mod dumps_in_file;
mod error;
mod field_place;
mod gather;
mod header;
mod heap_length;
mod heap_places;
mod heap_totals;
mod histogram;
mod id_set;
mod input;
mod java_text;
mod live_sites;
mod members;
mod names;
mod object_sums;
mod opened;
mod plain_file;
mod profiles;
mod read_ahead;
mod record;
mod redact;
mod reference_width;
mod sites;
mod sizes;
mod source;
mod stacks;
mod strings;
mod stripped;
mod summary;
mod tee;
mod text;
mod thread_names;
mod twins;
mod unpacking;

pub use budget::Budget;
pub use check::fault::{Fault, Report, RuleTotal};
pub use check::origin::Origin;
pub use check::rule::{Rule, Severity};
pub use check::{check, CheckOptions};
pub use classes::{Class, ClassTable, Layout};
pub use cpu_table::{CpuKind, CpuRow, CpuTable};
pub use damage::{Damage, DamageKind};
pub use directory::Directory;
pub use dump::{DumpReader, Event, Open};
pub use dumps_in_file::{copy_one_dump, dumps_in_file, dumps_in_stream};
pub use error::ReadError;
pub use field_place::{big_endian, FieldPlace};
pub use format::record::{
    AllocSite, AllocSites, ControlSettings, CpuSample, CpuSamples, EndThread, Frame, HeapDumpEnd,
    HeapSummary, LoadClass, Record, StartThread, Trace, UnloadClass, Utf8,
};
pub use format::sub_record::{
    ClassDump, Field, HeapInfo, HeapRecord, Instance, ObjectArray, PrimitiveArray, Static,
};
pub use format::{Root, RootKind};
pub use header::{Header, Version};
pub use heap_length::{
    bytes_beyond, heap_bytes, record_starts, sub_record, sub_records_follow, BEYOND_BYTES_MAX,
    CLASS_BYTES_MAX, LOOK_BYTES, START_BYTES,
};
pub use heap_places::HeapPlaces;
pub use heap_totals::KindTotal;
pub use histogram::{Histogram, HistogramRow};
pub use id_set::IdSet;
pub use input::{members_ahead, opened, opened_ahead, unpacked};
pub use java_text::{is_redacted, JavaText, REDACTED_NAME};
pub use live_sites::{Counted, Stratum};
pub use members::{FoundMembers, Members};
pub use opened::Opened;
pub use plain_file::{At, PlainFile};
pub use profiles::Profiles;
pub use record::RecordHead;
pub use redact::{redact, RedactError, Redacted};
pub use reference_width::ReferenceWidth;
pub use sites::{Amount, Site, SiteTable};
pub use sizes::Sizes;
pub use source::Source;
pub use stacks::{StackFrame, Stacks};
pub use strings::StringTable;
pub use stripped::is_stripped;
pub use summary::{summarize, Summary, ThreadSummary};
pub use tee::Tee;
pub use text::{TextEvent, TextReader};
pub use thread_names::{thread_names, thread_names_at};
pub use twins::{ClassInstances, CLASS_OF_CLASSES};
