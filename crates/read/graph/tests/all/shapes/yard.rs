//! A heap under construction: classes by name, objects, and a list of its references, by which the
//! tests judge without the code that they judge.

use std::collections::BTreeMap;

use graph::Heap;
use sample::{Dump, BYTE, INT, LONG, REF};

/// The heap.
pub(super) struct Yard {
    pub(super) dump: Dump,
    next: u64,
    /// Id of each class, and the types of its objects' fields.
    classes: BTreeMap<String, (u64, Vec<u8>)>,
    /// From, to; 0 for a root.
    references: Vec<(u64, u64)>,
}

impl Yard {
    pub(super) fn new() -> Self {
        let mut dump = Dump::new(8);
        for id in [Dump::OBJECT, Dump::ARRAY, Dump::THREAD_CLASS] {
            dump.root(id);
        }
        let mut yard = Self {
            dump,
            next: 0x1_0000,
            classes: BTreeMap::from([("java/lang/Object".to_owned(), (Dump::OBJECT, vec![]))]),
            references: Vec::new(),
        };
        yard.class("java/lang/Class", "", "");
        yard
    }

    /// The id of the next object.
    pub(super) fn id(&mut self) -> u64 {
        self.next += 8;
        self.next
    }

    pub(super) fn ids(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.id()).collect()
    }

    /// A class with these fields: references, or `name:i`, `name:l`, `name:b`. It is a root.
    pub(super) fn class(&mut self, name: &str, above: &str, fields: &str) -> u64 {
        self.class_with(name, above, fields, &[])
    }

    pub(super) fn class_with(
        &mut self,
        name: &str,
        above: &str,
        fields: &str,
        statics: &[(&str, u64)],
    ) -> u64 {
        if let Some((id, _)) = self.classes.get(name) {
            return *id;
        }
        let id = self.free_class(name, above, fields, (0, statics));
        self.dump.add(self.dump.to().root(0x05, id));
        self.references.push((0, id));
        id
    }

    /// A class of a loader, which is no root.
    pub(super) fn free_class(
        &mut self,
        name: &str,
        above: &str,
        fields: &str,
        (loader, statics): (u64, &[(&str, u64)]),
    ) -> u64 {
        let id = self.id();
        let fields: Vec<(&str, u8)> = fields
            .split_whitespace()
            .map(|field| match field.split_once(':') {
                Some((name, "i")) => (name, INT),
                Some((name, "l")) => (name, LONG),
                Some((name, _)) => (name, BYTE),
                None => (field, REF),
            })
            .collect();
        let above = if above.is_empty() {
            "java/lang/Object"
        } else {
            above
        };
        let (above, inherited) = self.classes[above].clone();
        self.dump
            .class_of(id, name, (above, loader), &fields, statics);
        let own = fields.iter().map(|(_, kind)| *kind);
        let kinds = own.chain(inherited).collect();
        self.classes.insert(name.to_owned(), (id, kinds));
        let targets = statics.iter().map(|(_, to)| *to).chain([loader]);
        for to in targets.filter(|to| *to != 0) {
            self.references.push((id, to));
        }
        id
    }

    /// An instance; the values of its class's own fields first.
    pub(super) fn put(&mut self, id: u64, class: &str, values: &[u64]) {
        let (class, kinds) = &self.classes[class];
        assert_eq!(kinds.len(), values.len());
        let size = |kind: u8| match kind {
            INT => 4,
            BYTE => 1,
            _ => 8,
        };
        let fields: Vec<(u32, u64)> = kinds
            .iter()
            .zip(values)
            .map(|(k, v)| (size(*k), *v))
            .collect();
        self.dump.instance_with(id, *class, &fields);
        self.references.push((id, *class));
        let all = kinds.iter().zip(values);
        let targets = all.filter(|(kind, to)| **kind == REF && **to != 0);
        self.references.extend(targets.map(|(_, to)| (id, *to)));
    }

    pub(super) fn make(&mut self, class: &str, values: &[u64]) -> u64 {
        let id = self.id();
        self.put(id, class, values);
        id
    }

    /// An array of references whose class has this name.
    pub(super) fn array(&mut self, class: &str, elements: &[u64]) -> u64 {
        let (id, class) = (self.id(), self.class(class, "", ""));
        self.dump
            .add(self.dump.to().object_array(id, class, elements));
        let targets = elements.iter().filter(|to| **to != 0);
        self.references.extend(targets.map(|to| (id, *to)));
        id
    }

    pub(super) fn bytes(&mut self, count: usize) -> u64 {
        let id = self.id();
        self.dump.byte_array(id, &vec![b'x'; count]);
        id
    }

    /// A string of so many bytes, which begins with a number.
    pub(super) fn text(&mut self, number: usize, count: usize) -> u64 {
        self.class("java/lang/String", "", "value hash:i coder:b");
        let (id, text) = (self.id(), format!("{number:08}"));
        let text = text + &"x".repeat(count.saturating_sub(8));
        self.dump.byte_array(id, text.as_bytes());
        self.make("java/lang/String", &[id, 0, 0])
    }

    /// All instances of a class.
    pub(super) fn all(&self, class: &str) -> Vec<u64> {
        let id = self.classes.get(class).map_or(0, |(id, _)| *id);
        let of_class = self.references.iter().filter(|(_, to)| *to == id);
        of_class
            .map(|(from, _)| *from)
            .filter(|from| *from != 0)
            .collect()
    }

    /// A local variable of the thread.
    pub(super) fn local(&mut self, id: u64) {
        self.dump.local(id);
        self.references.push((0, id));
    }

    /// A JNI global reference.
    pub(super) fn global(&mut self, id: u64) {
        self.dump.add(self.dump.to().root(0x01, id).id(0xFFFF_0000));
        self.references.push((0, id));
    }

    /// What the references say.
    pub(super) fn judge(&self, heap: &Heap<'_>) -> Judge {
        let place = |id: u64| (id / 8) as usize;
        let mut judge = Judge {
            targets: vec![Vec::new(); place(self.next) + 1],
            bytes: vec![0; place(self.next) + 1],
            reached: 0,
        };
        for (from, to) in &self.references {
            judge.targets[place(*from)].push(*to);
            judge.bytes[place(*to)] = heap.shallow_bytes(heap.object(*to).unwrap());
        }
        judge.reached = judge.reached(|_, _| false);
        judge
    }
}

