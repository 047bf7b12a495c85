//! What options cannot be together.

use super::{names_binary, Engine, OptionError, Said, SnapshotBy, TimesLayout};

/// What the old agent refused together, in its order and words.
pub(super) fn cross_check(said: &Said) -> Result<(), OptionError> {
    if said.format == Some('b') && said.cpu_times.is_some() {
        return Err(OptionError(
            "format=b: cpu=times|old is not supported with format=b".to_owned(),
        ));
    }
    if said.format == Some('b') && said.options.monitors {
        return Err(OptionError(
            "format=b: monitor=y is not supported with format=b".to_owned(),
        ));
    }
    Ok(())
}

/// Refuses what cannot be meant together, and what has no binary form beside what is binary.
pub(super) fn refuse(said: &Said) -> Result<(), OptionError> {
    if said.options.huge_pages
        && (said.options.engine == Engine::Portable || said.options.snapshot == SnapshotBy::Pause)
    {
        return Err(OptionError(
            "hugepages=y has no effect with engine=portable or snapshot=pause, which do not fork; leave one of them out".to_owned(),
        ));
    }
    match text_only(said) {
        Some(what) if said.format.is_none() => must_be_text(said, what),
        _ => Ok(()),
    }
}

/// What was asked for that has no binary form, as it was said.
pub(super) fn text_only(said: &Said) -> Option<&'static str> {
    match said.cpu_times {
        _ if said.options.monitors => Some("monitor=y"),
        Some(TimesLayout::Stacks) => Some("cpu=times"),
        Some(TimesLayout::Old) => Some("cpu=old"),
        None => None,
    }
}

/// Refuses what would be binary beside what there is no record for.
fn must_be_text(said: &Said, what: &str) -> Result<(), OptionError> {
    if names_binary(said) {
        let file = said.file.as_deref().unwrap_or_default();
        return Err(OptionError(format!(
            "file={file},{what}: this name asks for a binary file, but {what} has only a text form; choose another name, or \
             add format=a"
        )));
    }
    Ok(())
}
