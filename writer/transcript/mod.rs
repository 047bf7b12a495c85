//! A heap dump's records, once they are all there, as text (`format=a`): the contents page.
//!
//! [`Records`] reads back what we wrote, [`heap_records`] the parts of a heap dump. A first look, [`Survey`], keeps
//! names, classes and stacks and counts the objects, for the first line; then the file is read again for the roots,
//! for instances and arrays, and for the classes, which come last in text. Memory is bounded by classes, strings and stacks.

mod classes;
mod heap_records;
mod heap_text;
mod names;
mod object_sizes;
mod records;
mod site_rows;
mod survey;

use std::io::{self, Read, Seek, Write};
use std::path::Path;

use heap_text::HeapText;
use records::Records;
use survey::{FrameRecord, Survey};

use crate::profile::Method;
use crate::sink::failed;
use crate::text::{Frame, Header, Report, TextStream, ThreadStart, Trace};
use crate::{Deliver, WriteError};

pub use object_sizes::ObjectSizes;

/// Writes a file of records as text, its dates in local time, which is ahead of UTC by so many seconds.
///
/// `path` is named if the records cannot be read; other errors are the receiver's.
pub(crate) fn transcribe(
    records: impl Read + Seek,
    path: &Path,
    sizes: &ObjectSizes,
    utc_offset_seconds: i32,
    deliver: impl Deliver,
) -> Result<(), WriteError> {
    let mut out = TextStream::new(deliver);
    let written = write(
        &mut Records::new(records),
        sizes,
        utc_offset_seconds,
        &mut out,
    );
    // An error of the receiver's is the first, and what `written` tells as well.
    out.finish()?;
    written.map_err(|error| failed(path, "being read back", &error))
}

fn write<R: Read + Seek>(
    records: &mut Records<R>,
    sizes: &ObjectSizes,
    utc_offset_seconds: i32,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut survey = Survey::take(records, sizes, utc_offset_seconds)?;
    Header { created: survey.at }.encode(out)?;
    let mut report = Report::new();
    report.begin_dump(out)?;
    for thread in &survey.threads {
        let start = ThreadStart {
            thread: thread.thread,
            object: Some(thread.object),
            name: survey.names.get(thread.name),
            group: survey.names.get(thread.group),
        };
        report.thread_start(&start, out)?;
    }
    traces(&survey, &mut report, out)?;
    HeapText::new(records, &mut survey, sizes).encode(out)?;
    match &survey.sites {
        Some(sites) => sites.encode(&survey.classes, &survey.names, survey.at, out),
        None => Ok(()),
    }
}

fn traces(survey: &Survey, report: &mut Report, out: &mut impl Write) -> io::Result<()> {
    for (serial, numbers) in &survey.traces {
        let known = numbers
            .iter()
            .filter_map(|number| survey.frames.get(number));
        let frames: Vec<Frame<'_>> = known.map(|record| frame(record, survey)).collect();
        let trace = Trace {
            serial: *serial,
            thread: None,
            phase: None,
            frames: &frames,
        };
        report.trace(&trace, out)?;
    }
    Ok(())
}

fn frame<'s>(record: &FrameRecord, survey: &'s Survey) -> Frame<'s> {
    Frame {
        method: Method {
            class: survey.classes.name_of_serial(record.class, &survey.names),
            name: survey.names.get(record.method),
        },
        source: survey.names.get(record.source),
        line: record.line,
    }
}

#[cfg(test)]
mod tests;
