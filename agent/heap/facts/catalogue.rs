//! The catalogue: every loaded class with its superclass, loader and fields, read from the JVM
//! before the pause.
//!
//! Its handles keep the classes from being unloaded until the dump is written. They are released
//! with the dump's local frame. A class loaded later is [admitted](Catalogue::admit) when it is
//! met.
//!
//! It is read anew for each dump: a tag or a weak reference for each class would cost every
//! collection. Classes come from the JVM's list, never from tags: HotSpot's archive may have
//! mirrors of classes that were never loaded, at which `GetClassLoader` crashes (17, 25).

use super::own_room;
use super::unlinked;
use crate::heap::error::{Context, DumpError};
use format::{BasicType, ClassName};
use hotspot::anonymous_names::without_hash;
use jvm::class::FieldFacts;
use jvm::env::Env;
use jvm::error::JvmtiError;
use jvm::field::FieldId;
use jvm::jni::Jni;
use jvm::object::{Handle, Object};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use tables::{ClassId, ClassRow, Field, LoaderId, ObjectIndex, ObjectTable, Tables};

/// The classes of one dump. Class `n` of the first pass is object `n` of the object table and has
/// tag `n`.
#[derive(Debug)]
pub(in crate::heap) struct Catalogue<'f> {
    pub(in crate::heap) env: &'f Env,
    pub(in crate::heap) jni: &'f Jni<'f>,
    /// The tables that it fills.
    pub(in crate::heap) tables: &'f Tables,
    /// The objects with a row, until a forked copy has the table, and again after that.
    pub(in crate::heap) objects: RefCell<ObjectTable>,
    handles: Vec<Object<'f>>,
    mirrors: Vec<ObjectIndex>,
    /// By class, in the order of `ClassRow::fields`.
    field_ids: Vec<Vec<FieldId>>,
    loaders: RefCell<Vec<(ObjectIndex, Object<'f>)>>,
    first_look: usize,
    late: HashMap<ObjectIndex, ClassId>,
    /// `java.lang.Object`.
    pub(in crate::heap) object_class: ClassId,
    /// `java.lang.Class`.
    pub(in crate::heap) class_class: ClassId,
}

impl<'f> Catalogue<'f> {
    /// Reads all loaded classes: fills `tables.classes` and `tables.loaders`, and tags their
    /// mirrors. First links the classes that may have archived instances.
    ///
    /// Needs an environment without tags.
    pub(in crate::heap) fn take(
        env: &'f Env,
        jni: &'f Jni<'f>,
        tables: &'f Tables,
    ) -> Result<Self, DumpError> {
        let objects = RefCell::default();
        let handles = env
            .loaded_classes(jni)
            .context("the list of loaded classes")?;
        unlinked::link(env, jni, &handles);
        let mut mirrors = Vec::with_capacity(handles.len());
        let mut signatures = Vec::with_capacity(handles.len());
        for class in &handles {
            mirrors.push(tag_new(env, &objects, class)?);
            signatures.push(env.class_signature(class).context("the name of a class")?);
        }
        let find = |signature: &[u8]| {
            let position = signatures.iter().position(|found| found == signature);
            position
                .and_then(ClassId::from_index)
                .ok_or(DumpError::Missing("java.lang.Object and java.lang.Class"))
        };
        let (object_class, class_class) =
            (find(b"Ljava/lang/Object;")?, find(b"Ljava/lang/Class;")?);
        let first_look = handles.len();
        let mut catalogue = Self {
            env,
            jni,
            tables,
            objects,
            handles,
            mirrors,
            field_ids: Vec::with_capacity(first_look),
            loaders: RefCell::default(),
            first_look,
            late: HashMap::new(),
            object_class,
            class_class,
        };
        let mut field_ids = Vec::with_capacity(first_look);
        for (class, signature) in catalogue.handles.iter().zip(&signatures) {
            let (row, ids) = catalogue.row(class, signature)?;
            tables.classes.add(row);
            field_ids.push(ids);
        }
        catalogue.field_ids = field_ids;
        Ok(catalogue)
    }

    /// The number of classes.
    pub(in crate::heap) fn len(&self) -> usize {
        self.handles.len()
    }

    /// The classes.
    pub(in crate::heap) fn ids(&self) -> impl Iterator<Item = ClassId> {
        (0..self.handles.len()).filter_map(ClassId::from_index)
    }

