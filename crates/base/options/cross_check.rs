//! Combinations of options that are rejected.

use super::{
    names_binary, refused, Destination, OptionError, Product, Said, StopTheWorld, TimesLayout, Word,
};
use format::redaction::Redacted;

/// The combinations that the JDK's agent rejected, in its order and words.
pub(super) fn cross_check(said: &Said) -> Result<(), OptionError> {
    if said.format == Some('b') && said.cpu_times.is_some() {
        return refused("format=b: cpu=times|old is not supported with format=b");
    }
    if said.format == Some('b') && said.options.monitors {
        return refused("format=b: monitor=y is not supported with format=b");
    }
    Ok(())
}

/// Rejects contradictions, and binary output of what has no binary form.
pub(super) fn refuse(said: &Said) -> Result<(), OptionError> {
    refuse_redaction(said)?;
    refuse_stream(said)?;
    refuse_kept(said)?;
    refuse_unmade(said)?;
    match text_only(said) {
        Some(what) if said.format.is_none() => must_be_text(said, what),
        _ => Ok(()),
    }
}

/// Rejects what would not be redacted.
fn refuse_redaction(said: &Said) -> Result<(), OptionError> {
    let redaction = &said.options.redaction;
    if !redaction.keep.is_empty() && redaction.what == Redacted::Nothing {
        return refused(
            "keep= has no effect without redact=, which keeps everything; add redact=, or leave keep= out",
        );
    }
    if said.options.stop_the_world != StopTheWorld::Always || !said.options.leaves_out_values() {
        return Ok(());
    }
    refused(
        "stop=always cannot be redacted: HotSpot's own dumper writes all values; leave stop=always out, or leave \
         redact=, drop=, primfields= and primarrays= out and let hprof convert --redact make a copy of the dump",
    )
}

/// Rejects `files=` where no binary dump file is written.
fn refuse_kept(said: &Said) -> Result<(), OptionError> {
    if said.options.kept.is_none() {
        return Ok(());
    }
    let other = match said.format {
        Some('a') => "format=a",
        _ if matches!(said.destination, Some(Destination::Net(_))) => "net=",
        _ if matches!(said.destination, Some(Destination::Command(_))) => "exec=",
        _ => return Ok(()),
    };
    refused(format!(
        "files= keeps binary dumps in files, which {other} does not make; leave one of them out"
    ))
}

/// Rejects options about what is not made.
fn refuse_unmade(said: &Said) -> Result<(), OptionError> {
    if said.command.is_some() && !matches!(said.does, Word::Leaks | Word::Memory) {
        return refused("hprof= is about do=leaks and do=memory: add one");
    }
    Ok(())
}

/// Rejects what a dump that is sent as it is made cannot be.
fn refuse_stream(said: &Said) -> Result<(), OptionError> {
    let what = match said.format {
        _ if !matches!(
            said.destination,
            Some(Destination::Socket(Product::Dump, _))
        ) =>
        {
            return Ok(())
        }
        Some('a') => "format=a: a text dump",
        _ if said.options.gzip.is_some() => "gz=: a compressed dump",
        _ => return Ok(()),
    };
    refused(format!(
        "{what} cannot be sent by hprof dump PID -o -; leave this option out and pass what comes to another \
         command, such as zstd or hprof convert - -o - --to text"
    ))
}

/// A requested profile that has no binary form, as the user wrote it.
pub(super) fn text_only(said: &Said) -> Option<&'static str> {
    match said.cpu_times {
        _ if said.options.monitors => Some("monitor=y"),
        Some(TimesLayout::Stacks) => Some("cpu=times"),
        Some(TimesLayout::Old) => Some("cpu=old"),
        None => None,
    }
}

/// Rejects binary output together with something that has no record.
fn must_be_text(said: &Said, what: &str) -> Result<(), OptionError> {
    if names_binary(said) {
        let file = said.file().unwrap_or_default();
        return refused(format!(
            "file={file},{what}: this name asks for a binary file, but {what} has only a text form; choose another name, or \
             add format=a"
        ));
    }
    Ok(())
}
