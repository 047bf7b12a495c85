//! The tables about its own structures that HotSpot exports for the serviceability agent
//! (`gHotSpotVMStructs`, `gHotSpotVMTypes`; vmStructs.hpp).

use std::ffi::{c_char, c_void, CStr};

/// The table of fields: its entries and their layout.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    entries: *const u8,
    stride: usize,
    type_name: usize,
    field_name: usize,
    type_string: usize,
    offset: usize,
    address: usize,
}

/// More entries than any HotSpot has. A longer table is not one.
const MOST_ENTRIES: usize = 10_000;

impl Table {
    /// `None` if this JVM exports no table.
    pub fn find() -> Option<Self> {
        Some(Self {
            entries: exported(c"gHotSpotVMStructs")? as *const u8,
            stride: number(c"gHotSpotVMStructEntryArrayStride")?,
            type_name: number(c"gHotSpotVMStructEntryTypeNameOffset")?,
            field_name: number(c"gHotSpotVMStructEntryFieldNameOffset")?,
            type_string: number(c"gHotSpotVMStructEntryTypeStringOffset")?,
            offset: number(c"gHotSpotVMStructEntryOffsetOffset")?,
            address: number(c"gHotSpotVMStructEntryAddressOffset")?,
        })
    }

    /// The address of the variable with the table, which lies in libjvm; `None` if this JVM exports
    /// no table.
    pub(super) fn address() -> Option<u64> {
        // SAFETY: a C string; the answer is null or the variable's address.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gHotSpotVMStructs".as_ptr()) };
        (!address.is_null()).then_some(address as u64)
    }

    /// Offset of a field in its struct.
    pub fn offset(self, type_name: &str, field_name: &str) -> Option<u64> {
        let entry = self.entry(type_name, field_name)?;
        // SAFETY: the entry has a uint64_t there (vmStructs.hpp).
        Some(unsafe { entry.add(self.offset).cast::<u64>().read() })
    }

    /// Offset of a field in its struct, and the field's C++ type.
    pub fn typed_offset(self, type_name: &str, field_name: &str) -> Option<(u64, Vec<u8>)> {
        let entry = self.entry(type_name, field_name)?;
        // SAFETY: the entry has a uint64_t and a C string with the type there (vmStructs.hpp).
        unsafe {
            let kind = text(entry.add(self.type_string))?.to_bytes().to_vec();
            Some((entry.add(self.offset).cast::<u64>().read(), kind))
        }
    }

    /// The value of a static field of type int.
    pub fn static_int(self, type_name: &str, field_name: &str) -> Option<u64> {
        let entry = self.entry(type_name, field_name)?;
        // SAFETY: the entry has the field's address there; the field is an int that is set at
        // startup.
        let value = unsafe {
            let address = entry.add(self.address).cast::<*const i32>().read();
            (!address.is_null()).then(|| address.read())
        };
        u64::try_from(value?).ok()
    }

    /// The address of a static field of eight bytes that is set at startup.
    pub fn static_address(self, type_name: &str, field_name: &str) -> Option<u64> {
        let entry = self.entry(type_name, field_name)?;
        // SAFETY: the entry has the field's address there.
        let address = unsafe { entry.add(self.address).cast::<u64>().read() };
        (address != 0).then_some(address)
    }

    /// The size of a type in bytes.
    pub fn size_bytes(type_name: &str) -> Option<u64> {
        let types = exported(c"gHotSpotVMTypes")? as *const u8;
        let stride = number(c"gHotSpotVMTypeEntryArrayStride")?;
        let name = number(c"gHotSpotVMTypeEntryTypeNameOffset")?;
        let size = number(c"gHotSpotVMTypeEntrySizeOffset")?;
        // SAFETY: the table of types, in which the size is a uint64_t.
        unsafe {
            let entry = entry(types, stride, name, type_name, |_| true)?;
            Some(entry.add(size).cast::<u64>().read())
        }
    }

    /// The value of a constant of type int that is not negative.
    pub fn constant(name: &str) -> Option<u32> {
        let constants = exported(c"gHotSpotVMIntConstants")? as *const u8;
        let stride = number(c"gHotSpotVMIntConstantEntryArrayStride")?;
        let name_at = number(c"gHotSpotVMIntConstantEntryNameOffset")?;
        let value = number(c"gHotSpotVMIntConstantEntryValueOffset")?;
        // SAFETY: the table of constants, in which the value is an int.
        let value = unsafe {
            let entry = entry(constants, stride, name_at, name, |_| true)?;
            entry.add(value).cast::<i32>().read()
        };
        u32::try_from(value).ok()
    }

    /// The entry of a field.
    fn entry(self, type_name: &str, field_name: &str) -> Option<*const u8> {
        // SAFETY: the table of fields, in which the name is a C string.
        unsafe {
            entry(self.entries, self.stride, self.type_name, type_name, |at| {
                text(at.add(self.field_name))
                    .is_some_and(|it| it.to_bytes() == field_name.as_bytes())
            })
        }
    }
}

/// The first entry with this name that `is_it`.
///
/// # Safety
/// `entries` starts a table of HotSpot's (vmStructs.hpp): it has entries of `stride` bytes with a
/// name, and ends with one without; nothing writes it after the library is loaded.
unsafe fn entry(
    entries: *const u8,
    stride: usize,
    name_at: usize,
    name: &str,
    is_it: impl Fn(*const u8) -> bool,
) -> Option<*const u8> {
    for number in 0..MOST_ENTRIES {
        // SAFETY: the caller's promise.
        unsafe {
            let entry = entries.add(number * stride);
            if text(entry.add(name_at))?.to_bytes() == name.as_bytes() && is_it(entry) {
                return Some(entry);
            }
        }
    }
    None
}

/// The C string that the pointer at `place` points to; `None` for null.
///
/// # Safety
/// `place` holds null or a pointer to a C string that never changes.
unsafe fn text<'t>(place: *const u8) -> Option<&'t CStr> {
    // SAFETY: the caller's promise.
    unsafe {
        let start = place.cast::<*const c_char>().read();
        (!start.is_null()).then(|| CStr::from_ptr(start))
    }
}

/// The value of a variable of eight bytes that libjvm exports.
fn exported(name: &CStr) -> Option<u64> {
    // SAFETY: a C string; the answer is null or the variable's address.
    let address: *mut c_void = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if address.is_null() {
        return None;
    }
    // SAFETY: every variable requested here is a uint64_t or a pointer (vmStructs.cpp).
    Some(unsafe { address.cast::<u64>().read() })
}

/// The value of such a variable with a size or an offset.
fn number(name: &CStr) -> Option<usize> {
    usize::try_from(exported(name)?).ok()
}
