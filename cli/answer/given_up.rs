//! What Android or LeakCanary gave up, and something keeps: by class and reason, with a path.

use std::collections::BTreeMap;
use std::io::{self, Write};

use graph::{GivenUp, GraphError, Heap};
use serde::Serialize;

use super::path::PathAnswer;
use crate::number::grouped;
use crate::plain::{plain, shown};

/// Most classes listed.
const CLASSES_MAX: usize = 10;

/// Most steps of a path.
const STEPS_MAX: usize = 18;

/// Objects of one class that should be gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct GivenUpAnswer {
    class: String,
    objects: u64,
    /// The path to one of them.
    path: Option<PathAnswer>,
    /// Why they should be gone.
    why: String,
}

impl GivenUpAnswer {
    /// Those of a heap, most objects first. Errors: the file cannot be read.
    pub(super) fn all(heap: &Heap<'_>) -> Result<Vec<Self>, GraphError> {
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
        let answer = |(((why, class), (objects, _)), path): (_, Option<graph::Path>)| Self {
            class: heap.class_name(class),
            objects,
            path: path.map(|path| PathAnswer::of(heap, &path)),
            why: reason(why).to_owned(),
        };
        Ok(groups.into_iter().zip(paths).map(answer).collect())
    }

    /// As text.
    pub(super) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        let class = plain(&shown(&self.class));
        let objects = grouped(self.objects);
        writeln!(
            to,
            "\n{objects} {class} should be gone: {}",
            plain(&self.why)
        )?;
        self.path.as_ref().map_or(Ok(()), |path| path.print(to))
    }
}

fn reason(why: GivenUp) -> &'static str {
    match why {
        GivenUp::DestroyedActivity => "a destroyed activity",
        GivenUp::DestroyedFragment => "a destroyed fragment",
        GivenUp::Watched => "LeakCanary waits for it",
    }
}
