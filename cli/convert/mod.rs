//! `hprof convert`: a dump or a profile in another form.

mod android;
mod arguments;
mod flame_graph;
mod folded;
mod holders;
mod pprof;
mod profile;
mod redacted;
mod tables;

use ::text::{transcribe, Settings, TextError};

use crate::output::{counted, grouped, Failure, Verdict};

pub(crate) use arguments::Arguments;
use arguments::{Form, Source};
use profile::Profile;

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
        Form::Text => write_text(arguments),
        Form::Hprof if arguments.redact.is_some() => redacted::write(arguments),
        Form::Hprof => android::write(arguments),
        Form::Pprof | Form::Collapsed | Form::Svg => write_profile(arguments, form),
    }
}

/// Reads a binary file and writes it in the classic text layout.
fn write_text(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = arguments.input()?;
    let settings = Settings {
        sizes: None,
        utc_offset_seconds: 0,
        budget: file.budget(),
    };
    let told = arguments.write(&file, Form::Text, |mut to| {
        let told = transcribe(&mut || file.open(), &settings, &mut to);
        told.map_err(|why| match why {
            TextError::Write(fault) => Failure::Output(fault),
            TextError::Read(fault) => file.failure(&fault),
        })
    })?;
    Ok(file.verdict(told.damaged))
}

/// Reads the file and writes where the time, or the memory, went.
fn write_profile(arguments: &Arguments, form: Form) -> Result<Verdict, Failure> {
    let (file, profile) = match arguments.from {
        Some(Source::Holders) => {
            let (loaded, _) = arguments.graph.load(2)?;
            let profile = holders::profile(&loaded)?;
            loaded.file.done();
            (loaded.file, profile)
        }
        from => {
            let file = arguments.input()?;
            let profile = Profile::read(&file, from)?;
            (file, profile)
        }
    };
    if form == Form::Pprof {
        arguments.write(&file, form, |to| Ok(pprof::write(&profile, to)?))?;
        return Ok(file.verdict(profile.damaged));
    }
    let folded = profile.folded().map_err(|why| file.refuse(why))?;
    arguments.write(&file, form, |to| match form {
        Form::Svg => flame_graph::draw(&profile, &folded, &file, to),
        _ => Ok(folded.print(to)?),
    })?;
    let (stacks, sum) = (counted(folded.len(), "stack"), grouped(folded.total));
    arguments.tell(&format!("{stacks}, {sum} {}", profile.unit))?;
    Ok(file.verdict(profile.damaged))
}
