//! Options are read one after the other: those of the agent, and those of the environment.

use super::cross_check::cross_check;
use super::nearest::nearest;
use super::resolve::resolve;
use super::rows::old::{IGNORED, REFUSED};
use super::rows::rows;
use super::values::yes_no;
use super::{OptionError, Parsed, Said};
use format::redaction::Redacted;

/// The options in this environment variable are appended to those of the command line.
pub(super) const ENVIRONMENT: &str = "_JAVA_HPROF_OPTIONS";

/// Parses the agent's option string, followed by that of the environment.
pub fn parse(text: &str) -> Result<Parsed, OptionError> {
    parse_with(text, &environment())
}

/// Parses the options of a command. The environment's are for the start of a JVM; of them, those
/// count that limit what a dump contains: a command can ask for less, and not for more.
pub fn parse_command(text: &str) -> Result<Parsed, OptionError> {
    parse_command_with(text, &environment())
}

fn environment() -> String {
    std::env::var(ENVIRONMENT).unwrap_or_default()
}

pub(super) fn parse_with(text: &str, environment: &str) -> Result<Parsed, OptionError> {
    if text == "help" {
        return Ok(Parsed::Help);
    }
    Reading::of(text.split(',').chain(environment.split(',')))?.resolved()
}

pub(super) fn parse_command_with(text: &str, environment: &str) -> Result<Parsed, OptionError> {
    if text == "help" {
        return Ok(Parsed::Help);
    }
    let limits = environment.split(',').filter(|pair| is_limit(pair));
    let limits = Reading::of(limits)?.said.options.redaction;
    let mut reading = Reading::of(text.split(','))?;
    let asked = std::mem::take(&mut reading.said.options.redaction);
    if limits.what > Redacted::Nothing && !asked.keep.is_empty() {
        reading.notes.push(format!(
            "keep= does nothing: {ENVIRONMENT} says what dumps of this JVM keep"
        ));
    }
    reading.said.options.redaction = asked.within(limits);
    reading.resolved()
}

/// Whether an option limits what a dump contains.
fn is_limit(pair: &str) -> bool {
    let name = pair.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| ["redact", "keep", "drop"].contains(&name))
}

/// Options that were read, one after the other.
#[derive(Debug, Default)]
struct Reading {
    said: Said,
    notes: Vec<String>,
    /// Why a valid option is refused.
    refusal: Option<OptionError>,
}

impl Reading {
    fn of<'t>(pairs: impl Iterator<Item = &'t str>) -> Result<Self, OptionError> {
        let mut reading = Self::default();
        for pair in pairs.filter(|pair| !pair.is_empty()) {
            reading.take(pair)?;
        }
        Ok(reading)
    }

    /// Parses one `name=value`. A valid option that is refused goes to `refusal`, because wrong
    /// values are reported first.
    fn take(&mut self, pair: &str) -> Result<(), OptionError> {
        let Some((name, value)) = pair.split_once('=') else {
            let hint = if pair == "help" {
                "; help stands alone: -agentpath:…=help"
            } else {
                ""
            };
            return Err(OptionError(format!(
                "{pair}: options have the form name=value, separated by commas{hint}"
            )));
        };
        let wrong = |why: &str| OptionError(format!("{name}={value}: {why}"));
        let why = |old: &[(&str, &'static str)]| Some(old.iter().find(|it| it.0 == name)?.1);
        if let Some(why) = why(&REFUSED) {
            self.refusal.get_or_insert(wrong(why));
            return Ok(());
        }
        if let Some(why) = why(&IGNORED) {
            yes_no(value).map_err(|_| wrong(&format!("{name} takes y|n")))?;
            let note = format!("{name}={value} does nothing: {why}");
            self.notes.push(note);
            return Ok(());
        }
        let Some(row) = rows().find(|row| row.name == name) else {
            let hint = nearest(name, names()).map_or_else(
                || "docs/options.md lists them".to_owned(),
                |meant| format!("did you mean {meant}?"),
            );
            return Err(wrong(&format!("there is no option {name}; {hint}")));
        };
        (row.set)(&mut self.said, value).map_err(|why| match why {
            "" => wrong(&format!("{name} takes {}", row.values)),
            why => wrong(why),
        })
    }

    fn resolved(self) -> Result<Parsed, OptionError> {
        cross_check(&self.said)?;
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        let options = resolve(self.said, self.notes)?;
        Ok(Parsed::Options(Box::new(options)))
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    rows().filter(|row| row.is_public()).map(|row| row.name)
}
