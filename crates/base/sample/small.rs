//! A small valid dump for tests to break.

use crate::*;

/// The class `java.lang.Object`.
pub const OBJECT: u64 = 0x1000;
/// The class `java.lang.Class`.
pub const CLASS: u64 = 0x1008;
/// The class `java.lang.String`.
pub const STRING: u64 = 0x1010;
/// The class `java.lang.Object[]`.
pub const OBJECT_ARRAY: u64 = 0x1018;
/// The class `int[]`.
pub const INT_ARRAY: u64 = 0x1020;
/// The class `java.lang.Thread`.
pub const THREAD: u64 = 0x1028;
/// The class `app.Base`.
pub const BASE: u64 = 0x1030;
/// The class `app.Leaf`, below `app.Base`.
pub const LEAF: u64 = 0x1038;

/// The thread "main".
pub const MAIN: u64 = 0x2000;
/// A thread without a name.
pub const WORKER: u64 = 0x2008;
/// An object of `app.Leaf`.
pub const LEAF_OBJECT: u64 = 0x2010;
/// An object of `app.Base`.
pub const BASE_OBJECT: u64 = 0x2018;
/// An array of three references.
pub const ARRAY: u64 = 0x2020;
/// An array of three booleans.
pub const FLAGS: u64 = 0x2028;
/// The name of the thread.
pub const NAME: u64 = 0x2030;
/// Its characters.
pub const NAME_CHARS: u64 = 0x2038;

/// Names of the classes in serial order, with ids and superclasses.
const CLASSES: [(u64, &str, u64); 18] = [
    (OBJECT, "java/lang/Object", 0),
    (CLASS, "java/lang/Class", OBJECT),
    (STRING, "java/lang/String", OBJECT),
    (0x1100, "java/lang/ClassLoader", OBJECT),
    (0x1108, "java/lang/ref/SoftReference", OBJECT),
    (0x1110, "java/lang/ref/WeakReference", OBJECT),
    (0x1118, "[Z", OBJECT),
    (0x1120, "[C", OBJECT),
    (0x1128, "[F", OBJECT),
    (0x1130, "[D", OBJECT),
    (0x1138, "[B", OBJECT),
    (0x1140, "[S", OBJECT),
    (INT_ARRAY, "[I", OBJECT),
    (0x1148, "[J", OBJECT),
    (OBJECT_ARRAY, "[Ljava/lang/Object;", OBJECT),
    (THREAD, "java/lang/Thread", OBJECT),
    (BASE, "app/Base", OBJECT),
    (LEAF, "app/Leaf", BASE),
];

impl Dump {
    /// A small valid dump that is complete, for a test to break: 18 classes, 2 threads, 3 frames, 4
    /// traces, 8 objects in two segments.
    pub fn small() -> Self {
        let mut sample = Self::empty(8);
        sample.time_millis = 1_700_000_000_000;
        sample.part = None;
        let mut head = Vec::new();
        for (at, (id, name, _)) in CLASSES.iter().enumerate() {
            head.push(load_class(at as u32 + 1, *id, sample.name(name)));
        }
        let (run, descriptor, file) = (
            sample.name("run"),
            sample.name("()V"),
            sample.name("Leaf.java"),
        );
        for (id, line) in [(1, 7), (2, -1), (3, -3)] {
            head.push(frame(id, run, descriptor, file, 18, line));
        }
        head.push(trace(1, 0, &[]));
        head.push(trace(2, 1, &[1, 2]));
        head.push(trace(3, 2, &[3]));
        head.push(trace(4, 0, &[2, 3]));
        let mut first = sample.classes();
        first.extend(roots());
        let strings = sample.strings.iter().zip(1..);
        sample.records = strings
            .map(|(text, id)| string(id, text.as_bytes()))
            .collect();
        sample.records.extend(head);
        sample.records.push(segment(first));
        sample.records.push(segment(objects()));
        sample.records.push(end());
        sample
    }

    /// Id of a string of the small dump, without a record if it is new.
    pub fn name(&mut self, text: &str) -> u64 {
        let at = self.strings.iter().position(|known| known == text);
        at.unwrap_or_else(|| {
            self.strings.push(text.to_owned());
            self.strings.len() - 1
        }) as u64
            + 1
    }

