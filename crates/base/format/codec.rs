//! The kinds of which records are made: how each is decoded and encoded, and its length.
//!
//! `parts!` makes a struct of a row of fields and kinds. A struct is a kind itself, so that lists
//! of structs are written like lists of numbers.

use std::marker::PhantomData;

use crate::BasicType;

/// Most entries kept of a list (frames, samples, sites); more than any JVM writes.
pub const ENTRIES_MAX: u32 = 1 << 22;

/// Most bytes kept of a string: a name in a class file has no more.
pub const TEXT_BYTES_MAX: u64 = 0xFFFF;

/// Where a decoder takes its bytes from.
pub trait Input {
    /// Why it cannot go on.
    type Error;
    /// The next bytes, which are consumed. Errors: they are missing.
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Self::Error>;
    /// Bytes of an identifier, 4 or 8.
    fn id_bytes(&self) -> u32;
    /// Bytes left in the record.
    fn left(&self) -> u64;
    /// The first [`TEXT_BYTES_MAX`] of these; the others are skipped.
    fn rest(&mut self) -> Result<Vec<u8>, Self::Error>;
    /// The error if no basic type has this number.
    fn unknown_type(&self, code: u8) -> Self::Error;
}

/// Where an encoder puts its bytes.
pub trait Output {
    /// Appends these.
    fn put(&mut self, bytes: &[u8]);
}

impl Output for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// A list is longer than its count can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// What it lists, in plain words.
    pub what: &'static str,
    /// Its length.
    pub value: u64,
}

/// A kind of field.
pub trait FieldCodec {
    /// What a decoded field holds.
    type Value;
    /// Bytes of a field beside its identifiers; of a list those of the count.
    const BYTES: u32;
    /// Identifiers in a field.
    const IDS: u32 = 0;
    /// Bytes of each entry of a list beside its identifiers; 0 for other kinds.
    const ROW_BYTES: u32 = 0;
    /// Identifiers in each entry of a list.
    const ROW_IDS: u32 = 0;

    /// Decodes a field. Errors: bytes are missing, or a type is unknown.
    fn read<I: Input>(from: &mut I) -> Result<Self::Value, I::Error>;
    /// Appends a field, with identifiers of 8 bytes. The error names `what`, a list's field.
    fn put(value: &Self::Value, what: &'static str, to: &mut impl Output) -> Result<(), TooMany>;
}

/// Bytes of each entry of a list; 0 for other kinds.
pub(crate) const fn row_bytes<K: FieldCodec>(id_bytes: u32) -> u32 {
    K::ROW_BYTES + K::ROW_IDS * id_bytes
}

/// A slice as an input, for instance from a window on a file.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'b> {
    /// The bytes that are left.
    pub bytes: &'b [u8],
    /// Bytes of an identifier, 4 or 8.
    pub id_bytes: u32,
}

/// A slice does not contain a whole part, or the part has an unknown type.
#[derive(Clone, Copy, Debug)]
pub struct NotWhole;

impl Input for Bytes<'_> {
    type Error = NotWhole;

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], NotWhole> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(NotWhole)?;
        self.bytes = rest;
        Ok(*taken)
    }

    fn id_bytes(&self) -> u32 {
        self.id_bytes
    }

    fn left(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn rest(&mut self) -> Result<Vec<u8>, NotWhole> {
        let rest = std::mem::take(&mut self.bytes);
        let most = usize::try_from(TEXT_BYTES_MAX).unwrap_or(usize::MAX);
        Ok(rest.get(..most).unwrap_or(rest).to_vec())
    }

    fn unknown_type(&self, _: u8) -> NotWhole {
        NotWhole
    }
}

/// Bytes of a field if identifiers have `id_bytes`; of a list those of the count.
pub const fn bytes_of<K: FieldCodec>(id_bytes: u32) -> u32 {
    K::BYTES + K::IDS * id_bytes
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $value:ty, $bytes:literal bytes, $ids:literal ids,
       |$from:ident| $read:expr, |$it:ident| $put:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl FieldCodec for $name {
            type Value = $value;
            const BYTES: u32 = $bytes;
            const IDS: u32 = $ids;

            #[inline]
            fn read<I: Input>($from: &mut I) -> Result<$value, I::Error> {
                $read
            }

            #[inline]
            fn put($it: &$value, _: &'static str, to: &mut impl Output) -> Result<(), TooMany> {
                to.put($put);
                Ok(())
            }
        }
    )*};
}

