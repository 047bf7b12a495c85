//! The tools: the questions of the commands, asked of a heap that stays in memory.

use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use graph::{Unseen, THRESHOLD_PERCENT};
use jiff::Timestamp;
use serde_json::{json, Map, Value};

use super::brief::brief;
use super::protocol::Tools;
use crate::answers::ask::Question;
use crate::answers::diff::{diff, Sums};
use crate::answers::histo::{histogram, of_heap};
use crate::answers::leaks::Leaks;
use crate::answers::show::Show;
use crate::answers::threads::Threads;
use crate::answers::top::{top as top_rows, By};
use crate::answers::waste::Waste;
use crate::attach::dump_place::DumpPlace;
use crate::attach::protocol::Jvm;
use crate::commands::memory;
use crate::files::heap_file::{opened, GraphArguments, Loaded, SizesOf};
use crate::files::input_file::InputFile;
use crate::output::{plain, Failure};
use crate::proc::process::{process_named, Process};

/// The tools, and their descriptions for a model.
const LIST: &str = include_str!("tools.json");

/// The first instructions for a model.
const INSTRUCTIONS: &str = include_str!("instructions.txt");

/// Objects listed for one frame of a thread.
const LOCALS: usize = 3;

/// Of a heap that is read for a program, nobody watches the progress.
const UNSEEN: &(dyn Fn(u64) + Sync) = &|_| {};

/// The heap and the questions that may be asked.
#[derive(Debug)]
pub(super) struct HeapTools<'a> {
    graph: &'a GraphArguments,
    /// Whether answers show strings and values of primitive arrays.
    strings: bool,
    /// Where the tool dump may write.
    dumps: Option<&'a Path>,
    /// The JVM that runs and has the heap.
    pid: Option<i32>,
    /// A file that the JVM has written, under the name that it has there.
    written: Option<(PathBuf, File)>,
    /// Read when the first question comes.
    loaded: Option<Loaded>,
}

impl<'a> HeapTools<'a> {
    pub(super) fn new(graph: &'a GraphArguments, strings: bool, dumps: Option<&'a Path>) -> Self {
        Self {
            graph,
            strings,
            dumps,
            pid: process_named(&graph.file),
            written: None,
            loaded: None,
        }
    }

    /// Reads what the source has. Errors: it cannot be read.
    fn load(&self) -> Result<Loaded, Failure> {
        let graph = self.graph;
        let file = match &self.written {
            Some((name, file)) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                InputFile::of_open(name, file)?
            }
            None => opened(&graph.file, graph.dump, graph.agent.as_deref())?,
        };
        Loaded::read(file, graph, UNSEEN)
    }

    fn heap(&mut self) -> Result<&Loaded, Failure> {
        let loaded = match self.loaded.take() {
            Some(loaded) => loaded,
            None => self.load()?,
        };
        Ok(self.loaded.insert(loaded))
    }

    /// The process that has the heap. Errors: it has ended.
    fn process(&self) -> Result<Option<Process>, Failure> {
        let process = self.pid.map(Process::find).transpose();
        process.map_err(Failure::Input)
    }

    fn is_live(&self) -> bool {
        self.pid.is_some()
    }

    /// The tools that this source has.
    fn has(&self, tool: &str) -> bool {
        let has_dump = self.is_live() && self.dumps.is_some();
        match tool {
            "refresh" => self.is_live(),
            "dump" => has_dump,
            // A dump can be made, which has values.
            "waste" => !self.is_live() || has_dump,
            _ => true,
        }
    }

    /// The answer to a question whose arguments are those of the schema.
    fn answer(&mut self, tool: &str, given: &Map<String, Value>) -> Result<Value, Failure> {
        match tool {
            "refresh" => return self.refresh(),
            "dump" => return self.dump(),
            "waste" if self.is_live() => {
                let why = "a running JVM sends no values: call dump first";
                return Err(Failure::Input(why.to_owned()));
            }
            _ => {}
        }
        // The heap is in memory, also when the process has ended.
        let source = match tool {
            "memory" => self.process()?,
            _ => None,
        };
        let number = |name: &str| given.get(name).and_then(Value::as_u64);
        let text = |name: &str| given.get(name).and_then(Value::as_str);
        let top = number("limit").and_then(|limit| usize::try_from(limit).ok());
        let (full, strings) = (false, self.strings);
        let loaded = self.heap()?;
        let answer = match tool {
            "overview" => return Ok(overview(loaded)),
            "leaks" => {
                let threshold = number("threshold").unwrap_or(THRESHOLD_PERCENT);
                Leaks { threshold, full }.answer(loaded)
            }
            "top" => top_rows(loaded, by(text("by")), top.unwrap_or(20)),
            "histo" => Ok(histogram(of_heap(&loaded.heap), top.unwrap_or(20))),
            "show" => {
                let (what, top) = (text("of").unwrap_or_default().to_owned(), top.unwrap_or(10));
                Show { what, top, strings }.answer(loaded)
            }
            "threads" => {
                let (top, locals) = (top.unwrap_or(10), LOCALS);
                Threads { top, locals, full }.answer(loaded)
            }
            "memory" => {
                let (file, heap, top) = (&loaded.file, &loaded.heap, top.unwrap_or(10));
                memory::answer(file, heap, source.as_ref(), top)
            }
            "waste" => {
                let top = top.unwrap_or(5);
                Waste { top, strings }.answer(loaded)
            }
            _ => return Err(Failure::Input(format!("there is no tool {tool}"))),
        };
        answer.map(|answer| json!(answer))
    }

    fn refresh(&mut self) -> Result<Value, Failure> {
        let before = Sums::of(self.heap()?, false)?;
        // Two heaps might not fit into memory.
        self.loaded = None;
        let after = Sums::of(self.heap()?, false)?;
        Ok(json!(diff(before, after, 20)))
    }

    /// Makes this command dump in a process of its own: its lines would otherwise get into the
    /// protocol.
    fn dump(&mut self) -> Result<Value, Failure> {
        let (Some(pid), Some(folder)) = (self.pid, self.dumps) else {
            return Err(Failure::Input("there is no tool dump".to_owned()));
        };
        let now = Timestamp::now().strftime("%Y%m%dT%H%M%S%3fZ");
        let file = std::path::absolute(folder)?.join(format!("java-{pid}-{now}.hprof"));
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["dump", &pid.to_string(), "-o"]).arg(&file);
        if let Some(agent) = &self.graph.agent {
            command.arg("--agent").arg(agent);
        }
        let output = command.output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(Failure::Input(why.trim().to_owned()));
        }
        let jvm = Jvm::find(pid).map_err(Failure::Input)?;
        // Never another one, to which the JVM's container has a link.
        let written = jvm.root.file_of(&file, jvm.owner.0);
        let written = written.map_err(|fault| Failure::reading(&file, fault))?;
        let (bytes, place) = (written.metadata()?.len(), DumpPlace::of(&jvm, &file));
        let answer = json!({ "bytes": bytes, "file": place.outside().display().to_string() });
        (self.pid, self.written, self.loaded) = (None, Some((file, written)), None);
        Ok(answer)
    }
}

