//! Kept objects: what the check of a snapshot reads back, made while the heap has room for it.
//!
//! A heap is dumped most of all when it is full: to make an object then is a collection for nothing, or an `OutOfMemoryError`, which
//! ends a JVM that runs with `-XX:+ExitOnOutOfMemoryError`.

use super::heap_room;
use crate::heap::error::{DumpError, For};
use crate::jvmti::env::Env;
use crate::jvmti::global::Global;
use crate::jvmti::jni::Jni;
use crate::jvmti::new_object::JValue;
use crate::jvmti::object::Object;
use format::BasicType;
use parking_lot::Mutex;
use std::collections::HashMap;

/// The tag of the agent's own objects, which do not belong in a dump: HotSpot reports global references and held monitors as roots. No row
/// of a table has it.
pub(in crate::heap) const AGENTS_TAG: i64 = -1;

/// Of so many classes one has its mirror among the elements: such lie far from the objects.
const MIRROR_STEP: usize = 31;
/// Lengths of the arrays of each primitive type.
const LENGTHS: [usize; 4] = [0, 1, 5, 1000];

const OBJECT: &str = "Ljava/lang/Object;";
const STRING: &str = "Ljava/lang/String;";
const THROWABLE: &str = "Ljava/lang/Throwable;";

/// The array of them, while no dump uses it. Not held across calls of the JVM.
static KEPT: Mutex<Option<Global>> = Mutex::new(None);

/// What an element of the array is.
#[derive(Debug)]
pub(in crate::heap) enum Kind {
    /// An instance of the class with this signature.
    Instance(&'static str),
    /// An array of these bytes.
    Primitives(BasicType, Vec<u8>),
    /// An array of no references.
    NoReferences,
    /// Another object, or null: there is only what refers to it.
    Element,
}

/// The instances, in the order of the array. The last two are there to be locked.
const INSTANCES: [&str; 14] = [
    "Ljava/lang/Boolean;",
    "Ljava/lang/Byte;",
    "Ljava/lang/Character;",
    "Ljava/lang/Short;",
    "Ljava/lang/Integer;",
    "Ljava/lang/Float;",
    "Ljava/lang/Long;",
    "Ljava/lang/Double;",
    "Ljava/util/HashMap;",
    STRING,
    THROWABLE,
    OBJECT,
    OBJECT,
    OBJECT,
];

/// Whether the element at this index is locked while the snapshot is made.
pub(in crate::heap) fn is_to_lock(index: usize) -> bool {
    (INSTANCES.len() - 2..INSTANCES.len()).contains(&index)
}

/// What the element at this index is.
pub(in crate::heap) fn kind(index: usize) -> Kind {
    if let Some(signature) = INSTANCES.get(index) {
        return Kind::Instance(signature);
    }
    let mut arrays = primitive_arrays();
    match arrays.nth(index - INSTANCES.len()) {
        Some((element_type, length)) => {
            Kind::Primitives(element_type, pattern(element_type, length))
        }
        None if index == INSTANCES.len() + primitive_arrays().count() => Kind::NoReferences,
        None => Kind::Element,
    }
}

fn primitive_arrays() -> impl Iterator<Item = (BasicType, usize)> {
    let types = (4..=11).filter_map(BasicType::from_code);
    types.flat_map(|element_type| LENGTHS.map(|length| (element_type, length)))
}

/// Elements that differ from each other and from what memory is mostly filled with.
fn pattern(element_type: BasicType, length: usize) -> Vec<u8> {
    let bytes = length * element_type.size_bytes(8) as usize;
    let byte = |place: usize| u8::try_from((place * 37 + 11) % 251).unwrap_or(1);
    match element_type {
        BasicType::Boolean => (0..bytes).map(|place| byte(place) & 1).collect(),
        _ => (0..bytes).map(byte).collect(),
    }
}

/// The array of all kept objects, held by the frame alone while a dump uses it.
#[derive(Debug)]
pub(in crate::heap) struct KeptObjects<'f> {
    jni: &'f Jni<'f>,
    array: Object<'f>,
    /// They are kept for the next dump. An agent that is attached leaves nothing behind.
    outlive_this: bool,
}

impl Drop for KeptObjects<'_> {
    fn drop(&mut self) {
        if self.outlive_this {
            *KEPT.lock() = self.jni.keep(&self.array);
        }
    }
}

