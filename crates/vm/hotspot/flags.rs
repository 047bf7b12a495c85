//! The values of `-XX` switches, from HotSpot's own table (`JVMFlag::flags`; before 11
//! `Flag::flags`).

use super::vm_structs::Table;
use std::ffi::{c_char, CStr};

/// More switches than any HotSpot has.
const MOST_FLAGS: u64 = 10_000;

/// Whether a boolean switch is on; `None` if this JVM has no switch of this name, or does not
/// export the table.
pub fn is_on(name: &str) -> Option<bool> {
    // SAFETY: HotSpot keeps each value as long as the process lives; a boolean has one byte.
    value(name).map(|value| unsafe { value.read() != 0 })
}

/// The value of a switch of eight bytes that is a number; `None` as for [`is_on`].
pub fn number(name: &str) -> Option<u64> {
    // SAFETY: HotSpot keeps each value as long as the process lives; this one has eight bytes.
    value(name).map(|value| unsafe { value.cast::<u64>().read_unaligned() })
}

/// The text of a switch; `None` as for [`is_on`], and if it is not set.
pub fn text(name: &str) -> Option<String> {
    let value = value(name)?;
    // SAFETY: HotSpot keeps each value as long as the process lives. Such a switch has the address
    // of a C string, or null; it is set before the agent is loaded.
    unsafe {
        let text = value.cast::<*const c_char>().read_unaligned();
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}

/// Where the value of a switch is.
fn value(name: &str) -> Option<*const u8> {
    let table = Table::find()?;
    ["JVMFlag", "Flag"].iter().find_map(|kind| {
        let value = |field| {
            let address = table.static_address(kind, field)?;
            // SAFETY: the field has eight bytes, which are set when the library is loaded.
            Some(unsafe { (address as *const u64).read() })
        };
        let (flags, count) = (value("flags")?, value("numFlags")?.min(MOST_FLAGS));
        let stride = Table::size_bytes(kind)?;
        let (name_at, value_at) = (table.offset(kind, "_name")?, table.offset(kind, "_addr")?);
        (0..count).find_map(|number| {
            let flag = flags + number * stride;
            // SAFETY: HotSpot's table has this many entries of this size (vmStructs.hpp), and
            // HotSpot fills it at startup. Each entry has a C string (null in the last) and the
            // address of the value.
            unsafe {
                let text = ((flag + name_at) as *const *const c_char).read();
                if text.is_null() || CStr::from_ptr(text).to_bytes() != name.as_bytes() {
                    return None;
                }
                let value = ((flag + value_at) as *const *const u8).read();
                (!value.is_null()).then_some(value)
            }
        })
    })
}
