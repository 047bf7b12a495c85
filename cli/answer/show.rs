//! What an object is, what it holds, and what refers to it.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};

use format::{BasicType, ClassName};
use graph::{Contents, Dominator, FieldValue, GraphError};
use serde::Serialize;

use super::object::ObjectRow;
use crate::heap_file::Loaded;
use crate::number::{counted, grouped};
use crate::plain::{plain, shown};

/// Most bytes read of an array's elements.
const ARRAY_BYTES: usize = 64 << 10;

/// Most bytes read of a string.
const STRING_BYTES: usize = 200;

/// The facts about an object beside its references that may be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    /// Nothing: a running JVM has sent no values.
    References,
    /// Numbers in fields.
    Values {
        /// Also strings and the values of arrays.
        strings: bool,
    },
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ShowAnswer {
    #[serde(flatten)]
    object: ObjectRow,
    contents: Option<ContentsRow>,
    /// The objects of which it is the dominator.
    dominates: Listed,
    dominator: Option<ObjectRow>,
    /// Whether a root leads to it.
    reachable: bool,
    /// The objects that refer to it.
    referrers: Listed,
    /// The kind of root that it is, as HPROF names it.
    root: Option<&'static str>,
    /// The text of a string, if it may be shown.
    text: Option<String>,
}

/// The first objects of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Listed {
    left_out: usize,
    objects: Vec<ObjectRow>,
}

/// What an object holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum ContentsRow {
    References {
        /// Those that are not null.
        elements: Vec<ElementRow>,
        length: u32,
        nulls: u64,
    },
    Values {
        length: u32,
        #[serde(rename = "type")]
        kind: String,
        /// `None` if they may not be shown.
        values: Option<Vec<String>>,
    },
    Fields {
        fields: Vec<FieldRow>,
        left_out: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ElementRow {
    index: usize,
    #[serde(flatten)]
    object: Referred,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct FieldRow {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(flatten)]
    held: Held,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Held {
    /// `None` is null.
    Object(Option<Referred>),
    /// As Java prints it; `None` if it may not be shown.
    Value(Option<String>),
}

/// The target of a reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Referred {
    Object(ObjectRow),
    /// It is not in the dump.
    Missing {
        id: String,
    },
}

impl ShowAnswer {
    /// The object with this number; of each list, the first `most` and of the fields the first
    /// `fields`. Errors: the file cannot be read.
    pub(crate) fn of(
        loaded: &Loaded<'_>,
        object: u32,
        (most, fields): (usize, usize),
        shown: Shown,
    ) -> Result<Self, GraphError> {
        let (heap, retained) = (&loaded.heap, &loaded.retained);
        let contents = heap.contents(&[object], ARRAY_BYTES)?.remove(&object);
        let refers = |from: &u32| heap.targets(*from).contains(&object);
        let referrers: Vec<u32> = (0..heap.objects()).filter(refers).collect();
        let dominated = retained.dominated(object);
        let mut page = Page {
            loaded,
            most,
            fields,
            shown,
            labels: BTreeMap::new(),
        };
        let listed = referrers.iter().take(most);
        let listed = listed.chain(dominated.iter().take(most)).copied();
        let held = contents.iter().flat_map(|contents| page.held(contents));
        let named: Vec<u32> = [object].into_iter().chain(listed).chain(held).collect();
        page.find_labels(&named)?;
        let text = match page.with_strings() {
            true => heap.strings(&[object], STRING_BYTES)?.remove(&object),
            false => None,
        };
        Ok(Self {
            object: page.object(object),
            contents: contents.map(|contents| page.contents(&contents)),
            dominates: page.list(&dominated),
            dominator: match retained.dominator(object) {
                Dominator::Object(above) => Some(page.object(above)),
                Dominator::Unreachable | Dominator::Roots => None,
            },
            reachable: retained.is_reachable(object),
            referrers: page.list(&referrers),
            root: heap.root_kind(object).map(|kind| kind.name()),
            text,
        })
    }

    /// As text.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "{}", name(&self.object))?;
        writeln!(to, "  shallow   {}", grouped(self.object.shallow))?;
        writeln!(to, "  retained  {}", grouped(self.object.retained))?;
        let dominator = match &self.dominator {
            Some(above) => name(above),
            None if self.reachable => {
                "none: the object is a root, or two or more hold it".to_owned()
            }
            None => "none: no root leads to the object".to_owned(),
        };
        writeln!(to, "  dominator {dominator}")?;
        if let Some(kind) = self.root {
            writeln!(to, "  root      {kind}")?;
        }
        if let Some(contents) = &self.contents {
            contents.print(to)?;
        }
        if let Some(text) = &self.text {
            writeln!(to, "  text \"{}\"", plain(text))?;
        }
        self.referrers.print("referrers", to)?;
        self.dominates.print("dominates", to)
    }
}