impl<'f> KeptObjects<'f> {
    /// Those that were made before; `None` if there are none.
    pub(in crate::heap) fn take(jni: &'f Jni<'f>) -> Option<Self> {
        let global = KEPT.lock().take()?;
        let array = jni.take_back(global)?;
        Some(Self {
            jni,
            array,
            outlive_this: true,
        })
    }

    /// The same, tagged as what does not belong in a dump.
    pub(in crate::heap) fn take_tagged(
        env: &Env,
        jni: &'f Jni<'f>,
    ) -> Result<Option<Self>, DumpError> {
        let kept = Self::take(jni);
        if let Some(kept) = &kept {
            let tagged = env.set_tag(&kept.array, AGENTS_TAG);
            tagged.when("a tag for an object of the agent's own")?;
        }
        Ok(kept)
    }

    /// Makes objects of every kind: all primitive types, inheritance, arrays, strings, hashed ones and such that can be locked. Only
    /// of the classes of the JDK that every JVM has loaded; no code but their constructors runs.
    pub(in crate::heap) fn make(env: &'f Env, jni: &'f Jni<'f>) -> Result<Self, DumpError> {
        let loaded = env.loaded_classes(jni).when("the loaded classes")?;
        Self::make_of(env, jni, loaded)
    }

    /// The same of these classes, all that are loaded.
    fn make_of(env: &'f Env, jni: &'f Jni<'f>, loaded: Vec<Object<'f>>) -> Result<Self, DumpError> {
        if !heap_room::is_there(env, jni, &loaded) {
            return Err(DumpError::FullHeap);
        }
        let array = Maker::new(env, jni, loaded)?.all()?;
        Ok(Self {
            jni,
            array,
            outlive_this: false,
        })
    }

    /// The array itself.
    pub(in crate::heap) fn array(&self) -> &Object<'f> {
        &self.array
    }

    /// Its elements; [`kind`] tells what they are.
    pub(in crate::heap) fn elements(&self) -> Vec<Option<Object<'f>>> {
        self.jni.elements(&self.array)
    }
}

/// Makes the kept objects before there is a dump to be made; `loaded` are all classes. In `VMInit`.
///
/// An error is none of the user's business: a dump makes them for itself, as an attached agent's does.
pub(in crate::heap) fn prepare<'f>(env: &'f Env, jni: &'f Jni<'f>, loaded: Vec<Object<'f>>) {
    if let Ok(mut made) = KeptObjects::make_of(env, jni, loaded) {
        made.outlive_this = true;
    }
}

/// Makes them.
struct Maker<'f> {
    env: &'f Env,
    jni: &'f Jni<'f>,
    /// Classes of the bootstrap loader that are needed, by signature.
    classes: HashMap<&'static str, Object<'f>>,
    /// Some classes, to be referred to.
    others: Vec<Object<'f>>,
}

impl<'f> Maker<'f> {
    fn new(env: &'f Env, jni: &'f Jni<'f>, loaded: Vec<Object<'f>>) -> Result<Self, DumpError> {
        let mut maker = Self {
            env,
            jni,
            classes: HashMap::new(),
            others: Vec::new(),
        };
        for (number, class) in loaded.into_iter().enumerate() {
            let signature = env.class_signature(&class).when("a class's signature")?;
            let needed = INSTANCES
                .into_iter()
                .find(|needed| needed.as_bytes() == signature);
            let is_the_jdks = || matches!(env.class_loader(jni, &class), Ok(None));
            match needed {
                Some(signature) if is_the_jdks() => {
                    maker.classes.insert(signature, class);
                }
                // Not one that could be unloaded, as hidden classes of the JDK's can.
                None if number % MIRROR_STEP == 0
                    && signature.starts_with(b"Ljava/")
                    && !signature.contains(&b'$') =>
                {
                    maker.others.push(class);
                }
                _ => jni.forget(class),
            }
        }
        Ok(maker)
    }

