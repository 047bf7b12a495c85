//! Converts a binary file to text.
//!
//! A first pass, [`Survey`], stores names, classes and stacks and counts the objects, for the first
//! line. Then the file is read again for the roots, for instances and arrays, and for the classes,
//! which come last in text. Memory is bounded by classes, strings and stacks.

pub mod heap_line;

mod error;
mod heap_text;
mod survey;

use std::io::{self, Write};

use format::ClassName;
use reader::{AllocSite, Damage, StackFrame};
use tables::profile::Method;
use tables::Line;

use crate::cpu::recorded_samples;
use crate::header::header;
use crate::sites::recorded_sites;
use crate::thread::{thread_end, thread_start};
use crate::trace::{trace, Frame};
use heap_text::HeapText;
use survey::{Profile, Survey, ThreadLine};

pub use error::TextError;
pub use reader::Open;
pub use survey::Settings;

/// The result of a conversion.
#[derive(Clone, Debug)]
pub struct Transcribed {
    /// Damaged places; the records there are not in the text.
    pub damaged: u64,
    /// The first of them, unless it is an object whose values do not match its class.
    pub first_damage: Option<Damage>,
    /// Whether the file has a record that ends its heap dump.
    pub is_ended: bool,
}

/// Converts a binary file to text: threads, traces, the heap dump if there is one, and profiles.
///
/// Reads the file up to four times, and up to seven times if only the thread objects contain the
/// names of threads.
pub fn transcribe(
    open: &mut Open<'_, '_>,
    settings: &Settings,
    out: &mut impl Write,
) -> Result<Transcribed, TextError> {
    let survey = Survey::take(open, settings)?;
    let mut transcribed = Transcribed {
        damaged: survey.damaged,
        first_damage: survey.first_damage,
        is_ended: survey.is_ended,
    };
    header(survey.at, out)?;
    threads(&survey, out)?;
    traces(&survey, out)?;
    if survey.has_heap {
        transcribed.damaged += HeapText::new(&survey).encode(open, settings.budget, out)?;
    }
    profiles(&survey, out)?;
    Ok(transcribed)
}

fn threads(survey: &Survey, out: &mut impl Write) -> io::Result<()> {
    for line in &survey.threads {
        match line {
            ThreadLine::Start(thread) => {
                let text = |id| survey.string(id);
                let (name, group) = (text(thread.name), text(thread.group));
                thread_start(thread.serial, thread.object, name, group, out)?;
            }
            ThreadLine::Named(thread, object, name) => {
                thread_start(*thread, *object, name.as_bytes(), b"", out)?;
            }
            ThreadLine::End(thread) => thread_end(*thread, out)?,
        }
    }
    Ok(())
}

fn traces(survey: &Survey, out: &mut impl Write) -> io::Result<()> {
    for &serial in &survey.traces {
        trace(serial, None, survey.stacks.frames(serial).map(frame), out)?;
    }
    Ok(())
}

fn frame(frame: &StackFrame) -> Frame<'_> {
    Frame {
        method: method(frame),
        source: frame.source.as_deref().unwrap_or_default().as_bytes(),
        line: match frame.line {
            format::LINE_NATIVE => Line::Native,
            number => u32::try_from(number).map_or(Line::Unknown, Line::Number),
        },
    }
}

fn method(frame: &StackFrame) -> Method<'_> {
    Method {
        class: ClassName::from_java(&frame.class),
        name: frame.method.as_bytes(),
    }
}

fn profiles(survey: &Survey, out: &mut impl Write) -> io::Result<()> {
    let class = |site: &AllocSite| survey.class_of_site(site);
    let top = |trace| survey.stacks.frames(trace).next().map(method);
    for profile in &survey.profiles {
        match profile {
            Profile::Sites(record) => recorded_sites(record, class, survey.at, out)?,
            Profile::Samples(record) => recorded_samples(record, top, survey.at, out)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
