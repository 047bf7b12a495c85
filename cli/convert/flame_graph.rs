//! A flame graph: stacks as boxes as wide as their weight, in an SVG file for a browser.

use std::io::Write;

use inferno::flamegraph::color::{BasicPalette, Palette};
use inferno::flamegraph::{self, Options};

use crate::files::input_file::InputFile;
use crate::output::{grouped, plain, Failure};

use super::folded::Folded;
use super::profile::Profile;

/// Most bytes of folded stacks for which a picture is drawn: drawing takes several times as much
/// memory.
const PICTURE_BYTES_MAX: u64 = 128 << 20;

/// Writes the picture of this file's profile.
pub(super) fn draw(
    profile: &Profile,
    folded: &Folded,
    file: &InputFile,
    to: &mut dyn Write,
) -> Result<(), Failure> {
    if folded.total == 0 {
        return Err(file.refuse("all its numbers are 0, so there is nothing to draw"));
    }
    if folded.line_bytes() > PICTURE_BYTES_MAX {
        let why = "it has too many stacks for a picture; --to collapsed writes them as text";
        return Err(file.refuse(why));
    }
    let (drawn, unit) = (grouped(folded.total), profile.unit);
    let mut options = Options::default();
    options.title = format!("{}: {}", profile.title, plain(&file.short_name()));
    // What has no stack, or was too little for the profiler to list, is not drawn.
    options.subtitle = Some(match profile.whole.saturating_sub(folded.total) {
        0 => format!("{drawn} {unit}"),
        rest => {
            let rest = grouped(rest);
            format!("{drawn} {unit}; {rest} more have no stack in the file")
        }
    });
    options.count_name = unit.to_owned();
    options.name_type = "Method:".to_owned();
    options.colors = Palette::Basic(match unit {
        "bytes" => BasicPalette::Mem,
        _ => BasicPalette::Hot,
    });
    options.deterministic = true;
    let lines: Vec<String> = folded.lines().collect();
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)?;
    Ok(to.write_all(&svg)?)
}
