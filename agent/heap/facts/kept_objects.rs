//! Kept objects: objects that the check of a snapshot reads back, made while the heap has room for
//! them.
//!
//! Heaps are dumped most often when they are full. To make an object then would cause a useless
//! collection, or an `OutOfMemoryError`, which ends a JVM that runs with
//! `-XX:+ExitOnOutOfMemoryError`.

use super::own_room;
use crate::heap::error::{Context, DumpError};
use format::BasicType;
use jvm::env::Env;
use jvm::global::Global;
use jvm::heap_room;
use jvm::jni::Jni;
use jvm::new_object::JValue;
use jvm::object::Object;
use parking_lot::Mutex;
use std::collections::HashMap;

/// The tag of the agent's own objects. No table row has it. They do not belong in a dump, but
/// HotSpot reports global references and held monitors as roots.
pub(in crate::heap) const AGENTS_TAG: i64 = -1;

/// One in this many classes has its mirror among the elements, because mirrors lie far from other
/// objects.
const MIRROR_STEP: usize = 31;
/// Lengths of the arrays of each primitive type.
const LENGTHS: [usize; 4] = [0, 1, 5, 1000];

const OBJECT: &str = "Ljava/lang/Object;";
const STRING: &str = "Ljava/lang/String;";
const THROWABLE: &str = "Ljava/lang/Throwable;";

/// The array of kept objects, while no dump uses it. Not held across calls of the JVM.
static KEPT: Mutex<Option<Global>> = Mutex::new(None);

/// The kind of an element of the array.
#[derive(Debug)]
pub(in crate::heap) enum Kind {
    /// An instance of the class with this signature.
    Instance(&'static str),
    /// An array of these bytes.
    Primitives(BasicType, Vec<u8>),
    /// An array of no references.
    NoReferences,
    /// Another object, or null, of which only the reference is checked.
    Element,
}

/// The instances, in the order of the array. The last two exist to be locked.
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

/// The kind of the element at this index.
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

/// Elements that differ from each other and from common memory contents.
fn pattern(element_type: BasicType, length: usize) -> Vec<u8> {
    let bytes = length * element_type.size_bytes(8) as usize;
    let byte = |place: usize| u8::try_from((place * 37 + 11) % 251).unwrap_or(1);
    match element_type {
        BasicType::Boolean => (0..bytes).map(|place| byte(place) & 1).collect(),
        _ => (0..bytes).map(byte).collect(),
    }
}

/// The array of all kept objects. While a dump uses it, only the local frame holds it.
#[derive(Debug)]
pub(in crate::heap) struct KeptObjects<'f> {
    jni: &'f Jni<'f>,
    /// The array itself.
    pub(in crate::heap) array: Object<'f>,
    /// Whether they are kept for the next dump. An attached agent leaves nothing behind.
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
    /// Takes the kept objects that were made before; `None` if there are none.
    pub(in crate::heap) fn take(jni: &'f Jni<'f>) -> Option<Self> {
        let global = KEPT.lock().take()?;
        let array = jni.take_back(global)?;
        Some(Self {
            jni,
            array,
            outlive_this: true,
        })
    }

    /// Makes objects of every kind: all primitive types, inheritance, arrays, strings, hashed and
    /// lockable ones. Uses only JDK classes that every JVM has loaded, and runs only their
    /// constructors.
    pub(in crate::heap) fn make(env: &'f Env, jni: &'f Jni<'f>) -> Result<Self, DumpError> {
        let loaded = env.loaded_classes(jni).context("the loaded classes")?;
        if !own_room::comes(env, jni, &loaded) {
            return Err(DumpError::FullHeap);
        }
        Self::make_of(env, jni, loaded, None)
    }

    /// The same, with `loaded` as the loaded classes, and a string of this `name`.
    fn make_of(
        env: &'f Env,
        jni: &'f Jni<'f>,
        loaded: Vec<Object<'f>>,
        name: Option<&str>,
    ) -> Result<Self, DumpError> {
        let array = Maker::new(env, jni, loaded)?.all(name)?;
        Ok(Self {
            jni,
            array,
            outlive_this: false,
        })
    }

    /// The string kept with them; `None` if there is none.
    pub(in crate::heap) fn name(&self) -> Option<Object<'f>> {
        let last = self.jni.array_length(&self.array) - 1;
        self.jni.element(&self.array, last)
    }

    /// Its elements; [`kind`] tells the kind of each.
    pub(in crate::heap) fn elements(&self) -> Vec<Option<Object<'f>>> {
        self.jni.elements(&self.array)
    }
}

/// Makes the kept objects in `VMInit`, before any dump, and a string of this `name`; `loaded` are
/// all classes.
///
/// An error is not reported to the user: a dump then makes the objects itself, as with an attached
/// agent.
pub(in crate::heap) fn prepare<'f>(
    env: &'f Env,
    jni: &'f Jni<'f>,
    loaded: Vec<Object<'f>>,
    name: Option<&str>,
) {
    if !heap_room::is_there(env, jni, &loaded) {
        return;
    }
    if let Ok(mut made) = KeptObjects::make_of(env, jni, loaded, name) {
        made.outlive_this = true;
    }
}

/// Makes the kept objects.
struct Maker<'f> {
    env: &'f Env,
    jni: &'f Jni<'f>,
    /// The needed classes of the bootstrap loader, by signature.
    classes: HashMap<&'static str, Object<'f>>,
    /// Some classes for the objects to refer to.
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
            let signature = env.class_signature(&class).context("a class's signature")?;
            let needed = INSTANCES
                .into_iter()
                .find(|needed| needed.as_bytes() == signature);
            let is_the_jdks = || matches!(env.class_loader(jni, &class), Ok(None));
            match needed {
                Some(signature) if is_the_jdks() => {
                    maker.classes.insert(signature, class);
                }
                // No class that could be unloaded, as hidden JDK classes can.
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

    /// The array with all of them; a string of this name is last, or null.
    fn all(&self, name: Option<&str>) -> Result<Object<'f>, DumpError> {
        let mut made = self.instances()?;
        for (element_type, length) in primitive_arrays() {
            let bytes = pattern(element_type, length);
            let array = self.jni.new_primitive_array(element_type, &bytes);
            made.push(array.ok_or(DumpError::Missing("memory for an array"))?);
        }
        // With compact headers the identity hash lies below the class in one word. Only hashes, and
        // different ones, show where the class begins.
        for array in made.iter().skip(INSTANCES.len()).step_by(2) {
            self.env.hash(array).context("the hash of an array")?;
        }
        made.push(self.references(&[])?);
        let mirrors = self.others.iter().map(Some);
        let name = name.and_then(|name| self.jni.new_string(name));
        let elements = made.iter().map(Some).chain([None]).chain(mirrors);
        let elements: Vec<_> = elements.chain([name.as_ref()]).collect();
        self.references(&elements)
    }

    fn references(&self, elements: &[Option<&Object<'_>>]) -> Result<Object<'f>, DumpError> {
        let array = self.jni.new_object_array(self.class(OBJECT)?, elements);
        array.ok_or(DumpError::Missing("memory for an array"))
    }

    /// One value of each primitive type; a map, which inherits fields; a string; an exception,
    /// which has references; objects whose headers hold, or can hold, a hash, a lock, or both
    /// besides the class.
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
        // Hash all objects except one of the two that will be locked.
        for (index, object) in made.iter().enumerate() {
            if index != INSTANCES.len() - 2 {
                self.env.hash(object).context("the hash of an object")?;
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
