//! The table of its own structures that HotSpot exports for the serviceability agent (`gHotSpotVMStructs`).
//!
//! Nobody promises it, so it serves only for what can be left out: a field that it does not name is one the dump does
//! without.

use std::ffi::{c_char, c_void, CStr};

/// What the table tells, as far as this JVM exports it.
#[derive(Clone, Copy, Debug)]
pub(super) struct VmStructs {
    /// The way to what a class's constants were resolved to.
    pub(super) resolved: Option<ResolvedReferences>,
    /// Where a mirror has the number of its static references, which HotSpot lays before the other static fields.
    pub(super) static_reference_count: Option<u64>,
}

impl VmStructs {
    /// Looks everything up.
    pub(super) fn find() -> Self {
        Self {
            resolved: ResolvedReferences::find(),
            static_reference_count: static_reference_count_offset(),
        }
    }
}

/// Offsets on the way from a `Klass` to its resolved references: call sites, method handles, strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResolvedReferences {
    /// In `InstanceKlass`.
    pub(super) constants: u64,
    /// In `ConstantPool`; `None` up to 8, where that has the resolved references itself.
    pub(super) cache: Option<u64>,
    /// In `ConstantPoolCache`, or `ConstantPool`: the address of a slot with the array's address.
    pub(super) resolved_references: u64,
}

impl ResolvedReferences {
    /// Looks the offsets up; `None` if this JVM does not export them all.
    fn find() -> Option<Self> {
        let table = Table::find()?;
        let constants = table.offset("InstanceKlass", "_constants")?;
        if let Some(resolved_references) = table.offset("ConstantPool", "_resolved_references") {
            return Some(Self {
                constants,
                cache: None,
                resolved_references,
            });
        }
        Some(Self {
            constants,
            cache: Some(table.offset("ConstantPool", "_cache")?),
            resolved_references: table.offset("ConstantPoolCache", "_resolved_references")?,
        })
    }
}

fn static_reference_count_offset() -> Option<u64> {
    Table::find()?.static_int("java_lang_Class", "_static_oop_field_count_offset")
}

/// The exported table: its entries and where an entry has what.
#[derive(Clone, Copy, Debug)]
struct Table {
    entries: *const u8,
    stride: usize,
    type_name: usize,
    field_name: usize,
    offset: usize,
    address: usize,
}

/// More entries than any HotSpot has: a table without an end is none.
const MOST_ENTRIES: usize = 10_000;

impl Table {
    fn find() -> Option<Self> {
        Some(Self {
            entries: exported(c"gHotSpotVMStructs")? as *const u8,
            stride: usize::try_from(exported(c"gHotSpotVMStructEntryArrayStride")?).ok()?,
            type_name: usize::try_from(exported(c"gHotSpotVMStructEntryTypeNameOffset")?).ok()?,
            field_name: usize::try_from(exported(c"gHotSpotVMStructEntryFieldNameOffset")?).ok()?,
            offset: usize::try_from(exported(c"gHotSpotVMStructEntryOffsetOffset")?).ok()?,
            address: usize::try_from(exported(c"gHotSpotVMStructEntryAddressOffset")?).ok()?,
        })
    }

    /// Offset of a field in its struct.
    fn offset(self, type_name: &str, field_name: &str) -> Option<u64> {
        let entry = self.entry(type_name, field_name)?;
        // SAFETY: the entry has a uint64_t there (vmStructs.hpp).
        Some(unsafe { entry.add(self.offset).cast::<u64>().read() })
    }

    /// The value of a static field of type int.
    fn static_int(self, type_name: &str, field_name: &str) -> Option<u64> {
        let entry = self.entry(type_name, field_name)?;
        // SAFETY: the entry has the field's address there; the field is an int that is set while the JVM starts.
        let value = unsafe {
            let address = entry.add(self.address).cast::<*const i32>().read();
            (!address.is_null()).then(|| address.read())
        };
        u64::try_from(value?).ok()
    }

    /// The entry of a field.
    fn entry(self, type_name: &str, field_name: &str) -> Option<*const u8> {
        for number in 0..MOST_ENTRIES {
            // SAFETY: HotSpot's table (vmStructs.hpp) has entries of `stride` bytes and ends with one that has no
            // type name; it is never written to after the library is loaded.
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

/// The C string that the pointer at `place` leads to; `None` for null.
///
/// # Safety
/// `place` holds null or a pointer to a C string that is never changed.
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
    // SAFETY: all variables that are asked for are uint64_t or pointers (vmStructs.cpp).
    Some(unsafe { address.cast::<u64>().read() })
}
