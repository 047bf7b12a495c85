//! What no root leads to, in answers about what is reachable.

use serde_json::json;

use crate::files::heap_file::Loaded;
use crate::output::{counted, grouped, Sections};

/// Adds bytes and number of the objects that no root leads to; the text has a line if there are
/// some, after `before`.
pub(super) fn unreachable(answer: &mut Sections<'_>, loaded: &Loaded, before: &str) {
    let rest = loaded.retained.unreachable(&loaded.heap);
    let in_json = json!({ "bytes": rest.bytes, "objects": rest.objects });
    answer.json("unreachable", in_json);
    if rest.objects > 0 {
        let (bytes, objects) = (grouped(rest.bytes), counted(rest.objects, "object"));
        answer.line(format!(
            "{before}No root leads to {bytes} bytes in {objects} more; hprof histo --unreachable lists them"
        ));
    }
}
