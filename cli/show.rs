//! `hprof show`: what is this object, what does it hold, and what refers to it?

mod show_json;

use std::io::{self, BufWriter, Write};

use format::BasicType;
use graph::{Contents, Dominator, FieldValue, GraphError, Heap, Retained};
use serde_json::Value;

use crate::answer::object::described;
use crate::heap_file::{failure, with_loaded, GraphArguments, Loaded};
use crate::json;
use crate::number::{counted, grouped};
use crate::outcome::{Failure, Verdict};
use crate::path::object_with_id;
use crate::plain::{plain, shown};

/// Most bytes read of an array's elements.
const ARRAY_BYTES: usize = 64 << 10;

/// Most bytes printed of a string.
const STRING_BYTES: usize = 200;

/// Prints an object: sizes, its dominator, fields or elements, referrers, and the objects that it
/// dominates
///
/// Objects also refer to their class; these are not listed as a class's referrers. Strings and
/// values of arrays may be secret, so they are only printed with `--strings`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof show heap.hprof 0x7f1c3a80")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// The object's id; `hprof top` lists ids
    #[arg(value_name = "0xID")]
    id: String,
    /// Print at most N elements, referrers and dominated objects; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print strings and the values of primitive arrays
    #[arg(long)]
    strings: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the file and prints the object.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    arguments.graph.check_is_file()?;
    with_loaded(&arguments.graph, 2, |loaded| {
        let (heap, retained, file) = (&loaded.heap, &loaded.retained, &loaded.file);
        file.done();
        let object = object_with_id(heap, &arguments.id, file)?;
        let page = Page {
            heap,
            retained,
            most: if arguments.top == 0 {
                usize::MAX
            } else {
                arguments.top
            },
            shown: Shown::Values {
                strings: arguments.strings,
            },
        };
        let failed = |fault| failure(file, &fault);
        let facts = page.facts(object).map_err(failed)?;
        let mut to = BufWriter::new(io::stdout().lock());
        if arguments.json {
            json::print(&show_json::of(&page, object, &facts), &mut to)?;
        } else {
            page.print(object, &facts, &mut to)?;
        }
        Ok(to.flush()?)
    })
}

/// What `--json` prints, for a heap that is in memory. Errors: there is no such object; the file
/// cannot be read.
pub(crate) fn answer(
    loaded: &Loaded<'_>,
    id: &str,
    most: usize,
    shown: Shown,
) -> Result<Value, Failure> {
    let object = object_with_id(&loaded.heap, id, &loaded.file)?;
    let page = Page {
        heap: &loaded.heap,
        retained: &loaded.retained,
        most,
        shown,
    };
    let facts = page.facts(object);
    let facts = facts.map_err(|fault| failure(&loaded.file, &fault))?;
    Ok(show_json::of(&page, object, &facts))
}

/// The facts about an object beside its references that may be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    /// Nothing: a running JVM has sent no values.
    References,
    /// Numbers in fields.
    Values {
        /// Also strings and the values of arrays.
        strings: bool,
    },
}

/// What was read from the file about an object.
struct Facts {
    contents: Option<Contents>,
    /// The text of a string, if it may be shown.
    text: Option<String>,
    referrers: Vec<u32>,
}

/// The inputs for the parts of the answer.
struct Page<'h, 'p> {
    heap: &'h Heap<'p>,
    retained: &'h Retained,
    most: usize,
    shown: Shown,
}

impl Page<'_, '_> {
    fn facts(&self, object: u32) -> Result<Facts, GraphError> {
        let mut contents = self.heap.contents(&[object], ARRAY_BYTES)?;
        let text = if self.with_strings() {
            let mut texts = self.heap.strings(&[object], STRING_BYTES)?;
            texts.remove(&object)
        } else {
            None
        };
        Ok(Facts {
            contents: contents.remove(&object),
            text,
            referrers: self.referrers(object),
        })
    }

    fn with_strings(&self) -> bool {
        matches!(self.shown, Shown::Values { strings: true })
    }

    fn print(&self, object: u32, facts: &Facts, to: &mut dyn Write) -> io::Result<()> {
        let (heap, retained) = (self.heap, self.retained);
        writeln!(to, "{}", self.name(object))?;
        writeln!(to, "  shallow   {}", grouped(heap.shallow_bytes(object)))?;
        writeln!(to, "  retained  {}", grouped(retained.bytes(object)))?;
        let dominator = match retained.dominator(object) {
            Dominator::Unreachable => "none: no root leads to the object".to_owned(),
            Dominator::Roots => "none: the object is a root, or two or more hold it".to_owned(),
            Dominator::Object(above) => self.name(above),
        };
        writeln!(to, "  dominator {dominator}")?;
        if let Some(kind) = heap.root_kind(object) {
            writeln!(to, "  root      {}", kind.name())?;
        }
        if let Some(contents) = &facts.contents {
            self.contents(contents, to)?;
        }
        if let Some(text) = &facts.text {
            writeln!(to, "  text \"{}\"", plain(text))?;
        }
        self.list("referrers", &facts.referrers, to)?;
        self.list("dominates", &retained.dominated(object), to)?;
        Ok(())
    }

