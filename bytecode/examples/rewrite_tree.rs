//! Rewrites all class files below a folder into another one, and says how many and how fast.
//!
//! `rewrite_tree FROM TO PLAN`, where PLAN is `same`, or some of `init`, `arrays` and `calls` joined by commas. With
//! `-` for TO nothing is written. `same` puts nothing in and demands that the bytes come out as they went in.
// A tool for developers: it prints.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use bytecode::{rewrite, tracker_class, Plan, Reason};
use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Totals {
    classes: usize,
    changed: usize,
    methods: usize,
    without_handler: usize,
    left_alone: HashMap<Reason, usize>,
    bytes_in: usize,
    bytes_out: usize,
    time: Duration,
    faults: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, words] = arguments.as_slice() else {
        return Err("usage: rewrite_tree FROM TO same|init,arrays,calls".into());
    };
    let has = |word| words.split(',').any(|w| w == word);
    let plan = Plan {
        object_init: has("init"),
        arrays: has("arrays"),
        calls: has("calls"),
        every_method: has("same"),
        ..Plan::default()
    };
    let to = (to != "-").then(|| PathBuf::from(to));
    let mut totals = Totals::default();
    let mut next_number = 0;
    // All are read before the first is rewritten, so the time is that of rewriting alone.
    let read = |path: PathBuf| fs::read(&path).map(|bytes| (path, bytes));
    let paths = classes(Path::new(from))?;
    let classes: Vec<_> = paths.into_iter().map(read).collect::<Result<_, _>>()?;
    for (path, old) in classes {
        let place = to
            .as_ref()
            .map(|to| to.join(path.strip_prefix(from).unwrap_or(&path)));
        one_class(
            &path,
            &old,
            place.as_deref(),
            &plan,
            &mut next_number,
            &mut totals,
        )?;
    }
    if let Some(to) = to {
        let path = to.join(plan.tracker.class).with_extension("class");
        write(&path, &tracker_class(&plan.tracker)?)?;
    }
    totals.print();
    if totals.faults > 0 {
        return Err("some classes failed".into());
    }
    Ok(())
}

fn one_class(
    path: &Path,
    old: &[u8],
    to: Option<&Path>,
    plan: &Plan,
    next_number: &mut u32,
    totals: &mut Totals,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let result = rewrite(old, plan, |_| {
        *next_number += 1;
        Some(*next_number)
    });
    totals.time += start.elapsed();
    totals.classes += 1;
    totals.bytes_in += old.len();
    let rewritten = match result {
        Ok(rewritten) => rewritten,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            totals.faults += 1;
            return Ok(());
        }
    };
    for method in &rewritten.left_alone {
        let name = String::from_utf8_lossy(&method.name);
        eprintln!("{} {name}: {}", path.display(), method.reason);
        *totals.left_alone.entry(method.reason).or_default() += 1;
    }
    totals.changed += usize::from(rewritten.bytes.is_some());
    totals.methods += rewritten.methods_rewritten;
    totals.without_handler += rewritten.without_handler;
    let new = rewritten.bytes.as_deref().unwrap_or(old);
    totals.bytes_out += new.len();
    if plan.every_method && new != old {
        eprintln!("{}: not the same", path.display());
        totals.faults += 1;
    }
    if let Some(to) = to {
        write(to, new)?;
    }
    Ok(())
}

impl Totals {
    fn print(&self) {
        let seconds = self.time.as_secs_f64();
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        println!(
            "{} classes, {} changed, {} methods rewritten, {} without handler, left alone: {:?}",
            self.classes, self.changed, self.methods, self.without_handler, self.left_alone
        );
        println!(
            "{:.1} MB -> {:.1} MB in {seconds:.2} s: {:.0} MB/s, {:.0} classes/s; {} faults",
            megabytes(self.bytes_in),
            megabytes(self.bytes_out),
            megabytes(self.bytes_in) / seconds,
            self.classes as f64 / seconds,
            self.faults
        );
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, bytes)?)
}

/// All class files below a folder.
fn classes(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "class") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