    fn class(&self, signature: &'static str) -> Result<&Object<'f>, DumpError> {
        self.classes
            .get(signature)
            .ok_or(DumpError::Unmade(signature))
    }

    /// The array of all.
    fn all(&self) -> Result<Object<'f>, DumpError> {
        let mut made = self.instances()?;
        for (element_type, length) in primitive_arrays() {
            let bytes = pattern(element_type, length);
            let array = self.jni.new_primitive_array(element_type, &bytes);
            made.push(array.ok_or(DumpError::Missing("memory for an array"))?);
        }
        // Of a class word that has hashes below it only hashes tell where it begins, and only such that differ.
        for array in made.iter().skip(INSTANCES.len()).step_by(2) {
            self.env.hash(array).when("the hash of an array")?;
        }
        made.push(self.references(&[])?);
        let mirrors = self.others.iter().map(Some);
        let elements: Vec<_> = made.iter().map(Some).chain([None]).chain(mirrors).collect();
        self.references(&elements)
    }

    fn references(&self, elements: &[Option<&Object<'_>>]) -> Result<Object<'f>, DumpError> {
        let array = self.jni.new_object_array(self.class(OBJECT)?, elements);
        array.ok_or(DumpError::Missing("memory for an array"))
    }

    /// One value of each primitive type; a map, which inherits fields; a string; an exception, which has references; objects whose
    /// headers hold, or can hold, more than the class: a hash, a lock, both.
    fn instances(&self) -> Result<Vec<Object<'f>>, DumpError> {
        let text = self.jni.new_string("what is known");
        let text = text.ok_or(DumpError::Missing("memory for a string"))?;
        let exception = self.make(
            THROWABLE,
            "(Ljava/lang/String;)V",
            &[JValue::Object(&self.jni.borrow(&text))],
        )?;
        let [boolean, byte, character, short, integer, float, long, double, map, ..] = INSTANCES;
        let made = vec![
            self.make(boolean, "(Z)V", &[JValue::Bool(1)])?,
            self.make(byte, "(B)V", &[JValue::Byte(-0x12)])?,
            self.make(character, "(C)V", &[JValue::Char(0xABCD)])?,
            self.make(short, "(S)V", &[JValue::Short(-0x1234)])?,
            self.make(integer, "(I)V", &[JValue::Int(-0x1234_5678)])?,
            self.make(float, "(F)V", &[JValue::Float(-1.5e-30)])?,
            self.make(long, "(J)V", &[JValue::Long(-0x1234_5678_9ABC_DEF0)])?,
            self.make(double, "(D)V", &[JValue::Double(-2.5e-300)])?,
            self.make(map, "(IF)V", &[JValue::Int(77), JValue::Float(0.625)])?,
            text,
            exception,
            self.make(OBJECT, "()V", &[])?,
            self.make(OBJECT, "()V", &[])?,
            self.make(OBJECT, "()V", &[])?,
        ];
        // All but one of those that will be locked.
        for (index, object) in made.iter().enumerate() {
            if index != INSTANCES.len() - 2 {
                self.env.hash(object).when("the hash of an object")?;
            }
        }
        Ok(made)
    }

    fn make(
        &self,
        signature: &'static str,
        constructor: &str,
        arguments: &[JValue<'_, '_>],
    ) -> Result<Object<'f>, DumpError> {
        let class = self.class(signature)?;
        self.jni
            .new_object(class, constructor, arguments)
            .ok_or(DumpError::Unmade(signature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_as_long_as_their_elements() {
        assert_eq!(pattern(BasicType::Long, 5).len(), 40);
        assert!(pattern(BasicType::Boolean, 100)
            .iter()
            .all(|&byte| byte < 2));
        assert_ne!(
            pattern(BasicType::Int, 2)[..4],
            pattern(BasicType::Int, 2)[4..]
        );
    }

    #[test]
    fn each_element_is_of_one_kind() {
        assert!(matches!(kind(9), Kind::Instance(STRING)));
        let locked: Vec<_> = (0..50).filter(|&index| is_to_lock(index)).collect();
        assert_eq!(locked, [12, 13]);
        assert!(matches!(kind(12), Kind::Instance(OBJECT)));
        let arrays: Vec<_> = (14..46).map(kind).collect();
        assert!(
            matches!(&arrays[0], Kind::Primitives(BasicType::Boolean, bytes) if bytes.is_empty())
        );
        assert!(
            matches!(&arrays[31], Kind::Primitives(BasicType::Long, bytes) if bytes.len() == 8000)
        );
        assert!(matches!(kind(46), Kind::NoReferences));
        assert!(matches!(kind(47), Kind::Element));
    }
}
