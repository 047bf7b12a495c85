//! Allocation sites: what each keeps alive, and what it allocated.

use std::cmp::Reverse;
use std::rc::Rc;

use graph::SiteTotal;
use reader::{Amount, Profiles, Site, SiteTable};
use serde_json::json;

use crate::answers::site_source::{SiteSource, ADVICE};
use crate::files::heap_file::Loaded;
use crate::output::frame::{self, line_below};
use crate::output::number::whole;
use crate::output::table::INDENT;
use crate::output::{counted, Cell, Failure, Sections, Table};

/// Number of frames printed of each stack.
pub(crate) const DEPTH_FRAMES: usize = 8;

/// The sites, largest first. Errors: no object has a stack.
pub(crate) fn rows(loaded: &Loaded) -> Result<Vec<SiteTotal>, Failure> {
    let stacks = loaded.heap.stacks();
    let mut rows = loaded.retained.sites(&loaded.heap);
    rows.retain(|row| !stacks.is_empty(row.trace));
    if rows.is_empty() {
        let missing = "no object of the heap dump carries the stack where it was allocated";
        let why = format!("no allocation sites: {missing}. {ADVICE}");
        return Err(loaded.file.refuse(why));
    }
    Ok(rows)
}

/// The first `most` sites. Errors: no object has a stack.
pub(super) fn sites(loaded: &Loaded, most: usize) -> Result<Sections<'_>, Failure> {
    let heap = &loaded.heap;
    let stacks = Rc::new(heap.stacks());
    let lines = Rc::clone(&stacks);
    let table = Table::of(rows(loaded)?, most)
        .right("retained", "retained", |row| whole(row.retained_bytes))
        .right("error", "error", |row| whole(row.error_bytes))
        .right("objects", "objects", |row| whole(row.objects))
        .left("class", "class", |row| heap.class_name(row.class))
        .hidden("frames", move |row| {
            frame::in_json(stacks.frames(row.trace))
        })
        .below(move |row| {
            let frames = lines.frames(row.trace).take(DEPTH_FRAMES);
            frames.map(line_below).collect()
        })
        .noun("site");
    let mut answer = Sections::default();
    answer.table("rows", "left_out", table);
    Ok(answer)
}

/// The profiler's sites in a file, or those of its objects: the `top` largest by live bytes, or by
/// all bytes ever allocated, with up to `depth` frames of each.
pub(crate) fn listing<'a>(
    found: &'a Profiles,
    (source, table): (SiteSource, &'a SiteTable),
    is_allocated: bool,
    (top, depth): (usize, usize),
) -> Sections<'a> {
    let mut answer = Sections::default();
    head(&mut answer, found, (source, table), is_allocated);
    let all = |site: &Site| site.allocated.unwrap_or_default();
    let mut rows: Vec<&Site> = table.rows.iter().collect();
    if is_allocated {
        rows.sort_by_key(|site| Reverse((all(site).bytes, all(site).objects)));
    }
    // Live and allocated numbers, or live numbers only.
    let both = |title| if table.allocated.is_some() { title } else { "" };
    let (title, whole) = match is_allocated {
        true => ("allocated %", table.allocated.unwrap_or_default().bytes),
        false => ("live %", table.live.bytes),
    };
    let share = move |site: &Site| match whole {
        0 => "-".to_owned(),
        whole => {
            let part = if is_allocated { all(site) } else { site.live };
            format!("{:.2}", part.bytes as f64 * 100.0 / whole as f64)
        }
    };
    let stacks = &found.stacks;
    let table = Table::of((1_u64..).zip(rows), top)
        .right("rank", "rank", |(rank, _)| *rank)
        .right(title, "", move |(_, site)| share(site))
        .right("live bytes", "", |(_, site)| site.live.bytes)
        .right("live objects", "", |(_, site)| site.live.objects)
        .right(both("allocated bytes"), "", move |(_, it)| all(it).bytes)
        .right(both("allocated objects"), "", move |(_, it)| {
            all(it).objects
        })
        .left("class", "class", |(_, site)| &*site.class)
        .hidden("allocated", |(_, site)| site.allocated.map(in_json))
        .hidden("live", |(_, site)| in_json(site.live))
        .hidden("trace", |(_, site)| site.trace)
        .hidden("frames", move |(_, site)| {
            frame::in_json(stacks.frames(site.trace).take(depth))
        })
        .below(move |(_, site)| {
            if stacks.is_empty(site.trace) {
                return vec![format!("{INDENT}(no stack)")];
            }
            let frames = stacks.frames(site.trace).take(depth).map(line_below);
            let left_out = stacks.depth_frames(site.trace).saturating_sub(depth) as u64;
            let more = || format!("{INDENT}... and {}", counted(left_out, "more frame"));
            frames.chain((left_out > 0).then(more)).collect()
        });
    answer.table("sites", "", table.noun("site"));
    answer
}

fn head(
    answer: &mut Sections<'_>,
    found: &Profiles,
    (source, table): (SiteSource, &SiteTable),
    is_allocated: bool,
) {
    let has_dump = found.dumped.is_some();
    let (from, words) = match (source, has_dump) {
        (SiteSource::Sites, true) => (
            "sites",
            "As the profiler counted; live are the objects of the heap dump",
        ),
        (SiteSource::Sites, false) => ("sites", "As the profiler counted"),
        (SiteSource::Dump, _) => ("dump", "From the heap dump"),
    };
    let carried = counted(table.carried.objects, "object");
    answer.line(match has_dump {
        true => format!("{words}, estimated from {carried} with a stack"),
        false => words.to_owned(),
    });
    let sites = counted(table.rows.len() as u64, "site");
    let rest = match table.allocated {
        Some(allocated) => format!("{} allocated", in_words(allocated)),
        None => format!("{} without a stack", in_words(table.stackless)),
    };
    let live = in_words(table.live);
    answer.line(format!("{sites}; {live} live; {rest}\n"));
    answer.fact("allocated", table.allocated.map(in_json));
    answer.fact("damaged", found.damaged);
    answer.fact("from", from);
    answer.fact("live", in_json(table.live));
    answer.fact("order", if is_allocated { "allocated" } else { "live" });
    answer.fact("without_stack", in_json(table.stackless));
}

fn in_json(amount: Amount) -> Cell {
    Cell::json(json!({ "bytes": amount.bytes, "objects": amount.objects }))
}

fn in_words(amount: Amount) -> String {
    let bytes = counted(amount.bytes, "byte");
    format!("{bytes} in {}", counted(amount.objects, "object"))
}