kinds! {
    /// An unsigned byte.
    U1: u8, 1 bytes, 0 ids, |from| from.take().map(u8::from_be_bytes), |it| &it.to_be_bytes();
    /// An unsigned number of 2 bytes.
    U2: u16, 2 bytes, 0 ids, |from| from.take().map(u16::from_be_bytes), |it| &it.to_be_bytes();
    /// An unsigned number of 4 bytes.
    U4: u32, 4 bytes, 0 ids, |from| from.take().map(u32::from_be_bytes), |it| &it.to_be_bytes();
    /// An unsigned number of 8 bytes.
    U8: u64, 8 bytes, 0 ids, |from| from.take().map(u64::from_be_bytes), |it| &it.to_be_bytes();
    /// A signed number of 4 bytes.
    I4: i32, 4 bytes, 0 ids, |from| from.take().map(i32::from_be_bytes), |it| &it.to_be_bytes();
    /// A floating-point number of 4 bytes.
    F4: f32, 4 bytes, 0 ids, |from| from.take().map(f32::from_be_bytes), |it| &it.to_be_bytes();
    /// An identifier of the file's size; 0 is null.
    Id: u64, 0 bytes, 1 ids, |from| match from.id_bytes() {
        4 => U4::read(from).map(u64::from),
        _ => U8::read(from),
    }, |id| &id.to_be_bytes();
    /// The number of a basic type.
    Type: BasicType, 1 bytes, 0 ids, |from| {
        let code = U1::read(from)?;
        BasicType::from_code(code).ok_or_else(|| from.unknown_type(code))
    }, |basic_type| &[basic_type.code()];
    /// The number of a basic type that is no reference.
    PrimitiveType: BasicType, 1 bytes, 0 ids, |from| match Type::read(from)? {
        BasicType::Object => Err(from.unknown_type(BasicType::Object.code())),
        primitive => Ok(primitive),
    }, |basic_type| &[basic_type.code()];
    /// The number of bytes left in the record; no field of the file.
    Left: u64, 0 bytes, 0 ids, |from| Ok(from.left()), |_left| &[];
    /// All bytes left in the record.
    Rest: Vec<u8>, 0 bytes, 0 ids, |from| from.rest(), |rest| rest;
}

/// A count, and so many entries.
#[derive(Clone, Copy, Debug)]
pub struct List<C, E>(PhantomData<(C, E)>);

impl<C: FieldCodec<Value: Copy + Into<u32> + TryFrom<usize>>, E: FieldCodec> FieldCodec
    for List<C, E>
{
    /// At most [`ENTRIES_MAX`] entries.
    type Value = Vec<E::Value>;
    const BYTES: u32 = C::BYTES;
    const ROW_BYTES: u32 = E::BYTES;
    const ROW_IDS: u32 = E::IDS;

    /// The vector grows with the entries read, not with the count.
    fn read<I: Input>(from: &mut I) -> Result<Self::Value, I::Error> {
        let count: u32 = C::read(from)?.into();
        let mut entries = Vec::new();
        for number in 0..count {
            let entry = E::read(from)?;
            if number < ENTRIES_MAX {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    fn put(entries: &Self::Value, what: &'static str, to: &mut impl Output) -> Result<(), TooMany> {
        let value = entries.len();
        let count = C::Value::try_from(value).map_err(|_| TooMany {
            what,
            value: value as u64,
        })?;
        C::put(&count, what, to)?;
        entries.iter().try_for_each(|entry| E::put(entry, what, to))
    }
}

/// A field, then a value behind its type.
#[derive(Clone, Copy, Debug)]
pub struct Valued<K>(PhantomData<K>);

/// A static field, or an entry of a class's constant pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Static {
    /// String id of the name; of a constant the index in the pool.
    pub name: u64,
    /// Type of the value.
    pub kind: BasicType,
    /// The value, as raw bits; an object id for references.
    pub value: u64,
}

impl<K: FieldCodec<Value: Into<u64> + TryFrom<u64>>> FieldCodec for Valued<K> {
    type Value = Static;
    /// Those before the value.
    const BYTES: u32 = K::BYTES + Type::BYTES;
    const IDS: u32 = K::IDS;

    fn read<I: Input>(from: &mut I) -> Result<Static, I::Error> {
        let (name, kind) = (K::read(from)?.into(), Type::read(from)?);
        let value = match kind.size_bytes(from.id_bytes()) {
            1 => U1::read(from)?.into(),
            2 => U2::read(from)?.into(),
            4 => U4::read(from)?.into(),
            _ => U8::read(from)?,
        };
        Ok(Static { name, kind, value })
    }

    fn put(field: &Static, what: &'static str, to: &mut impl Output) -> Result<(), TooMany> {
        let value = field.name;
        let name = K::Value::try_from(value).map_err(|_| TooMany { what, value })?;
        K::put(&name, what, to)?;
        Type::put(&field.kind, what, to)?;
        let bytes = field.value.to_be_bytes();
        let size = field.kind.size_bytes(crate::ID_SIZE_BYTES) as usize;
        let skipped = bytes.len().saturating_sub(size);
        to.put(bytes.get(skipped..).unwrap_or_default());
        Ok(())
    }
}

impl<P: FieldCodec<Value = P>> FieldCodec for Box<P> {
    type Value = Self;
    const BYTES: u32 = P::BYTES;
    const IDS: u32 = P::IDS;

    fn read<I: Input>(from: &mut I) -> Result<Self, I::Error> {
        P::read(from).map(Self::new)
    }

    fn put(part: &Self, what: &'static str, to: &mut impl Output) -> Result<(), TooMany> {
        P::put(part, what, to)
    }
}

/// Makes structs of fields that follow each other.
macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $kind:ty,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: <$kind as FieldCodec>::Value,)*
        }

        #[allow(unused_variables)] // Of a part without fields.
        impl FieldCodec for $name {
            type Value = Self;
            const BYTES: u32 = 0 $(+ <$kind as FieldCodec>::BYTES)*;
            const IDS: u32 = 0 $(+ <$kind as FieldCodec>::IDS)*;
            const ROW_BYTES: u32 = 0 $(+ <$kind as FieldCodec>::ROW_BYTES)*;
            const ROW_IDS: u32 = 0 $(+ <$kind as FieldCodec>::ROW_IDS)*;

            #[inline]
            fn read<I: Input>(from: &mut I) -> Result<Self, I::Error> {
                Ok(Self { $($field: <$kind as FieldCodec>::read(from)?),* })
            }

            #[inline]
            fn put(
                part: &Self,
                _: &'static str,
                to: &mut impl Output,
            ) -> Result<(), TooMany> {
                $(
                    let what = concat!("the number of ", stringify!($field));
                    <$kind as FieldCodec>::put(&part.$field, what, to)?;
                )*
                Ok(())
            }
        }
    )*};
}

