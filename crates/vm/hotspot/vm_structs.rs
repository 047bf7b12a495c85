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
            stride: usize::try_from(exported(c"gHotSpotVMStructEntryArrayStride")?).ok()?,
            type_name: usize::try_from(exported(c"gHotSpotVMStructEntryTypeNameOffset")?).ok()?,
            field_name: usize::try_from(exported(c"gHotSpotVMStructEntryFieldNameOffset")?).ok()?,
            type_string: usize::try_from(exported(c"gHotSpotVMStructEntryTypeStringOffset")?)
                .ok()?,
            offset: usize::try_from(exported(c"gHotSpotVMStructEntryOffsetOffset")?).ok()?,
            address: usize::try_from(exported(c"gHotSpotVMStructEntryAddressOffset")?).ok()?,
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
        let stride = usize::try_from(exported(c"gHotSpotVMTypeEntryArrayStride")?).ok()?;
        let name = usize::try_from(exported(c"gHotSpotVMTypeEntryTypeNameOffset")?).ok()?;
        let size = usize::try_from(exported(c"gHotSpotVMTypeEntrySizeOffset")?).ok()?;
        for number in 0..MOST_ENTRIES {
            // SAFETY: the table ends by an entry without a name; the size is a uint64_t.
            unsafe {
                let entry = types.add(number * stride);
                if text(entry.add(name))?.to_bytes() == type_name.as_bytes() {
                    return Some(entry.add(size).cast::<u64>().read());
                }
            }
        }
        None
    }

    /// The value of a constant of type int that is not negative.
    pub fn constant(name: &str) -> Option<u32> {
        let constants = exported(c"gHotSpotVMIntConstants")? as *const u8;
        let stride = usize::try_from(exported(c"gHotSpotVMIntConstantEntryArrayStride")?).ok()?;
        let name_at = usize::try_from(exported(c"gHotSpotVMIntConstantEntryNameOffset")?).ok()?;
        let value = usize::try_from(exported(c"gHotSpotVMIntConstantEntryValueOffset")?).ok()?;
        for number in 0..MOST_ENTRIES {
            // SAFETY: the table ends by an entry without a name; the value is an int.
            unsafe {
                let entry = constants.add(number * stride);
                if text(entry.add(name_at))?.to_bytes() == name.as_bytes() {
                    return u32::try_from(entry.add(value).cast::<i32>().read()).ok();
                }
            }
        }
        None
    }

    /// The entry of a field.
    fn entry(self, type_name: &str, field_name: &str) -> Option<*const u8> {
        for number in 0..MOST_ENTRIES {
            // SAFETY: HotSpot's table (vmStructs.hpp) has entries of `stride` bytes and ends with
            // an entry without a type name; nothing writes it after the library is loaded.
            unsafe {
                let entry = self.entries.add(number * self.stride);
                let found = text(entry.add(self.type_name))?;
                if found.to_bytes() == type_name.as_bytes()
                    && text(entry.add(self.field_name))?.to_bytes() == field_name.as_bytes()
                {
                    return Some(entry);
                }
            }
        }
        None
    }
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
