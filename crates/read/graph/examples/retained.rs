//! Prints the largest objects of a dump, and how long each step took.
#![allow(clippy::print_stdout)]

use std::fs::File;
use std::time::Instant;

use graph::{Heap, Input, Options, References, Retained};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args()
        .nth(1)
        .ok_or("usage: retained FILE [THREADS]")?;
    let mut options = Options::default();
    if let Some(threads) = std::env::args().nth(2) {
        options.threads = threads.parse()?;
    }
    let start = Instant::now();
    let heap = Heap::read(Input::new(File::open(file)?, &|_| {})?, options)?;
    println!(
        "read in {:?}: {} objects, {} references",
        start.elapsed(),
        heap.objects(),
        heap.references()
    );
    let start = Instant::now();
    let retained = Retained::of(&heap, References::All)?;
    println!(
        "retained in {:?}: {} reachable, {} bytes",
        start.elapsed(),
        retained.reachable(),
        retained.total_bytes()
    );
    for object in retained.top().into_iter().take(10) {
        println!(
            "{:>14} {:#x} {}",
            retained.bytes(object),
            heap.id(object),
            heap.class_name(heap.class(object))
        );
    }
    Ok(())
}
