//! `hprof convert`: a dump or a profile in another form.

mod android;
mod flame_graph;
mod folded;
mod order;
mod pprof;
mod profile;
mod redacted;
mod tables;
mod transcribed;

use crate::output::outcome::{Failure, Verdict};

pub(crate) use order::Arguments;
use order::Form;

/// Reads the file and writes the other one.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    arguments.graph.check_is_file()?;
    let named = || Form::of(&arguments.output);
    let Some(form) = arguments.to.or_else(named) else {
        let why = "the name does not say what to write: add --to hprof, text, parquet, pprof, collapsed or svg";
        return Err(Failure::writing(&arguments.output, why));
    };
    if let Some((option, forms)) = arguments.misplaced(form) {
        return Err(Failure::Input(format!("{option} is for --to {forms}")));
    }
    match form {
        Form::Parquet => tables::write(arguments),
        Form::Text => transcribed::write(arguments),
        Form::Hprof if arguments.redact.is_some() => redacted::write(arguments),
        Form::Hprof => android::write(arguments),
        Form::Pprof | Form::Collapsed | Form::Svg => profile::write(arguments, form),
    }
}