impl Tools for HeapTools<'_> {
    fn instructions(&self) -> &str {
        INSTRUCTIONS.trim_end()
    }

    fn list(&self) -> Value {
        let mut all: Vec<Value> = serde_json::from_str(LIST).unwrap_or_default();
        let name = |tool: &Value| {
            let name = tool.get("name").and_then(Value::as_str);
            name.unwrap_or_default().to_owned()
        };
        all.retain(|tool| self.has(&name(tool)));
        all.into()
    }

    fn call(&mut self, name: &str, given: &Map<String, Value>) -> Option<Result<String, String>> {
        let tools = self.list();
        let is_one = |tool: &&Value| tool.get("name").and_then(Value::as_str) == Some(name);
        let tool = tools.as_array()?.iter().find(is_one)?;
        if let Err(why) = check(tool, given) {
            return Some(Err(why));
        }
        let answer = self.answer(name, given).map_err(said);
        Some(answer.map(|answer| brief(&answer)))
    }
}

fn overview(loaded: &Loaded) -> Value {
    let (file, heap, retained) = (&loaded.file, &loaded.heap, &loaded.retained);
    let reachable = retained.reachable();
    json!({
        "damaged": heap.damaged(),
        "from": file.name(),
        "has_allocation_stacks": !heap.traced().is_empty(),
        "has_values": file.has_values && !Unseen::of(heap.redacted()).collections,
        "made": loaded.made(),
        "objects": reachable,
        "pause_ms": file.pause_millis,
        "redacted": heap.redacted(),
        "references": loaded.rule.name(),
        "sizes": SizesOf::from(heap.sizes()),
        "total_bytes": retained.total_bytes(),
        "unreachable_objects": heap.objects().saturating_sub(reachable),
    })
}

/// Refuses arguments that are not those of the tool's schema.
fn check(tool: &Value, given: &Map<String, Value>) -> Result<(), String> {
    let none = Map::new();
    let schema = tool.pointer("/inputSchema/properties");
    let schema = schema.and_then(Value::as_object).unwrap_or(&none);
    if let Some(other) = given.keys().find(|name| !schema.contains_key(*name)) {
        let other: String = plain(other).chars().take(100).collect();
        let all: Vec<&str> = schema.keys().map(String::as_str).collect();
        let all = if all.is_empty() {
            "no arguments".to_owned()
        } else {
            all.join(", ")
        };
        return Err(format!(
            "there is no argument {other}; this tool takes {all}"
        ));
    }
    for (name, of) in schema {
        let is_required = tool.pointer("/inputSchema/required/0") == Some(&json!(name));
        let value = given.get(name).filter(|value| !value.is_null());
        let range = of.get("minimum").zip(of.get("maximum"));
        let words = of.get("enum").and_then(Value::as_array);
        match (value, range, words) {
            (None, ..) if is_required => return Err(format!("{name} is missing")),
            (Some(value), Some((least, most)), _) => {
                let is_in = |it: u64| Some(it) >= least.as_u64() && Some(it) <= most.as_u64();
                if !value.as_u64().is_some_and(is_in) {
                    return Err(format!("{name} is a number from {least} to {most}"));
                }
            }
            (Some(value), _, Some(words)) if !words.contains(value) => {
                let words = words.iter().filter_map(Value::as_str);
                let words = words.collect::<Vec<_>>().join(", ");
                return Err(format!("{name} is one of {words}"));
            }
            (Some(value), None, None) if !value.is_string() => {
                return Err(format!("{name} is no text"))
            }
            _ => {}
        }
    }
    Ok(())
}

/// Why a question has no answer, for the model.
fn said(failure: Failure) -> String {
    let why = plain(&failure.to_string());
    in_tools_words(&why).chars().take(1000).collect()
}

/// The command's words with tools in place of commands.
fn in_tools_words(why: &str) -> String {
    let commands = ["histo", "leaks", "show", "threads", "waste", "dump"];
    let why = why.replace("`hprof histo --objects`", "the tool top");
    commands.iter().fold(why, |why, name| {
        why.replace(&format!("`hprof {name}`"), &format!("the tool {name}"))
    })
}

/// What is listed; the schema has the words.
fn by(word: Option<&str>) -> By {
    match word {
        Some("class") => By::Class,
        other => other
            .and_then(|word| By::from_str(word, false).ok())
            .unwrap_or(By::Object),
    }
}
