//! Known objects: made before the pause, with what JNI says they hold, to be read back from the snapshot.

use super::super::catalogue::Catalogue;
use super::super::error::{DumpError, For};
use crate::jvmti::env::Env;
use crate::jvmti::field::FieldId;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::{Handle, Object};
use jni::objects::JValue;
use tables::{class_chain, BasicType, Tables};

/// Static fields that are compared: of a few hundred classes, which takes a millisecond.
const MOST_STATIC_FIELDS: usize = 1000;

/// The tag of the known objects that are locked: HotSpot reports held monitors as roots, and these are not the
/// application's. No row of a table has it.
pub(super) const LOCKED_TAG: i64 = -1;

/// What JNI says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// A primitive value, zero-extended.
    Bits(u64),
    /// A reference; `None` is null.
    Object(Option<Handle>),
}

/// A field of an object or a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownField {
    /// The JVM's id.
    pub(super) id: FieldId,
    /// Its type.
    pub(super) basic_type: BasicType,
    /// Its value.
    pub(super) expected: Expected,
}

/// What an object holds.
#[derive(Debug)]
pub(super) enum Content {
    /// Instance fields, inherited ones too.
    Fields(Vec<KnownField>),
    /// Elements of a primitive type, as they lie in memory.
    Primitives(BasicType, Vec<u8>),
    /// References.
    References(Vec<Option<Handle>>),
}

/// An object and what JNI says of it.
#[derive(Debug)]
pub(super) struct KnownObject {
    /// The object.
    pub(super) object: Handle,
    /// Its class's mirror.
    pub(super) class: Handle,
    /// What it holds.
    pub(super) content: Content,
}

/// A class and a static field of it.
#[derive(Debug)]
pub(super) struct KnownStatic {
    /// The class's mirror.
    pub(super) class: Handle,
    /// The field.
    pub(super) field: KnownField,
}

/// All that is known. The handles live as long as the dump's local frame.
#[derive(Debug)]
pub(super) struct KnownObjects<'f> {
    jni: &'f Jni<'f>,
    locked: Vec<Object<'f>>,
    /// Objects.
    pub(super) objects: Vec<KnownObject>,
    /// Static fields.
    pub(super) statics: Vec<KnownStatic>,
}

impl Drop for KnownObjects<'_> {
    fn drop(&mut self) {
        for object in &self.locked {
            self.jni.unlock(object);
        }
    }
}

/// Makes known objects.
struct Maker<'d, 'f> {
    env: &'f Env,
    jni: &'f Jni<'f>,
    catalogue: &'d Catalogue<'f>,
    tables: &'d Tables,
    known: KnownObjects<'f>,
    /// Everything made so far: elements for the arrays of references.
    made: Vec<Object<'f>>,
}

impl<'f> KnownObjects<'f> {
    /// Makes objects of every kind: all primitive types, inheritance, arrays, strings, locked and hashed ones; and
    /// asks for static fields. Only classes of the JDK that every JVM has loaded; no code but their constructors runs.
    pub(super) fn make(
        env: &'f Env,
        jni: &'f Jni<'f>,
        catalogue: &Catalogue<'f>,
        tables: &Tables,
    ) -> Result<Self, DumpError> {
        let mut maker = Maker {
            env,
            jni,
            catalogue,
            tables,
            known: Self {
                jni,
                locked: Vec::new(),
                objects: Vec::new(),
                statics: Vec::new(),
            },
            made: Vec::new(),
        };
        maker.boxes()?;
        maker.text()?;
        maker.headers()?;
        maker.primitive_arrays()?;
        maker.reference_arrays()?;
        maker.statics()?;
        Ok(maker.known)
    }
}