impl Listed {
    fn print(&self, title: &str, to: &mut dyn Write) -> io::Result<()> {
        let all = self.objects.len().saturating_add(self.left_out);
        writeln!(to, "  {title}: {}", counted(all as u64, "object"))?;
        for object in &self.objects {
            let bytes = grouped(object.retained);
            writeln!(to, "    {}  retains {bytes}", name(object))?;
        }
        Ok(())
    }
}

impl ContentsRow {
    fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::References {
                elements,
                length,
                nulls,
            } => {
                let all = counted((*length).into(), "element");
                match nulls {
                    0 => writeln!(to, "  {all}:")?,
                    nulls => writeln!(to, "  {all}, {} of them null:", grouped(*nulls))?,
                }
                for row in elements {
                    writeln!(to, "    [{}] {}", row.index, referred(Some(&row.object)))?;
                }
            }
            Self::Values { length, values, .. } => {
                writeln!(to, "  {}:", counted((*length).into(), "element"))?;
                let values = values.as_ref().map(|values| values.join(" "));
                let values = values.as_deref().unwrap_or("(--strings prints them)");
                writeln!(to, "    {values}")?;
            }
            Self::Fields { fields, left_out } => {
                let all = fields.len().saturating_add(*left_out);
                writeln!(to, "  {}:", counted(all as u64, "field"))?;
                for field in fields {
                    let held = match &field.held {
                        Held::Object(object) => referred(object.as_ref()),
                        Held::Value(value) => value.clone().unwrap_or_default(),
                    };
                    writeln!(to, "    {} = {held}", plain(&shown(&field.name)))?;
                }
            }
        }
        Ok(())
    }
}

fn name(object: &ObjectRow) -> String {
    let label = object.label.as_ref();
    let label = label.map_or(String::new(), |label| format!(" \"{}\"", plain(label)));
    format!("{} {}{label}", plain(&shown(&object.class)), object.id)
}

fn referred(to: Option<&Referred>) -> String {
    match to {
        None => "null".to_owned(),
        Some(Referred::Object(object)) => name(object),
        Some(Referred::Missing { id }) => format!("{id} (not in the dump)"),
    }
}

/// Makes the parts of the answer.
struct Page<'l, 'n> {
    loaded: &'l Loaded<'n>,
    most: usize,
    fields: usize,
    shown: Shown,
    /// Names of threads and texts of strings, by object.
    labels: BTreeMap<u32, String>,
}

impl Page<'_, '_> {
    fn with_strings(&self) -> bool {
        matches!(self.shown, Shown::Values { strings: true })
    }

    /// Finds the names of those that are threads, and the texts of those that are strings.
    fn find_labels(&mut self, objects: &[u32]) -> Result<(), GraphError> {
        let heap = &self.loaded.heap;
        let threads: HashSet<u32> = heap.threads().map(|(_, thread)| thread).collect();
        let is_thread = |object: &u32| threads.contains(object);
        let threads: Vec<u32> = objects.iter().copied().filter(is_thread).collect();
        if !threads.is_empty() {
            self.labels = heap.thread_names(&threads)?;
        }
        let is_string = |object: &u32| heap.class_name(heap.class(*object)) == "java.lang.String";
        let strings = objects.iter().copied().filter(is_string);
        let strings: Vec<u32> = strings.filter(|_| self.with_strings()).collect();
        if !strings.is_empty() {
            self.labels.extend(heap.strings(&strings, STRING_BYTES)?);
        }
        Ok(())
    }

    /// The objects that are shown of the contents.
    fn held(&self, contents: &Contents) -> Vec<u32> {
        let heap = &self.loaded.heap;
        let ids: Vec<u64> = match contents {
            Contents::References { ids, .. } => {
                let held = ids.iter().copied().filter(|id| *id != 0);
                held.take(self.most).collect()
            }
            Contents::Values { .. } => Vec::new(),
            Contents::Class(..) | Contents::Instance { .. } => {
                let fields = heap.fields(contents).into_iter().take(self.fields);
                let fields = fields.filter(|field| field.kind == BasicType::Object);
                fields.map(|field| field.value).collect()
            }
        };
        ids.into_iter().filter_map(|id| heap.object(id)).collect()
    }

