//! What holds memory outside of the heap, in one sentence.

use graph::{NativeKind, NativeSuspect};

use crate::answers::memory::kind_words;
use crate::answers::sentence::{held_by, Words};
use crate::output::{counted, in_units};

impl Words<'_, '_> {
    /// The sentence about memory outside of the heap: what it is, how much, and who holds it.
    pub(crate) fn native(&self, native: &NativeSuspect) -> String {
        let group = &native.group;
        let what = match group.kind {
            NativeKind::Deflater => "deflater",
            NativeKind::Inflater => "inflater",
            other => kind_words(other),
        };
        let mut text = format!(
            "{} {} {} outside of the heap, beside {} in it",
            counted(group.objects, what),
            if group.objects == 1 { "has" } else { "have" },
            in_units(group.bytes),
            in_units(self.total_bytes)
        );
        if let Some(path) = &native.path {
            if let Some(holder) = self.holder(path) {
                let way = self.way(&native.way);
                text.push_str(&format!(", {} {holder}{way}", held_by(path)));
            }
        }
        text.push('.');
        text
    }
}