impl<'f> Maker<'_, 'f> {
    /// One value of each primitive type; a map, which inherits fields.
    fn boxes(&mut self) -> Result<(), DumpError> {
        self.object("Ljava/lang/Boolean;", "(Z)V", &[JValue::Bool(1)])?;
        self.object("Ljava/lang/Byte;", "(B)V", &[JValue::Byte(-0x12)])?;
        self.object("Ljava/lang/Character;", "(C)V", &[JValue::Char(0xABCD)])?;
        self.object("Ljava/lang/Short;", "(S)V", &[JValue::Short(-0x1234)])?;
        self.object("Ljava/lang/Integer;", "(I)V", &[JValue::Int(-0x1234_5678)])?;
        self.object("Ljava/lang/Float;", "(F)V", &[JValue::Float(-1.5e-30)])?;
        self.object(
            "Ljava/lang/Long;",
            "(J)V",
            &[JValue::Long(-0x1234_5678_9ABC_DEF0)],
        )?;
        self.object("Ljava/lang/Double;", "(D)V", &[JValue::Double(-2.5e-300)])?;
        self.object(
            "Ljava/util/HashMap;",
            "(IF)V",
            &[JValue::Int(77), JValue::Float(0.625)],
        )
    }

    /// A string; an exception, which has references.
    fn text(&mut self) -> Result<(), DumpError> {
        let text = self
            .jni
            .new_string("what is known")
            .ok_or(DumpError::Missing("memory for a string"))?;
        self.instance(&text, "Ljava/lang/String;")?;
        let exception = self.make(
            "Ljava/lang/Throwable;",
            "(Ljava/lang/String;)V",
            &[JValue::Object(&self.jni.borrow(&text))],
        )?;
        self.instance(&exception, "Ljava/lang/Throwable;")?;
        self.made.push(text);
        self.made.push(exception);
        Ok(())
    }

    /// Objects whose headers hold more than the class: a lock, a hash, both.
    fn headers(&mut self) -> Result<(), DumpError> {
        const OBJECT: &str = "Ljava/lang/Object;";
        for (locked, hashed) in [(false, true), (true, false), (true, true)] {
            let object = self.make(OBJECT, "()V", &[])?;
            if hashed {
                self.env.hash(&object).when("the hash of an object")?;
            }
            self.instance(&object, OBJECT)?;
            if locked && self.jni.lock(&object) {
                let tagged = self.env.set_tag(&object, LOCKED_TAG);
                tagged.when("a tag for an object of the agent's own")?;
                self.known.locked.push(object);
            } else {
                self.made.push(object);
            }
        }
        Ok(())
    }

    fn primitive_arrays(&mut self) -> Result<(), DumpError> {
        for code in 4..=11 {
            let Some(element_type) = BasicType::from_code(code) else {
                continue;
            };
            for length in [0, 1, 5, 1000] {
                let bytes = pattern(element_type, length);
                let array = self
                    .jni
                    .new_primitive_array(element_type, &bytes)
                    .ok_or(DumpError::Missing("memory for an array"))?;
                self.known
                    .add(&array, Content::Primitives(element_type, bytes))?;
                self.made.push(array);
            }
        }
        Ok(())
    }

    fn reference_arrays(&mut self) -> Result<(), DumpError> {
        let class = self.class("Ljava/lang/Object;")?;
        let mirrors = (0..self.catalogue.len()).step_by(97);
        let mirrors: Vec<_> = mirrors
            .filter_map(tables::ClassId::from_index)
            .filter_map(|class| self.catalogue.handle(class))
            .collect();
        let elements: Vec<Option<&Object<'_>>> = self
            .made
            .iter()
            .map(Some)
            .chain([None])
            .chain(mirrors.into_iter().map(Some))
            .chain([None])
            .collect();
        let mut arrays = Vec::new();
        for elements in [&[], elements.as_slice()] {
            let array = self
                .jni
                .new_object_array(class, elements)
                .ok_or(DumpError::Missing("memory for an array"))?;
            let handles = elements
                .iter()
                .map(|element| element.map(Object::handle))
                .collect();
            arrays.push((array, handles));
        }
        for (array, handles) in arrays {
            self.known.add(&array, Content::References(handles))?;
            self.made.push(array);
        }
        Ok(())
    }

    /// Constants of the JDK's classes: static, final, and their initialisers have run.
    fn statics(&mut self) -> Result<(), DumpError> {
        for class in (0..self.catalogue.len()).filter_map(tables::ClassId::from_index) {
            if self.known.statics.len() >= MOST_STATIC_FIELDS {
                break;
            }
            let (Some(row), Some(handle)) =
                (self.tables.classes.get(class), self.catalogue.handle(class))
            else {
                continue;
            };
            let has_statics = row.own_fields().iter().any(|field| field.is_static);
            let initialised = || self.env.is_initialised(handle).unwrap_or(false);
            if row.loader.is_none() && has_statics && initialised() {
                self.statics_of(handle)?;
            }
        }
        Ok(())
    }

    fn statics_of(&mut self, class: &Object<'f>) -> Result<(), DumpError> {
        let fields = self.env.fields(class).when("the fields of a class")?;
        for field in fields
            .iter()
            .filter(|field| field.is_static && field.is_final)
        {
            let letter = field.descriptor.first().copied().unwrap_or(0);
            let Some(basic_type) = BasicType::from_descriptor(letter) else {
                continue;
            };
            let value = self.jni.static_primitive_field(class, field.id, basic_type);
            let expected = match value {
                Some(primitive) => Expected::Bits(primitive.bits),
                None => Expected::Object(self.keep(self.jni.static_object_field(class, field.id))),
            };
            self.known.statics.push(KnownStatic {
                class: class.handle(),
                field: KnownField {
                    id: field.id,
                    basic_type,
                    expected,
                },
            });
        }
        Ok(())
    }

    fn class(&self, signature: &'static str) -> Result<&Object<'f>, DumpError> {
        self.catalogue
            .bootstrap_class(signature.as_bytes(), self.tables)
            .ok_or(DumpError::Unmade(signature))
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

    fn object(
        &mut self,
        signature: &'static str,
        constructor: &str,
        arguments: &[JValue<'_, '_>],
    ) -> Result<(), DumpError> {
        let object = self.make(signature, constructor, arguments)?;
        self.instance(&object, signature)?;
        self.made.push(object);
        Ok(())
    }

    /// Asks JNI for every field of an object, own and inherited.
    fn instance(&mut self, object: &Object<'f>, signature: &'static str) -> Result<(), DumpError> {
        let class = self
            .catalogue
            .bootstrap_class_id(signature.as_bytes(), self.tables)
            .ok_or(DumpError::Unmade(signature))?;
        let mut known = Vec::new();
        for class in class_chain(&self.tables.classes, class) {
            let Some(row) = self.tables.classes.get(class) else {
                continue;
            };
            let fields = row.own_fields().iter().zip(self.catalogue.field_ids(class));
            for (field, &id) in fields.filter(|(field, _)| !field.is_static) {
                let value = self.jni.primitive_field(object, id, field.basic_type);
                let expected = match value {
                    Some(primitive) => Expected::Bits(primitive.bits),
                    None => Expected::Object(self.keep(self.jni.object_field(object, id))),
                };
                known.push(KnownField {
                    id,
                    basic_type: field.basic_type,
                    expected,
                });
            }
        }
        self.known.add(object, Content::Fields(known))
    }

    /// Keeps a handle for the time of the dump: it is not given back before its frame ends.
    fn keep(&self, object: Option<Object<'f>>) -> Option<Handle> {
        object.as_ref().map(Object::handle)
    }
}

impl<'f> KnownObjects<'f> {
    fn add(&mut self, object: &Object<'f>, content: Content) -> Result<(), DumpError> {
        let class = self
            .jni
            .class_of(object)
            .ok_or(DumpError::Missing("the class of an object"))?;
        self.objects.push(KnownObject {
            object: object.handle(),
            class: class.handle(),
            content,
        });
        Ok(())
    }
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
}