/// Makes an enum of the parts that have tags, and the tags.
macro_rules! tags {
    ($(#[$doc:meta])* $all:ident $(or $other:ident)?, $(
        $(#[$row_doc:meta])*
        $tag:ident = $number:literal $name:literal $($variant:ident($part:ty))?;
    )*) => {
        $($(#[$row_doc])* pub const $tag: u8 = $number;)*

        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $all {
            $($(#[doc = $name] $variant($part),)?)*
            $(
                /// Another, which has a tag of its own.
                $other($other),
            )?
        }

        impl $all {
            /// The tags.
            pub const TAGS: &[u8] = &[$($tag),*];

            /// Decodes the part with this tag up to its data, if any, which are not read; `None` if
            /// no part has the tag. May leave bytes over. Errors: bytes are missing, or a type is
            /// unknown.
            pub fn read<I: Input>(tag: u8, from: &mut I) -> Result<Option<Self>, I::Error> {
                Ok(Some(match tag {
                    $($($tag => Self::$variant(<$part as FieldCodec>::read(from)?),)?)*
                    _ => {
                        $(return Ok($other::read(tag, from)?.map(Self::$other));)?
                        #[allow(unreachable_code)]
                        return Ok(None);
                    }
                }))
            }

            /// The format text's name of the parts with this tag, in capitals.
            pub fn name_of(tag: u8) -> Option<&'static str> {
                match tag {
                    $($tag => Some($name),)*
                    _ => { $(return $other::name_of(tag);)? #[allow(unreachable_code)] None }
                }
            }

            /// Appends the part, without its tag and its data. Errors: a list is too long.
            pub fn put(&self, to: &mut impl Output) -> Result<(), TooMany> {
                match self {
                    $($(Self::$variant(part) => <$part as FieldCodec>::put(part, $name, to),)?)*
                    $(Self::$other(other) => $other::put(other, to),)?
                }
            }

            /// Its tag.
            pub fn tag(&self) -> u8 {
                match self {
                    $($(Self::$variant(_) => $tag,)?)*
                    $(Self::$other(other) => $other::tag(other),)?
                }
            }

            /// Its name, as [`Self::name_of`].
            pub fn name(&self) -> &'static str {
                Self::name_of(self.tag()).unwrap_or_default()
            }

            /// Bytes of the parts with this tag, of a list those of its count, and bytes of its
            /// entries, if identifiers have `id_bytes`. Not of classes and roots, which have more
            /// lists, or none.
            pub fn bytes_of(tag: u8, id_bytes: u32) -> Option<(u32, u32)> {
                match tag {
                    $($($tag => Some((bytes_of::<$part>(id_bytes), row_bytes::<$part>(id_bytes))),)?)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {parts, tags};
