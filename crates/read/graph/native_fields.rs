//! Classes with memory outside of the heap, and the values of their fields by name.

use format::ClassName;
use reader::FieldPlace;
use rustc_hash::FxHashMap;

use crate::contents::Contents;
use crate::heap::Heap;

/// Looks up known classes, and fields in the bytes of their instances.
#[derive(Clone, Debug)]
pub(crate) struct NativeFields<'h, 'p> {
    heap: &'h Heap<'p>,
    /// The classes with known names, by number.
    known: FxHashMap<usize, &'static str>,
}

impl<'h, 'p> NativeFields<'h, 'p> {
    /// Knows the classes with these names (`java.nio.Buffer`).
    pub(crate) fn new(heap: &'h Heap<'p>, names: &[&'static str]) -> Self {
        let directory = heap.directory();
        let known = directory.classes.iter().enumerate();
        let known = known.filter_map(|(number, class)| {
            let name = directory.strings.bytes(class.name)?;
            let name = ClassName::from_dump(name).to_java();
            Some((number, *names.iter().find(|known| **known == name)?))
        });
        Self {
            heap,
            known: known.collect(),
        }
    }

    /// The first of these names that a class or one of its superclasses has, nearest first.
    pub(crate) fn base(&self, class: u32, names: &[&'static str]) -> Option<&'static str> {
        let classes = &self.heap.directory().classes;
        let mut chain = classes.chain(class as usize);
        chain.find_map(|class| {
            let name = self.known.get(&classes.index(class.id)?)?;
            names.contains(name).then_some(*name)
        })
    }

    /// The value of an instance's field that this class declares, as raw bits; `None` if there is
    /// no such field.
    pub(crate) fn value(&self, contents: &Contents, class: &str, field: &str) -> Option<u64> {
        let Contents::Instance { class: own, data } = contents else {
            return None;
        };
        let directory = self.heap.directory();
        let mut places = directory.classes.places(directory.classes.index(*own)?);
        let is_of = |number: usize| self.known.get(&number) == Some(&class);
        let is_it =
            |it: &FieldPlace<'_>| it.is_named(&directory.strings, field) && is_of(it.class_number);
        places.find(is_it)?.value(data)
    }
}
