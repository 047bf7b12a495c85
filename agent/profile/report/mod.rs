//! The report of a session's profiles, in its own file.

mod figures;
mod report_binary;
mod report_monitors;
mod report_text;

pub(crate) use figures::Part;

use crate::message::say;
use crate::order::Order;
use crate::profile::Profiles;
use jvm::env::Env;
use jvm::jni::Jni;
use options::Format;
use writer::TextStream;
use writer::{DumpFile, Outlet, WriteError, Written};

use figures::Figures;

/// Writes the report, or a part of it, and prints the result on stderr. Returns `true` if the file
/// exists or the peer has received it.
///
/// On any thread attached to the JVM, in the live phase. The application runs on meanwhile.
pub(crate) fn report(
    env: &Env,
    jni: &mut Jni<'_>,
    order: &Order<'_>,
    profiles: &Profiles,
    part: Part,
    outlet: &dyn Outlet,
) -> bool {
    let figures = Figures::take(order, profiles, part, env, jni);
    match write(outlet, order, profiles, &figures) {
        Ok(written) if order.options.verbose => {
            let because = order.because;
            let because = because.map_or_else(String::new, |why| format!(" because of {why}"));
            say(&format!(
                "wrote {}{because}: {} bytes, {}",
                written.path.display(),
                written.bytes,
                figures.summary(profiles)
            ));
            true
        }
        Ok(_) => true,
        Err(error) => {
            figures.give_back(profiles);
            match error {
                WriteError::Unnamed { .. } => say(&error.to_string()),
                _ => say(&format!("no report: {error}")),
            }
            false
        }
    }
}

fn write(
    outlet: &dyn Outlet,
    order: &Order<'_>,
    profiles: &Profiles,
    figures: &Figures,
) -> Result<Written, WriteError> {
    let file = DumpFile::create(outlet)?;
    match order.format {
        Format::Text => {
            let mut out = TextStream::new(|bytes| file.head(bytes));
            // The stream keeps the first error and returns it at the end.
            let _ = report_text::write(figures, profiles, order, &mut out);
            out.finish()?;
        }
        Format::Binary => report_binary::write(figures, profiles, order, &file)?,
    }
    // No heap dump ends here, so there is no end record.
    file.finish_with_tail(0)
}
