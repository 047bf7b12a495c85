//! Rewrites the classes in a file to another file, and prints how many and how fast.
//!
//! `rewrite_classes FROM TO PLAN`, where PLAN is some of `init`, `arrays`, `calls` and `every`
//! joined by commas: the fields of `bytecode::Plan`. Both files contain a sequence of classes, each
//! as the length of its name in two bytes, the name, the length of the class file in four bytes,
//! and the class file; `java.io.DataOutputStream` writes this format. The tracker class is the last
//! one in TO. With `every` alone nothing is inserted: TO must equal FROM.
// A tool for developers and for java-tests/, so it may print.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use bytecode::{names, rewrite, tracker_class, Plan, Reason, Rewritten};
use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

/// The tool reports any error in one line.
type Outcome<T> = Result<T, Box<dyn Error>>;

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

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, words] = arguments.as_slice() else {
        return Err("usage: rewrite_classes FROM TO init,arrays,calls,every".into());
    };
    let plan = plan(words)?;
    // All classes are read before the first is rewritten, so that only rewriting is timed.
    let from = fs::read(from)?;
    let mut rest = from.as_slice();
    let mut to = BufWriter::new(File::create(to)?);
    let mut totals = Totals::default();
    let mut next_number = 0;
    while !rest.is_empty() {
        let name_length = u16::from_be_bytes(take(&mut rest, 2)?.try_into()?);
        let name = take(&mut rest, name_length.into())?;
        let length = u32::from_be_bytes(take(&mut rest, 4)?.try_into()?);
        let old = take(&mut rest, length.try_into()?)?;
        let new = totals.rewrite(name, old, &plan, &mut next_number);
        put(&mut to, name, new.as_deref().unwrap_or(old))?;
    }
    if plan.object_init || plan.arrays || plan.calls {
        let name = format!("{}.class", names::TRACKER);
        put(&mut to, name.as_bytes(), &tracker_class()?)?;
    }
    to.flush()?;
    totals.print();
    if totals.faults > 0 {
        return Err("some classes are not understood".into());
    }
    Ok(())
}

fn plan(words: &str) -> Outcome<Plan> {
    let mut plan = Plan::default();
    for word in words.split(',') {
        match word {
            "init" => plan.object_init = true,
            "arrays" => plan.arrays = true,
            "calls" => plan.calls = true,
            "every" => plan.every_method = true,
            _ => return Err(format!("no plan: {word}").into()),
        }
    }
    Ok(plan)
}

/// The next bytes of the file.
fn take<'a>(rest: &mut &'a [u8], count: usize) -> Outcome<&'a [u8]> {
    let (taken, left) = rest
        .split_at_checked(count)
        .ok_or("FROM ends in the middle of a class")?;
    *rest = left;
    Ok(taken)
}

fn put(to: &mut impl Write, name: &[u8], class: &[u8]) -> Outcome<()> {
    to.write_all(&u16::try_from(name.len())?.to_be_bytes())?;
    to.write_all(name)?;
    to.write_all(&u32::try_from(class.len())?.to_be_bytes())?;
    Ok(to.write_all(class)?)
}

impl Totals {
    /// The new class; `None` if it is unchanged.
    fn rewrite(
        &mut self,
        name: &[u8],
        old: &[u8],
        plan: &Plan,
        next_number: &mut u32,
    ) -> Option<Vec<u8>> {
        let start = Instant::now();
        let result = rewrite(old, plan, |_| {
            *next_number += 1;
            Some(*next_number)
        });
        self.time += start.elapsed();
        self.classes += 1;
        self.bytes_in += old.len();
        let class = String::from_utf8_lossy(name);
        let rewritten = result.unwrap_or_else(|error| {
            eprintln!("{class}: {error}");
            self.faults += 1;
            Rewritten::default()
        });
        for method in &rewritten.left_alone {
            let name = String::from_utf8_lossy(&method.name);
            eprintln!("{class} {name}: {}", method.reason);
            *self.left_alone.entry(method.reason).or_default() += 1;
        }
        self.changed += usize::from(rewritten.bytes.is_some());
        self.methods += rewritten.methods_rewritten;
        self.without_handler += rewritten.without_handler;
        self.bytes_out += rewritten.bytes.as_ref().map_or(old.len(), Vec::len);
        rewritten.bytes
    }

    fn print(&self) {
        let seconds = self.time.as_secs_f64();
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        println!(
            "{} classes, {} changed, {} methods rewritten, {} without handler, left alone: {:?}",
            self.classes, self.changed, self.methods, self.without_handler, self.left_alone
        );
        println!(
            "{:.1} MB -> {:.1} MB in {seconds:.2} s: {:.0} MB/s, {:.0} classes/s",
            megabytes(self.bytes_in),
            megabytes(self.bytes_out),
            megabytes(self.bytes_in) / seconds,
            self.classes as f64 / seconds
        );
    }
}
