//! Known objects: the kept objects and some static fields, with the contents that JNI reports, for
//! the check of the snapshot.

use crate::heap::error::{Context, DumpError};
use crate::heap::facts::catalogue::Catalogue;
use crate::heap::facts::kept_objects::{self, KeptObjects, Kind, AGENTS_TAG};
use crate::heap::facts::memory_reserve;
use format::BasicType;
use jvm::jni::Jni;
use jvm::object::Object;
use snapshot::classes::{FieldId, Slot};
use snapshot::layout::{Content, Expected, KnownField, KnownObject, KnownStatic};
use tables::class_chain;

/// Static fields to compare: those of a few hundred classes, which takes a millisecond.
const MOST_STATIC_FIELDS: usize = 1000;

/// Everything with known contents. The handles live as long as the dump's local frame.
#[derive(Debug)]
pub(super) struct KnownObjects<'f> {
    jni: &'f Jni<'f>,
    locked: Vec<Object<'f>>,
    /// Objects.
    pub(super) objects: Vec<KnownObject>,
    /// Static fields.
    pub(super) statics: Vec<KnownStatic>,
    /// The kept objects themselves, for the next dump.
    kept: KeptObjects<'f>,
}

impl Drop for KnownObjects<'_> {
    fn drop(&mut self) {
        for object in &self.locked {
            self.jni.unlock(object);
        }
    }
}

/// Reads the known contents.
struct Asker<'d, 'f> {
    catalogue: &'d Catalogue<'f>,
    known: KnownObjects<'f>,
}

impl<'f> KnownObjects<'f> {
    /// Asks JNI for the contents of the kept objects (which it makes if there are none) and of
    /// static fields. Locks some of the objects.
    ///
    /// An error only rules out the snapshot: other engines need no check.
    pub(super) fn take(catalogue: &Catalogue<'f>) -> Result<Self, DumpError> {
        let (env, jni) = (catalogue.env, catalogue.jni);
        let refused = |error: DumpError| DumpError::Engine(error.to_string());
        let kept = KeptObjects::take(jni).map_or_else(|| KeptObjects::make(env, jni), Ok);
        let mut asker = Asker {
            catalogue,
            known: Self {
                jni,
                locked: Vec::new(),
                objects: Vec::new(),
                statics: Vec::new(),
                kept: kept.map_err(refused)?,
            },
        };
        asker.kept().map_err(refused)?;
        let tagged = memory_reserve::tag(env, jni);
        tagged.context("a tag for an object of the agent's own")?;
        asker.statics().map_err(refused)?;
        Ok(asker.known)
    }
}

impl<'f> Asker<'_, 'f> {
    /// The kept objects, and the array of all of them.
    fn kept(&mut self) -> Result<(), DumpError> {
        let elements = self.known.kept.elements();
        let handles = elements.iter();
        let handles = handles.map(|element| element.as_ref().map(slot));
        let content = Content::References(handles.collect());
        let array = self.known_object(&self.known.kept.array, content)?;
        self.known.objects.push(array);
        for (index, element) in elements.into_iter().enumerate() {
            if let Some(object) = element {
                self.element(index, object)?;
            }
        }
        Ok(())
    }

    fn element(&mut self, index: usize, object: Object<'f>) -> Result<(), DumpError> {
        let content = match kept_objects::kind(index) {
            Kind::Instance(signature) => Content::Fields(self.fields(&object, signature)?),
            Kind::Primitives(element_type, bytes) => Content::Primitives(element_type, bytes),
            Kind::NoReferences => Content::References(Vec::new()),
            Kind::Element => return Ok(()),
        };
        let known = self.known_object(&object, content)?;
        self.known.objects.push(known);
        if kept_objects::is_to_lock(index) && self.catalogue.jni.lock(&object) {
            let tagged = self.catalogue.env.set_tag(&object, AGENTS_TAG);
            self.known.locked.push(object);
            tagged.context("a tag for an object of the agent's own")?;
        }
        Ok(())
    }

    fn known_object(
        &self,
        object: &Object<'f>,
        content: Content,
    ) -> Result<KnownObject, DumpError> {
        let class = self.catalogue.jni.class_of(object);
        let class = class.ok_or(DumpError::Missing("the class of an object"))?;
        Ok(KnownObject {
            object: slot(object),
            class: slot(&class),
            content,
        })
    }

    /// Reads constants of JDK classes: they are static and final, and their initialisers have run.
    fn statics(&mut self) -> Result<(), DumpError> {
        for class in self.catalogue.ids() {
            if self.known.statics.len() >= MOST_STATIC_FIELDS {
                break;
            }
            let (Some(row), Some(handle)) = (
                self.catalogue.tables.classes.get(class),
                self.catalogue.handle(class),
            ) else {
                continue;
            };
            let has_statics = row.own_fields().iter().any(|field| field.is_static);
            let initialised = || self.catalogue.env.is_initialised(handle).unwrap_or(false);
            if row.loader.is_none() && has_statics && initialised() {
                self.statics_of(handle)?;
            }
        }
        Ok(())
    }

    fn statics_of(&mut self, class: &Object<'f>) -> Result<(), DumpError> {
        let fields = self
            .catalogue
            .env
            .fields(class)
            .context("the fields of a class")?;
        for field in fields
            .iter()
            .filter(|field| field.is_static && field.is_final)
        {
            let letter = field.descriptor.first().copied().unwrap_or(0);
            let Some(basic_type) = BasicType::from_descriptor(letter) else {
                continue;
            };
            let value = self
                .catalogue
                .jni
                .static_primitive_field(class, field.id, basic_type);
            let expected = match value {
                Some(bits) => Expected::Bits(bits),
                None => Expected::Object(
                    self.keep(self.catalogue.jni.static_object_field(class, field.id)),
                ),
            };
            self.known.statics.push(KnownStatic {
                class: slot(class),
                field: KnownField {
                    id: FieldId::of_bits(field.id.bits()),
                    basic_type,
                    expected,
                },
            });
        }
        Ok(())
    }

    /// Asks JNI for every field of an object, own and inherited.
    fn fields(
        &self,
        object: &Object<'f>,
        signature: &'static str,
    ) -> Result<Vec<KnownField>, DumpError> {
        let class = self
            .catalogue
            .bootstrap_class_id(signature.as_bytes())
            .ok_or(DumpError::Unmade(signature))?;
        let mut known = Vec::new();
        for class in class_chain(&self.catalogue.tables.classes, class) {
            let Some(row) = self.catalogue.tables.classes.get(class) else {
                continue;
            };
            let fields = row.own_fields().iter().zip(self.catalogue.field_ids(class));
            for (field, &id) in fields.filter(|(field, _)| !field.is_static) {
                let value = self
                    .catalogue
                    .jni
                    .primitive_field(object, id, field.basic_type);
                let expected = match value {
                    Some(bits) => Expected::Bits(bits),
                    None => {
                        Expected::Object(self.keep(self.catalogue.jni.object_field(object, id)))
                    }
                };
                known.push(KnownField {
                    id: FieldId::of_bits(id.bits()),
                    basic_type: field.basic_type,
                    expected,
                });
            }
        }
        Ok(known)
    }

    /// Keeps a handle until the dump's local frame ends.
    fn keep(&self, object: Option<Object<'f>>) -> Option<Slot> {
        object.as_ref().map(slot)
    }
}

fn slot(object: &Object<'_>) -> Slot {
    Slot::of_handle(object.handle().bits())
}