    fn name(&self, object: u32) -> String {
        let name = plain(&shown(&described(self.heap, object)));
        format!("{name} {:#x}", self.heap.id(object))
    }

    fn contents(&self, contents: &Contents, to: &mut dyn Write) -> io::Result<()> {
        match contents {
            Contents::References { length, ids } => {
                writeln!(to, "  {}:", counted((*length).into(), "element"))?;
                for (place, id) in ids.iter().enumerate().take(self.most) {
                    writeln!(to, "    [{place}] {}", self.reference(*id))?;
                }
            }
            Contents::Values {
                length,
                kind,
                bytes,
            } => {
                writeln!(to, "  {}:", counted((*length).into(), "element"))?;
                if self.with_strings() {
                    let values = values(*kind, bytes).take(self.most);
                    writeln!(to, "    {}", values.collect::<Vec<_>>().join(" "))?;
                } else {
                    writeln!(to, "    (--strings prints them)")?;
                }
            }
            Contents::Class(_) | Contents::Instance { .. } => {
                let fields = self.heap.fields(contents);
                writeln!(to, "  {}:", counted(fields.len() as u64, "field"))?;
                for field in &fields {
                    writeln!(to, "    {}", self.field(field))?;
                }
            }
        }
        Ok(())
    }

    fn field(&self, field: &FieldValue) -> String {
        let name = plain(&shown(&field.name));
        match field.kind {
            BasicType::Object => format!("{name} = {}", self.reference(field.value)),
            kind => format!("{name} = {}", value(kind, field.value)),
        }
    }

    fn reference(&self, id: u64) -> String {
        match self.heap.object(id) {
            _ if id == 0 => "null".to_owned(),
            Some(object) => self.name(object),
            None => format!("{id:#x} (not in the dump)"),
        }
    }

    fn referrers(&self, object: u32) -> Vec<u32> {
        let refers = |from: &u32| self.heap.targets(*from).contains(&object);
        (0..self.heap.objects()).filter(refers).collect()
    }

    fn list(&self, title: &str, objects: &[u32], to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "  {title}: {}", counted(objects.len() as u64, "object"))?;
        for object in objects.iter().take(self.most) {
            let bytes = grouped(self.retained.bytes(*object));
            writeln!(to, "    {}  retains {bytes}", self.name(*object))?;
        }
        Ok(())
    }
}

/// The values of an array as Java prints them.
fn values(kind: BasicType, bytes: &[u8]) -> impl Iterator<Item = String> + '_ {
    let size = kind.size_bytes(8) as usize;
    let all = bytes.chunks_exact(size);
    all.map(move |bytes| value(kind, number(bytes)))
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// A primitive value as Java prints it; characters as numbers.
fn value(kind: BasicType, bits: u64) -> String {
    let low = |bytes: usize| {
        let all = bits.to_be_bytes();
        let start = all.len().saturating_sub(bytes);
        all.get(start..).unwrap_or_default().to_vec()
    };
    let of4 = || low(4).try_into().unwrap_or([0; 4]);
    match kind {
        BasicType::Boolean => (bits != 0).to_string(),
        BasicType::Byte => i8::from_be_bytes(low(1).try_into().unwrap_or([0])).to_string(),
        BasicType::Short => i16::from_be_bytes(low(2).try_into().unwrap_or([0; 2])).to_string(),
        BasicType::Char => format!("'\\u{bits:04x}'"),
        BasicType::Int => i32::from_be_bytes(of4()).to_string(),
        BasicType::Float => f32::from_be_bytes(of4()).to_string(),
        BasicType::Long => i64::from_be_bytes(bits.to_be_bytes()).to_string(),
        BasicType::Double => f64::from_bits(bits).to_string(),
        BasicType::Object => format!("{bits:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_javas() {
        for (kind, bits, text) in [
            (BasicType::Int, 0xFFFF_FFFE, "-2"),
            (BasicType::Byte, 0x80, "-128"),
            (BasicType::Char, 0x41, "'\\u0041'"),
            (BasicType::Double, 1.5_f64.to_bits(), "1.5"),
            (BasicType::Float, u64::from(0.25_f32.to_bits()), "0.25"),
            (BasicType::Boolean, 1, "true"),
            (BasicType::Long, u64::MAX, "-1"),
        ] {
            assert_eq!(value(kind, bits), text);
        }
    }
}
