//! What holds for each answer about leaks, whatever the heap is.

use graph::{Elements, Heap, Leaks, Link, Path, Retained, Suspect, Who};

/// Fails if an answer contradicts itself or the heap.
pub fn must_agree(heap: &Heap<'_>, retained: &Retained, leaks: &Leaks) {
    assert!(leaks.total_bytes <= retained.total_bytes());
    for suspect in &leaks.suspects {
        let who = &suspect.who;
        assert!(suspect.bytes <= leaks.total_bytes, "{who:?}");
        assert!(suspect.soft_bytes <= suspect.bytes, "{who:?}");
        assert!(suspect.accumulated_bytes <= leaks.total_bytes, "{who:?}");
        assert!(suspect.alike.percent <= 100, "{who:?}");
        if let Who::Class { objects, .. } = *who {
            assert!(suspect.alike.roots <= objects, "{who:?}");
        }
        the_sentence_is_that_of_the_tables(heap, suspect);
        // Of many roots that hold one each, the path has one.
        let is_whole = |path: &&Path| !path.is_weak && suspect.alike.roots <= 1;
        if let Some(path) = suspect.main_path().filter(is_whole) {
            the_holder_leads_to_the_elements(heap, suspect, path);
        }
    }
}

/// The number of a class's objects in the heap; of several classes of this name, all.
fn all_of(heap: &Heap<'_>, class: u32) -> u64 {
    let name = heap.class_name(class);
    let named: Vec<bool> = (0..heap.classes())
        .map(|class| heap.class_name(class) == name)
        .collect();
    heap.objects_of(|class| named[class as usize]).count() as u64
}

fn the_sentence_is_that_of_the_tables(heap: &Heap<'_>, suspect: &Suspect) {
    let held = &suspect.held;
    let bytes = |all: &mut dyn Iterator<Item = &Elements>| -> u64 { all.map(|it| it.bytes).sum() };
    let mut named = held.elements.iter().chain(&held.beside);
    assert!(bytes(&mut named) <= suspect.bytes, "{held:?}");
    // A row may be a part of another one: that of a chain has all nodes, and so what they have.
    let mut rows = held.below.iter();
    assert!(rows.all(|row| row.bytes <= suspect.bytes), "{held:?}");
    for it in held
        .elements
        .iter()
        .chain(&held.beside)
        .chain(&held.holders)
    {
        assert!(it.objects <= all_of(heap, it.class), "{it:?}");
    }
    for it in held.elements.iter().chain(&held.beside) {
        let row = |class: u32| held.below.iter().find(|row| row.class == class);
        // With the collections that they are in, they have the bytes of these.
        let around = held.holders.last().and_then(|around| row(around.class));
        let around = around.filter(|row| Some(*row) == held.holders.last());
        let is_same = |row: &Elements| {
            let bytes = around.map_or(row.bytes, |around| around.bytes);
            row.objects == it.objects && (row.bytes == it.bytes || bytes == it.bytes)
        };
        let row = row(it.class);
        assert!(row.is_none_or(is_same), "{it:?} is not {row:?}");
    }
    let of_table: u64 = suspect.holds.iter().map(|group| group.bytes).sum();
    assert!(of_table <= suspect.bytes, "{:?}", suspect.holds);
}

/// Most of some elements can be reached from where the path begins that says who holds them.
fn the_holder_leads_to_the_elements(heap: &Heap<'_>, suspect: &Suspect, path: &Path) {
    let is_static = |link| matches!(link, Some(Link::Static(_)));
    let start = path.steps.iter().rposition(|step| is_static(step.link));
    let is_elsewhere = path.static_field.is_some() && start.is_none();
    let Some(start) = path.steps.get(start.unwrap_or(0)).filter(|_| !is_elsewhere) else {
        return;
    };
    let mut seen = vec![false; heap.objects() as usize];
    let mut open = vec![start.object];
    while let Some(object) = open.pop() {
        if !std::mem::replace(&mut seen[object as usize], true) {
            open.extend(heap.targets(object));
            open.extend(heap.object_of_class(heap.class(object)));
        }
    }
    let some = suspect.some.len() as u64;
    let reached = suspect.some.iter().filter(|it| seen[**it as usize]);
    let reached = reached.count() as u64;
    assert!(
        reached * 200 >= some * suspect.alike.percent,
        "{reached} of {some} are reached: {suspect:?}"
    );
}