    /// The handle of a class.
    pub(in crate::heap) fn handle(&self, class: ClassId) -> Option<&Object<'f>> {
        self.handles.get(class.index())
    }

    /// The ids of a class's own fields, in the order of its row's fields; none if it is not linked.
    pub(in crate::heap) fn field_ids(&self, class: ClassId) -> &[FieldId] {
        self.field_ids.get(class.index()).map_or(&[], Vec::as_slice)
    }

    /// The mirrors and class loaders: the objects that the catalogue gave a row. With their
    /// handles.
    pub(in crate::heap) fn pinned(&self) -> Vec<(ObjectIndex, Handle)> {
        let mirrors = self.mirrors.iter().copied().zip(&self.handles);
        let loaders = self.loaders.borrow();
        mirrors
            .map(|(index, object)| (index, object.handle()))
            .chain(
                loaders
                    .iter()
                    .map(|(index, object)| (*index, object.handle())),
            )
            .collect()
    }

    /// The class whose mirror this is; `None` for other objects and for `Class` objects of
    /// primitive types.
    pub(in crate::heap) fn class_of_mirror(&self, mirror: ObjectIndex) -> Option<ClassId> {
        if mirror.index() < self.first_look {
            return ClassId::from_index(mirror.index());
        }
        self.late.get(&mirror).copied()
    }

    /// The mirror of a class.
    pub(in crate::heap) fn mirror(&self, class: ClassId) -> Option<ObjectIndex> {
        self.mirrors.get(class.index()).copied()
    }

    /// The class of a handle. Adds the class if it is not in the catalogue.
    pub(in crate::heap) fn admit(&mut self, class: Object<'f>) -> Result<ClassId, DumpError> {
        // Superclasses come first; each class is tried again when its superclass is done.
        let mut unfinished = vec![class];
        let mut last = self.object_class;
        while let Some(class) = unfinished.pop() {
            let mirror = self.tagged(&class, "the tag of a class")?;
            if let Some(known) = self.class_of_mirror(mirror) {
                last = known;
                self.jni.forget(class);
                continue;
            }
            match self.unknown_super(&class)? {
                Some(unknown) => unfinished.extend([class, unknown]),
                None => last = self.admit_one(class, mirror)?,
            }
        }
        Ok(last)
    }

    /// Adds the classes loaded since the first pass, and reads the fields of those linked since.
    pub(in crate::heap) fn catch_up(&mut self) -> Result<(), DumpError> {
        let loaded = self.env.loaded_classes(self.jni);
        for class in loaded.context("the list of loaded classes")? {
            if self.env.tag(&class).context("the tag of a class")? == 0 {
                self.admit(class)?;
            } else {
                self.jni.forget(class);
            }
        }
        self.ask_again()
    }

    /// Links those of `classes` that are not linked, so that their fields can be read.
    ///
    /// The first pass usually leaves none that has instances, but one may have been loaded since.
    /// Linking creates objects: an error if the heap is full.
    pub(in crate::heap) fn link(
        &self,
        classes: impl Iterator<Item = ClassId>,
    ) -> Result<(), DumpError> {
        let is_unlinked_bootstrap = |class| {
            self.tables
                .classes
                .get(class)
                .is_some_and(|row| row.fields.is_none() && row.loader.is_none())
        };
        let unlinked: HashSet<ClassId> = classes
            .filter(|&class| is_unlinked_bootstrap(class))
            .collect();
        if !unlinked.is_empty() && !own_room::comes(self.env, self.jni, &self.handles) {
            return Err(DumpError::FullHeap);
        }
        for class in unlinked {
            if let Some(handle) = self.handles.get(class.index()) {
                // A class that cannot be linked stays unknown, and the dump says so.
                self.jni.link(handle);
            }
        }
        Ok(())
    }

    /// Reads the fields of classes that were not linked at the first pass.
    fn ask_again(&mut self) -> Result<(), DumpError> {
        let mut unprepared = Vec::new();
        self.tables.classes.for_each(|id, row| {
            if row.fields.is_none() {
                unprepared.push(id);
            }
        });
        for id in unprepared {
            let Some(class) = self.handles.get(id.index()) else {
                continue;
            };
            if let Some(unknown) = self.unknown_super(class)? {
                self.admit(unknown)?;
            }
            let Some(class) = self.handles.get(id.index()) else {
                continue;
            };
            let (row, ids) = self.named_row(class)?;
            self.tables.classes.replace(id, row);
            if let Some(place) = self.field_ids.get_mut(id.index()) {
                *place = ids;
            }
        }
        Ok(())
    }

    fn admit_one(&mut self, class: Object<'f>, mirror: ObjectIndex) -> Result<ClassId, DumpError> {
        let (row, ids) = self.named_row(&class)?;
        let id = self.tables.classes.add(row);
        self.field_ids.push(ids);
        self.handles.push(class);
        self.mirrors.push(mirror);
        self.late.insert(mirror, id);
        Ok(id)
    }

    /// The class's superclass, if it is not in the catalogue.
    fn unknown_super(&self, class: &Object<'_>) -> Result<Option<Object<'f>>, DumpError> {
        let Some(super_class) = self.jni.superclass(class) else {
            return Ok(None);
        };
        let mirror = self.tagged(&super_class, "the tag of a class")?;
        if self.class_of_mirror(mirror).is_none() {
            return Ok(Some(super_class));
        }
        self.jni.forget(super_class);
        Ok(None)
    }

    fn named_row(&self, class: &Object<'_>) -> Result<(ClassRow, Vec<FieldId>), DumpError> {
        let signature = self.env.class_signature(class);
        self.row(class, &signature.context("the name of a class")?)
    }

    /// The class's row as the JVM reports it now. `fields` is `None`, so that the class is read
    /// again later, if it is not linked, or if its superclass is not in the catalogue.
    fn row(
        &self,
        class: &Object<'_>,
        signature: &[u8],
    ) -> Result<(ClassRow, Vec<FieldId>), DumpError> {
        let (mut fields, field_ids) = self.fields(class)?.unzip();
        let super_class = match self.jni.superclass(class) {
            Some(super_class) => {
                let known = self.known_class(super_class)?;
                fields = fields.filter(|_| known.is_some());
                known
            }
            // An interface: HotSpot's own dumps give it Object as superclass. Readers take a class
            // without one for Object.
            None if signature != b"Ljava/lang/Object;" => Some(self.object_class),
            None => None,
        };
        let of_class_file = without_hash(self.env, class, signature);
        let name = ClassName::from_signature(&of_class_file).to_dump();
        let row = ClassRow {
            signature: self.tables.strings.intern(signature),
            name: self.tables.strings.intern(&name),
            loader: self.loader(class)?,
            super_class,
            fields,
        };
        Ok((row, field_ids.unwrap_or_default()))
    }

    /// The class's own fields and their ids; `None` before it is linked, when it has no instances.
    fn fields(&self, class: &Object<'_>) -> Result<Option<OwnFields>, DumpError> {
        match self.env.fields(class) {
            Ok(facts) => {
                let rows: Result<_, _> = facts
                    .iter()
                    .map(|field| row_of_field(field, self.tables))
                    .collect();
                Ok(Some((rows?, facts.iter().map(|field| field.id).collect())))
            }
            Err(JvmtiError::CLASS_NOT_PREPARED) => Ok(None),
            Err(error) => Err(DumpError::Jvm {
                what: "the fields of a class",
                error,
            }),
        }
    }

    /// The catalogue's class for a handle. Releases the handle.
    fn known_class(&self, class: Object<'_>) -> Result<Option<ClassId>, DumpError> {
        let tag = self.env.tag(&class).context("the tag of a class")?;
        self.jni.forget(class);
        Ok(ObjectIndex::from_tag(tag).and_then(|mirror| self.class_of_mirror(mirror)))
    }

    fn loader(&self, class: &Object<'_>) -> Result<Option<LoaderId>, DumpError> {
        let Some(loader) = self
            .env
            .class_loader(self.jni, class)
            .context("the loader of a class")?
        else {
            return Ok(None);
        };
        let tag = self.env.tag(&loader).context("the tag of a class loader")?;
        let index = match ObjectIndex::from_tag(tag) {
            Some(index) => {
                self.jni.forget(loader);
                index
            }
            // Keep the reference, so that the loader is in the dump even if nothing else refers to
            // it.
            None => {
                let index = tag_new(self.env, &self.objects, &loader)?;
                self.loaders.borrow_mut().push((index, loader));
                index
            }
        };
        Ok(Some(self.tables.loaders.intern(&index)))
    }

    /// The row of an object. Gives it one, and the row's tag, if it has no tag; `what` is the
    /// purpose of the question for its tag.
    pub(in crate::heap) fn tagged(
        &self,
        object: &Object<'_>,
        what: &'static str,
    ) -> Result<ObjectIndex, DumpError> {
        let known = ObjectIndex::from_tag(self.env.tag(object).context(what)?);
        known.map_or_else(|| tag_new(self.env, &self.objects, object), Ok)
    }

    /// The handle of the bootstrap loader's class with this signature; `None` if it is not in the
    /// catalogue.
    pub(in crate::heap) fn bootstrap_class(&self, signature: &[u8]) -> Option<&Object<'f>> {
        self.handle(self.bootstrap_class_id(signature)?)
    }

    /// The bootstrap loader's class with this signature; `None` if it is not in the catalogue.
    pub(in crate::heap) fn bootstrap_class_id(&self, signature: &[u8]) -> Option<ClassId> {
        let signature = self.tables.strings.intern(signature);
        self.ids().find(|&class| {
            self.tables
                .classes
                .get(class)
                .is_some_and(|row| row.signature == signature && row.loader.is_none())
        })
    }
}

/// A class's own fields, and their ids in the same order.
type OwnFields = (Vec<Field>, Vec<FieldId>);

/// Gives an untagged object a row and the row's tag.
fn tag_new(
    env: &Env,
    objects: &RefCell<ObjectTable>,
    object: &Object<'_>,
) -> Result<ObjectIndex, DumpError> {
    let index = objects.borrow_mut().push()?;
    env.set_tag(object, index.tag())
        .context("a tag for an object")?;
    Ok(index)
}

fn row_of_field(field: &FieldFacts, tables: &Tables) -> Result<Field, DumpError> {
    let letter = field.descriptor.first();
    let basic_type = letter.and_then(|&letter| BasicType::from_descriptor(letter));
    Ok(Field {
        name: tables.strings.intern(&field.name),
        basic_type: basic_type.ok_or(DumpError::Layout("a type"))?,
        is_primitive_array: matches!(field.descriptor.as_slice(), [b'[', _]),
        is_static: field.is_static,
    })
}