    /// The class dumps, in order.
    fn classes(&mut self) -> Vec<Vec<u8>> {
        let class = |at: usize| ClassDump::new(CLASSES[at].0, CLASSES[at].2);
        let mut dumps: Vec<ClassDump> = (0..CLASSES.len()).map(class).collect();
        dumps[2].fields = vec![(self.name("value"), REF)];
        dumps[2].size = 8;
        dumps[15].fields = vec![(self.name("name"), REF)];
        dumps[15].size = 8;
        dumps[16] = self.base();
        dumps[17] = self.leaf();
        dumps.iter().map(ClassDump::bytes).collect()
    }

    /// The class dump of `app.Base`.
    pub fn base(&mut self) -> ClassDump {
        ClassDump {
            fields: vec![(self.name("next"), REF), (self.name("flag"), BOOLEAN)],
            size: 9,
            ..ClassDump::new(BASE, OBJECT)
        }
    }

    /// The class dump of `app.Leaf`.
    pub fn leaf(&mut self) -> ClassDump {
        ClassDump {
            fields: vec![(self.name("v"), LONG)],
            statics: vec![
                (self.name("shared"), REF, BASE_OBJECT.to_be_bytes().to_vec()),
                (self.name("on"), BOOLEAN, vec![1]),
            ],
            size: 17,
            ..ClassDump::new(LEAF, BASE)
        }
    }

    /// Index of the `number`th record with this tag.
    pub fn at(&self, tag: u8, number: usize) -> usize {
        let mut places = (0..self.records.len()).filter(|at| self.records[*at].tag == tag);
        places.nth(number).unwrap()
    }

    /// The sub-records of the `number`th segment.
    pub fn heap(&mut self, number: usize) -> &mut Vec<Vec<u8>> {
        let at = self.at(0x1C, number);
        match &mut self.records[at].body {
            Body::Heap(sub_records) => sub_records,
            Body::Bytes(_) => panic!("a segment holds sub-records"),
        }
    }

    /// Index of a root or class dump, by first byte and object id.
    pub fn place(&mut self, number: usize, tag: u8, object: u64) -> usize {
        let id = object.to_be_bytes();
        let same = |sub: &Vec<u8>| sub[0] == tag && sub[1..9] == id;
        self.heap(number).iter().position(same).unwrap()
    }

    /// Replaces the class dump with the same id.
    pub fn replace_class(&mut self, dump: &ClassDump) {
        let at = self.place(0, 0x20, dump.id);
        self.heap(0)[at] = dump.bytes();
    }

    /// Replaces the object with the same id and tag.
    pub fn replace_object(&mut self, object: &[u8]) {
        let id = u64::from_be_bytes(object[1..9].try_into().unwrap());
        let at = self.place(1, object[0], id);
        self.heap(1)[at] = object.to_vec();
    }
}

fn roots() -> Vec<Vec<u8>> {
    vec![
        thread_root(MAIN, 1, 2),
        frame_root(LEAF_OBJECT, 1, 0),
        frame_root(ARRAY, 1, 1),
        bytes().u1(0x02).u8(FLAGS).u4(1).u4(u32::MAX).0,
        thread_root(WORKER, 2, 3),
        bytes().u1(0x02).u8(BASE_OBJECT).u4(2).u4(0).0,
        bytes().u1(0x04).u8(FLAGS).u4(2).0,
        bytes().u1(0x06).u8(FLAGS).u4(2).0,
        bytes().u1(0x01).u8(ARRAY).u8(0xDEAD).0,
        root(0x07, BASE_OBJECT),
        root(0x05, OBJECT),
    ]
}

fn objects() -> Vec<Vec<u8>> {
    let leaf = bytes().u8(42).u8(BASE_OBJECT).u1(1).0;
    vec![
        instance(MAIN, 1, THREAD, &NAME.to_be_bytes()),
        instance(WORKER, 1, THREAD, &0_u64.to_be_bytes()),
        instance(LEAF_OBJECT, 4, LEAF, &leaf),
        instance(BASE_OBJECT, 1, BASE, &bytes().u8(0).u1(0).0),
        instance(NAME, 1, STRING, &NAME_CHARS.to_be_bytes()),
        object_array(ARRAY, OBJECT_ARRAY, &[LEAF_OBJECT, 0, CLASS]),
        primitive_array(FLAGS, BOOLEAN, 3, &[0, 1, 1]),
        primitive_array(NAME_CHARS, CHAR, 4, b"\0m\0a\0i\0n"),
    ]
}
