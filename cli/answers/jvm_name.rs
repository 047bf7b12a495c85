//! The JVM that a dump is of.

use graph::{GraphError, Heap};

/// Where the JDK has its version, the newest first.
const VERSIONS: [(&str, &str); 2] = [
    ("java.lang.VersionProps", "java_version"),
    ("sun.misc.Version", "java_version"),
];

/// Most bytes of a version.
const BYTES: usize = 100;

/// The JVM's name and version as the agent has written them, or the JDK's version; `None` if the
/// dump has neither. Errors: the file cannot be read.
pub(crate) fn jvm_name(heap: &Heap<'_>) -> Result<Option<String>, GraphError> {
    let words = &heap.directory().strings.facts().words;
    if let Some(name) = words.get("jvm") {
        return Ok(Some(name.clone()));
    }
    let is_one = |class: &u32| VERSIONS.iter().any(|it| it.0 == heap.class_name(*class));
    let classes = (0..heap.classes()).filter(is_one);
    let objects: Vec<u32> = classes.filter_map(|it| heap.object_of_class(it)).collect();
    let contents = heap.contents(&objects, 0)?;
    let fields = contents.values().flat_map(|it| heap.fields(it));
    let fields = fields.filter(|it| VERSIONS.iter().any(|(_, field)| *field == it.name));
    let texts: Vec<u32> = fields.filter_map(|it| heap.object(it.value)).collect();
    let texts = heap.strings(&texts, BYTES)?;
    Ok(texts.into_values().next().map(|it| format!("Java {it}")))
}
