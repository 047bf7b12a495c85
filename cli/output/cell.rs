//! A typed value of an answer, as text and as JSON.

use std::borrow::Cow;
use std::rc::Rc;

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use crate::output::number::{grouped, in_units, percent, share, signed};
use crate::output::plain::{plain, shown};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// It is not known: no text, and null.
    Missing,
    /// `1,234`
    Number(u64),
    /// `1.2 MB`, but a number in JSON.
    Bytes(u64),
    /// A part of a whole: `99.8 %`, but `0.998` in JSON.
    Share(u64, u64),
    /// `+1,234`
    Change(i128),
    /// Of an object: `0x7f1c3a80`.
    Id(u64),
    /// Text prints its first [`SHOWN_CHARS`](crate::output::plain::SHOWN_CHARS) characters; JSON
    /// has all. Shared, as a hostile file may have one long name in millions of rows.
    Text(Rc<str>),
    /// Lines below a row.
    Lines(Vec<String>),
    /// What only JSON has.
    Json(Box<Value>),
}

impl Cell {
    /// Any value in JSON.
    pub(crate) fn json(value: impl Serialize) -> Self {
        Self::Json(Box::new(serde_json::to_value(value).unwrap_or_default()))
    }

    /// As text that is safe to print.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Missing | Self::Lines(_) | Self::Json(_) => Cow::Borrowed(""),
            Self::Number(number) => grouped(*number).into(),
            Self::Bytes(bytes) => in_units(*bytes).into(),
            Self::Share(part, whole) => percent(*part, *whole).into(),
            Self::Change(change) => signed(*change).into(),
            Self::Id(id) => format!("{id:#x}").into(),
            Self::Text(text) => plain(&shown(text)).into(),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing => to.serialize_none(),
            Self::Number(number) | Self::Bytes(number) => to.serialize_u64(*number),
            Self::Share(part, whole) => to.serialize_f64(share(*part, *whole)),
            Self::Id(_) => to.serialize_str(&self.text()),
            Self::Change(change) => to.serialize_i128(*change),
            Self::Text(text) => to.serialize_str(text),
            Self::Lines(lines) => lines.serialize(to),
            Self::Json(value) => value.serialize(to),
        }
    }
}

/// Values that are one kind of cell.
macro_rules! cells {
    ($($given:ty: $cell:expr;)*) => {
        $(impl From<$given> for Cell {
            fn from(given: $given) -> Self {
                $cell(given)
            }
        })*
    };
}

cells! {
    u64: Self::Number;
    u32: |number| Self::Number(u64::from(number));
    usize: |number| Self::Number(number as u64);
    i128: Self::Change;
    &str: |text: &str| Self::Text(text.into());
    String: |text: String| Self::Text(text.into());
    Rc<str>: Self::Text;
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}
