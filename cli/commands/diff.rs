//! `hprof diff`: what grew between two dumps, or over several?

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::answers::diff::{change, diff, trends, Sums};
use crate::files::heap_file::{GraphArguments, Rule, SizesOf};
use crate::output::number::bytes;
use crate::output::{limit, plain, print, Failure, Sections, Verdict};
use crate::proc::process::process_named;

/// Lists what grew between two dumps
///
/// What grows is a place in the dominator tree, a class or an allocation site.
/// Objects move between dumps, so classes are matched by name. Retained bytes are those of `hprof
/// histo --retained`, or `--by site`. A place has the objects of a class that those of the place
/// above keep alive; the tree begins with static fields, threads and other roots. Objects that left
/// one place for another have moved, and did not grow.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hprof diff before.hprof after.hprof --fail-if-grown 1000000\n  hprof diff monday.hprof tuesday.hprof wednesday.hprof\n  hprof diff 4711 --after 10m"
)]
pub(crate) struct Arguments {
    /// The earlier dump, uncompressed or gzip; or the process id of a running JVM
    before: PathBuf,
    /// The later dump, uncompressed or gzip; or a process id. Of several, the last is compared with
    /// the earlier one, and each class says whether it grows from dump to dump
    after: Vec<PathBuf>,
    /// Ask the same running JVM twice, so far apart: 30s, 10m, 1h
    #[arg(long = "after", value_name = "TIME", conflicts_with = "after", value_parser = duration)]
    wait: Option<Duration>,
    /// What is listed below the places
    #[arg(long, value_enum, default_value_t = By::Class)]
    by: By,
    /// Which references keep an object alive
    #[arg(long, value_enum, default_value_t = Rule::All)]
    references: Rule,
    /// Whose sizes of objects count
    #[arg(long, value_enum, default_value_t = SizesOf::Jvm)]
    sizes: SizesOf,
    /// Print at most N places and N rows; 0 for all
    #[arg(long, value_name = "N", default_value_t = 30)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Exit with 1 if all reachable objects together grew by more than this many bytes
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    fail_if_grown: Option<u64>,
    /// The agent's library, for a running JVM [default: libhprof_rs.so beside this command]
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

/// What is compared beside places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Classes
    Class,
    /// Lines of code that allocated: retained bytes of each stack, an estimate with its error
    Site,
}

/// Reads both files and prints what grew.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let began = Instant::now();
    let wait = arguments.wait.unwrap_or_default();
    if arguments.wait.is_some() && process_named(&arguments.before).is_none() {
        return Err(Failure::Input(format!(
            "{} is not a process id: --after asks a running JVM twice",
            plain(&arguments.before.display().to_string())
        )));
    }
    if arguments.after.is_empty() && arguments.wait.is_none() {
        return Err(Failure::Input(match process_named(&arguments.before) {
            Some(pid) => format!("it asks a running JVM twice: hprof diff {pid} --after 10m"),
            None => "name the later dump, too".to_owned(),
        }));
    }
    let (before, mut verdict) = sums(&arguments.before, arguments)?;
    // The first answer took a part of the time.
    sleep(wait.saturating_sub(began.elapsed()));
    let mut between = Vec::new();
    let (last, others) = match arguments.after.split_last() {
        Some(later) => later,
        None => (&arguments.before, &[][..]),
    };
    for file in others {
        let (heap, sound) = sums(file, arguments)?;
        verdict = verdict.and(sound == Verdict::Sound);
        between.push(heap);
    }
    let (after, sound) = sums(last, arguments)?;
    if before.sizes != after.sizes {
        // If stderr is closed, nobody is there to be warned.
        let _ = writeln!(
            io::stderr(),
            "hprof: one of the two tells the JVM's own sizes, the other does not: --sizes mat compares them by the same rules"
        );
    }
    let grown = change(before.total_bytes, after.total_bytes);
    let mut answer = Sections::default();
    if !between.is_empty() {
        let all = [&before].into_iter().chain(&between).chain([&after]);
        answer = trends(&all.collect::<Vec<_>>(), limit(arguments.top));
    }
    answer.extend(diff(before, after, limit(arguments.top)));
    print(arguments.json, answer)?;
    let limit = arguments.fail_if_grown.map(i128::from);
    let failed = limit.is_some_and(|limit| grown > limit);
    Ok(verdict.and(sound == Verdict::Sound && !failed))
}

/// A time as people write it.
fn duration(text: &str) -> Result<Duration, String> {
    let parsed: Result<jiff::SignedDuration, _> = text.parse();
    let time = parsed.ok().and_then(|time| Duration::try_from(time).ok());
    time.ok_or_else(|| "a time is written as 30s, 10m or 1h".to_owned())
}

fn sums(file: &Path, arguments: &Arguments) -> Result<(Sums, Verdict), Failure> {
    let by = arguments.by;
    let arguments = GraphArguments {
        file: file.to_owned(),
        references: arguments.references,
        sizes: arguments.sizes,
        dump: None,
        agent: arguments.agent.clone(),
    };
    let (loaded, verdict) = arguments.load(2)?;
    loaded.file.done();
    Ok((Sums::of(&loaded, by == By::Site)?, verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_people_do() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert!(duration("-1s").is_err() && duration("soon").is_err());
    }
}
