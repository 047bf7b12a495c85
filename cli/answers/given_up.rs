//! What Android or LeakCanary gave up, and something keeps: by class and reason, with a path.

use std::collections::BTreeMap;

use graph::{GivenUp, GraphError, Heap};

use super::path::{self, Names};
use crate::output::{grouped, plain, shown, Sections};

/// Most classes listed.
const CLASSES_MAX: usize = 10;

/// Most steps of a path.
const STEPS_MAX: usize = 18;

/// Those of a heap by class, most objects first. Errors: the file cannot be read.
pub(super) fn given_up<'a>(heap: &Heap<'_>) -> Result<Vec<Sections<'a>>, GraphError> {
    let mut groups: BTreeMap<(GivenUp, u32), (u64, u32)> = BTreeMap::new();
    for leak in heap.android_leaks()? {
        let key = (leak.why, heap.class(leak.object));
        groups.entry(key).or_insert((0, leak.object)).0 += 1;
    }
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (objects, _))| std::cmp::Reverse(*objects));
    groups.truncate(CLASSES_MAX);
    let examples: Vec<u32> = groups.iter().map(|(_, (_, object))| *object).collect();
    let paths = heap.paths(&examples, STEPS_MAX)?;
    let answer = |(((why, class), (objects, _)), path): (_, Option<graph::Path>)| {
        let mut answer = Sections::default();
        let (class, why) = (heap.class_name(class), reason(why));
        let (count, name) = (grouped(objects), plain(&shown(&class)));
        answer.line(format!("\n{count} {name} should be gone: {why}"));
        path::add(&mut answer, heap, path.as_ref(), &Names::new());
        answer.fact("class", class);
        answer.fact("objects", objects);
        answer.fact("why", why);
        answer
    };
    Ok(groups.into_iter().zip(paths).map(answer).collect())
}

fn reason(why: GivenUp) -> &'static str {
    match why {
        GivenUp::DestroyedActivity => "a destroyed activity",
        GivenUp::DestroyedFragment => "a destroyed fragment",
        GivenUp::Watched => "LeakCanary waits for it",
    }
}