/// The references of a heap, by the eighth part of the id that they come from.
pub(super) struct Judge {
    targets: Vec<Vec<u64>>,
    bytes: Vec<u64>,
    /// Bytes of all that roots lead to.
    reached: u64,
}

impl Judge {
    /// The bytes that no root leads to if these references are cut.
    pub(super) fn freed(&self, is_cut: impl Fn(u64, u64) -> bool) -> u64 {
        self.reached - self.reached(is_cut)
    }

    /// The bytes that each of these objects keeps, all of them together.
    pub(super) fn kept_by(&self, objects: &[u64]) -> u64 {
        const SEVERAL: u64 = u64::MAX;
        let place = |id: u64| (id / 8) as usize;
        let mut is_one = vec![false; self.bytes.len()];
        objects.iter().for_each(|id| is_one[place(*id)] = true);
        let others = self.reach(|_, to| is_one[place(to)]);
        // Which of them an object belongs to.
        let mut owners = vec![0; self.bytes.len()];
        for owner in objects {
            let mut open = vec![*owner];
            while let Some(id) = open.pop() {
                let at = &mut owners[place(id)];
                if others[place(id)] || *at == *owner || *at == SEVERAL {
                    continue;
                }
                *at = if *at == 0 { *owner } else { SEVERAL };
                let below = self.targets[place(id)].iter();
                open.extend(below.filter(|to| !is_one[place(**to)]));
            }
        }
        let all = owners.iter().zip(&self.bytes);
        let kept = all.filter(|(owner, _)| **owner != 0 && **owner != SEVERAL);
        kept.map(|(_, bytes)| bytes).sum()
    }

    fn reached(&self, is_cut: impl Fn(u64, u64) -> bool) -> u64 {
        let all = self.reach(is_cut).into_iter().zip(&self.bytes);
        all.filter(|(is_reached, _)| *is_reached)
            .map(|(_, bytes)| bytes)
            .sum()
    }

    /// Whether roots lead to each object.
    fn reach(&self, is_cut: impl Fn(u64, u64) -> bool) -> Vec<bool> {
        let mut seen = vec![false; self.bytes.len()];
        let mut open = vec![0_u64];
        while let Some(from) = open.pop() {
            for to in self.targets[(from / 8) as usize]
                .iter()
                .filter(|to| !is_cut(from, **to))
            {
                let place = (*to / 8) as usize;
                if !std::mem::replace(&mut seen[place], true) {
                    open.push(*to);
                }
            }
        }
        seen
    }
}
