//! Decodes a CLASS DUMP from a window.

use std::io;

use format::{big_endian, sub_record, BasicType};
use reader::{ClassDump, Constant, Field, Static};

use crate::visitor::{id_at, id_bytes, u32_at};
use crate::window::Window;

/// A record that is decoded step by step. Nothing is consumed until the record is complete.
struct Pieces<'w, 'f> {
    window: &'w mut Window<'f>,
    used: usize,
}

impl Pieces<'_, '_> {
    /// The next `count` bytes, or `None` at the end of this part of the file.
    fn take(&mut self, count: usize) -> io::Result<Option<&[u8]>> {
        let (from, to) = (self.used, self.used + count);
        self.used = to;
        Ok(self.window.ask(to)?.get(from..to))
    }

    fn id<const ID: usize>(&mut self) -> io::Result<Option<u64>> {
        Ok(self.take(ID)?.map(|bytes| id_at::<ID>(bytes, 0)))
    }

    fn count(&mut self) -> io::Result<Option<u16>> {
        let bytes = self.take(2)?.and_then(|bytes| bytes.first_chunk::<2>());
        Ok(bytes.map(|bytes| u16::from_be_bytes(*bytes)))
    }

    fn kind(&mut self) -> io::Result<Option<BasicType>> {
        let code = self.take(1)?.and_then(|bytes| bytes.first().copied());
        Ok(code.and_then(BasicType::from_code))
    }

    fn value<const ID: usize>(&mut self) -> io::Result<Option<(BasicType, u64)>> {
        let Some(kind) = self.kind()? else {
            return Ok(None);
        };
        let size = kind.size_bytes(id_bytes::<ID>()) as usize;
        let value = self.take(size)?.map(big_endian);
        Ok(value.map(|value| (kind, value)))
    }
}

/// Decodes the class at the window's front, after its tag was checked; `None` if it is cut off,
/// ends after `end` or has an invalid type.
pub(crate) fn class_dump<const ID: usize>(
    window: &mut Window<'_>,
    end: u64,
) -> io::Result<Option<ClassDump>> {
    let mut from = Pieces { window, used: 1 };
    let Some(mut dump) = fixed_part::<ID>(&mut from)? else {
        return Ok(None);
    };
    for _ in 0..from.count()?.unwrap_or(0) {
        let index = from.count()?;
        let (Some(index), Some((kind, value))) = (index, from.value::<ID>()?) else {
            return Ok(None);
        };
        dump.constants.push(Constant { index, kind, value });
    }
    for _ in 0..from.count()?.unwrap_or(0) {
        let name = from.id::<ID>()?;
        let (Some(name), Some((kind, value))) = (name, from.value::<ID>()?) else {
            return Ok(None);
        };
        dump.statics.push(Static { name, kind, value });
    }
    let Some(fields) = from.count()? else {
        return Ok(None);
    };
    for _ in 0..fields {
        let name = from.id::<ID>()?;
        let (Some(name), Some(kind)) = (name, from.kind()?) else {
            return Ok(None);
        };
        dump.fields.push(Field { name, kind });
    }
    let used = from.used;
    if window.offset().saturating_add(used as u64) > end {
        return Ok(None);
    }
    window.advance(used);
    Ok(Some(dump))
}

fn fixed_part<const ID: usize>(from: &mut Pieces<'_, '_>) -> io::Result<Option<ClassDump>> {
    let Some(bytes) = from
        .take((sub_record::class_head_bytes(id_bytes::<ID>()) - sub_record::TAG_BYTES) as usize)?
    else {
        return Ok(None);
    };
    Ok(Some(ClassDump {
        class: id_at::<ID>(bytes, 0),
        trace: u32_at(bytes, ID),
        super_class: id_at::<ID>(bytes, ID + 4),
        loader: id_at::<ID>(bytes, 2 * ID + 4),
        signers: id_at::<ID>(bytes, 3 * ID + 4),
        protection_domain: id_at::<ID>(bytes, 4 * ID + 4),
        instance_bytes: u32_at(bytes, 7 * ID + 4),
        constants: Vec::new(),
        statics: Vec::new(),
        fields: Vec::new(),
    }))
}
