//! What each allocating stack keeps alive.

use graph::SiteTotal;

use crate::answers::site_source::ADVICE;
use crate::files::heap_file::Loaded;
use crate::output::frame;
use crate::output::number::whole;
use crate::output::outcome::Failure;
use crate::output::sections::Sections;
use crate::output::table::Table;

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
    let stacks = std::rc::Rc::new(heap.stacks());
    let lines = std::rc::Rc::clone(&stacks);
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
            frames.map(frame::line_below).collect()
        })
        .done();
    let mut answer = Sections::default();
    answer.table("rows", "left_out", table);
    Ok(answer)
}
