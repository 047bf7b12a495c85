//! `hprof dump`: makes a running JVM dump its heap.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::HumanBytes;

use crate::attach::agent_request::AgentRequest;
use crate::attach::dump_place::DumpPlace;
use crate::attach::dump_stream;
use crate::attach::hotspot_dump;
use crate::attach::protocol::Jvm;
use crate::output::spinner::spinner;
use crate::output::{grouped, Failure, Verdict};

/// Makes a JVM dump its heap, with a pause of milliseconds
///
/// Loads the agent into the JVM, as jcmd does, but needs no JDK, and also works for Java 8. The JVM
/// writes the file itself, as its own user and with mode 0600. For a JVM in a container, FILE is a
/// path inside the container, and the library is copied to the container's /tmp while it is loaded;
/// the command prints the dump's path both inside and outside.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hprof dump 4711                           java-4711-20261122T084500Z.hprof in this folder, or in the container's /tmp
  hprof dump 4711 -o /var/tmp/app.hprof.gz  compressed
  hprof dump 4711 -o - | zstd > app.zst     piped to another command, without a file
  hprof dump 4711 --options redact=values   without the values of fields and arrays")]
pub(crate) struct Arguments {
    /// The JVM's process id
    #[arg(value_parser = pid)]
    pid: i32,
    /// Write to this file, which must not exist yet, compressed if the name ends in .gz; - for
    /// standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Allow the application to stop for as long as HotSpot's own dump takes, if its heap cannot be
    /// copied (as that of ZGC on Java 11), or the JVM loads no agent
    ///
    /// Without this flag there is no dump of such a heap, and the command prints an estimate. If
    /// the JVM loads no agent (-XX:-EnableDynamicAgentLoading), HotSpot alone makes the dump: with
    /// garbage, without allocation sites and --options.
    #[arg(long)]
    stop_the_world: bool,
    /// More options for the agent, such as gz=6,redact=strings; see docs/options.md
    #[arg(long, value_name = "OPTIONS")]
    options: Option<String>,
    /// The agent's library [default: libhprof_rs.so beside this command]
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

fn pid(text: &str) -> Result<i32, String> {
    let pid = text.parse().ok().filter(|pid| *pid > 0);
    pid.ok_or_else(|| "it is not a process id".to_owned())
}

/// Makes the JVM dump, and reports the file.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let jvm = Jvm::find(arguments.pid).map_err(Failure::Input)?;
    let output = arguments.output.as_deref();
    if output.is_some_and(|it| it.as_os_str() == "-") {
        let agent = arguments.agent.as_deref();
        return dump_stream::run(&jvm, agent, arguments.timeout(), |to| arguments.told(to));
    }
    let place = DumpPlace::find(&jvm, output)?;
    let options = options(&place.path, arguments)?;
    let request = AgentRequest::new(&jvm, arguments.agent.as_deref(), options)?;
    let began = Instant::now();
    let waiting = waiting(&jvm, &place);
    let reply = request.send(|library, options, _| jvm.load(library, options, waiting))?;
    if reply.answer.is_refused() && arguments.stop_the_world {
        return own(&jvm, &place, arguments);
    }
    reply.check_dumped()?;
    reply.print()?;
    tell(&jvm, &place, began.elapsed())
}

/// The dump of a JVM that loads no agent.
fn own(jvm: &Jvm, place: &DumpPlace, arguments: &Arguments) -> Result<Verdict, Failure> {
    if arguments.options.is_some() {
        return Err(Failure::Input(format!(
            "the JVM {} loads no agent, and HotSpot's own dumper knows no --options: leave them out, and let hprof convert --redact make a \
             copy if they redact",
            jvm.pid
        )));
    }
    let began = Instant::now();
    hotspot_dump::make(jvm, place, waiting(jvm, place))?;
    tell(jvm, place, began.elapsed())
}

/// The options for the agent.
fn options(file: &Path, arguments: &Arguments) -> Result<String, Failure> {
    let name = file
        .to_str()
        .filter(|name| !name.contains([',', '%', '\0']));
    let why = "the agent accepts no name with a comma, a percent sign or invalid UTF-8";
    let name = name.ok_or_else(|| Failure::writing(file, why))?;
    Ok(arguments.told(&format!("file={name}")))
}

impl Arguments {
    /// The options for an agent that writes to this destination.
    fn told(&self, to: &str) -> String {
        let stop = if self.stop_the_world { "y" } else { "n" };
        let more = self.options.as_deref();
        let more = more.map(|more| format!(",{more}")).unwrap_or_default();
        format!("heap=dump,format=b,stop={stop},{to}{more}")
    }

    /// How long who takes the dump may take nothing.
    fn timeout(&self) -> Duration {
        let more = self.options.as_deref().unwrap_or_default();
        let mut said = more.rsplit(',').filter_map(|pair| {
            let seconds = pair.strip_prefix("timeout=")?;
            seconds.parse().ok()
        });
        Duration::from_secs(said.next().unwrap_or(TIMEOUT_S))
    }
}

/// The agent's default of `timeout=`.
const TIMEOUT_S: u64 = 120;

/// Prints a line on stdout about the finished file.
fn tell(jvm: &Jvm, place: &DumpPlace, took: Duration) -> Result<Verdict, Failure> {
    let name = place.names();
    let Some(bytes) = jvm.root.bytes(&place.path) else {
        return Err(Failure::Input(format!(
            "the JVM {} reported a dump, but there is no {name}; see its stderr",
            jvm.pid
        )));
    };
    let (bytes, seconds) = (grouped(bytes), took.as_secs_f64());
    writeln!(io::stdout(), "{name}: {bytes} bytes in {seconds:.1} s")?;
    Ok(Verdict::Sound)
}

/// Shows the size of the unfinished file if stderr is a terminal, until it is dropped. Always true:
/// the dump is waited for.
fn waiting<'j>(jvm: &'j Jvm, place: &DumpPlace) -> impl FnMut() -> bool + use<'j> {
    let mut part = place.path.clone().into_os_string();
    part.push(".part");
    let bar = spinner();
    move || {
        let bytes = jvm.root.bytes(Path::new(&part)).unwrap_or(0);
        bar.set_message(format!("{} written", HumanBytes(bytes)));
        bar.tick();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_told_where_to() {
        let told = |name: &str, stop_the_world| {
            let arguments = Arguments {
                pid: 7,
                output: None,
                stop_the_world,
                options: Some("gz=6".to_owned()),
                agent: None,
            };
            options(Path::new(name), &arguments).ok()
        };
        assert_eq!(
            told("/d/a.hprof", false).as_deref(),
            Some("heap=dump,format=b,stop=n,file=/d/a.hprof,gz=6")
        );
        assert_eq!(
            told("/d/a.hprof", true).as_deref(),
            Some("heap=dump,format=b,stop=y,file=/d/a.hprof,gz=6")
        );
        assert_eq!(told("/d/a,b.hprof", false), None);
        assert_eq!(told("/d/%p.hprof", false), None);
    }
}