    fn object(&self, object: u32) -> ObjectRow {
        ObjectRow {
            label: self.labels.get(&object).cloned(),
            ..ObjectRow::of(&self.loaded.heap, &self.loaded.retained, object)
        }
    }

    fn list(&self, objects: &[u32]) -> Listed {
        let shown = objects.iter().take(self.most);
        Listed {
            left_out: objects.len().saturating_sub(self.most),
            objects: shown.map(|object| self.object(*object)).collect(),
        }
    }

    fn contents(&self, contents: &Contents) -> ContentsRow {
        match contents {
            Contents::References { length, ids } => {
                let held = ids.iter().enumerate();
                let held = held.filter_map(|(index, id)| {
                    let object = self.referred(*id)?;
                    Some(ElementRow { index, object })
                });
                ContentsRow::References {
                    elements: held.take(self.most).collect(),
                    length: *length,
                    nulls: ids.iter().filter(|id| **id == 0).count() as u64,
                }
            }
            Contents::Values {
                length,
                kind,
                bytes,
            } => {
                let values = || values(*kind, bytes).take(self.most).collect();
                ContentsRow::Values {
                    length: *length,
                    kind: type_name(*kind),
                    values: self.with_strings().then(values),
                }
            }
            Contents::Class(..) | Contents::Instance { .. } => {
                let fields = self.loaded.heap.fields(contents);
                let shown = fields.iter().take(self.fields);
                ContentsRow::Fields {
                    left_out: fields.len().saturating_sub(self.fields),
                    fields: shown.map(|field| self.field(field)).collect(),
                }
            }
        }
    }

    fn field(&self, field: &FieldValue) -> FieldRow {
        FieldRow {
            name: field.name.clone(),
            kind: type_name(field.kind),
            held: match (field.kind, self.shown) {
                (BasicType::Object, _) => Held::Object(self.referred(field.value)),
                (_, Shown::References) => Held::Value(None),
                (kind, Shown::Values { .. }) => Held::Value(Some(value(kind, field.value))),
            },
        }
    }

    fn referred(&self, id: u64) -> Option<Referred> {
        match self.loaded.heap.object(id) {
            _ if id == 0 => None,
            Some(object) => Some(Referred::Object(self.object(object))),
            None => Some(Referred::Missing {
                id: format!("{id:#x}"),
            }),
        }
    }
}

/// `int`; `object` for a reference.
pub(crate) fn type_name(kind: BasicType) -> String {
    match kind {
        BasicType::Object => "object".to_owned(),
        kind => {
            let array = ClassName::array_of(kind).to_java();
            array.trim_end_matches("[]").to_owned()
        }
    }
}

/// The values of an array as Java prints them.
fn values(kind: BasicType, bytes: &[u8]) -> impl Iterator<Item = String> + '_ {
    let number = |number: u64, byte: &u8| (number << 8) | u64::from(*byte);
    let all = bytes.chunks_exact(kind.size_bytes(8) as usize);
    all.map(move |bytes| value(kind, bytes.iter().fold(0, number)))
}

/// A primitive value as Java prints it; characters as numbers.
fn value(kind: BasicType, bits: u64) -> String {
    let [.., e, f, g, h] = bits.to_be_bytes();
    match kind {
        BasicType::Boolean => (bits != 0).to_string(),
        BasicType::Byte => i8::from_be_bytes([h]).to_string(),
        BasicType::Short => i16::from_be_bytes([g, h]).to_string(),
        BasicType::Char => format!("'\\u{bits:04x}'"),
        BasicType::Int => i32::from_be_bytes([e, f, g, h]).to_string(),
        BasicType::Float => f32::from_be_bytes([e, f, g, h]).to_string(),
        BasicType::Long => i64::from_be_bytes(bits.to_be_bytes()).to_string(),
        BasicType::Double => f64::from_bits(bits).to_string(),
        BasicType::Object => format!("{bits:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_javas() {
        for (kind, bits, text) in [
            (BasicType::Int, 0xFFFF_FFFE, "-2"),
            (BasicType::Byte, 0x80, "-128"),
            (BasicType::Char, 0x41, "'\\u0041'"),
            (BasicType::Double, 1.5_f64.to_bits(), "1.5"),
            (BasicType::Float, u64::from(0.25_f32.to_bits()), "0.25"),
            (BasicType::Boolean, 1, "true"),
            (BasicType::Long, u64::MAX, "-1"),
        ] {
            assert_eq!(value(kind, bits), text);
        }
    }
}
