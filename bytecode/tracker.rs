//! Makes the class that rewritten code calls.

use crate::additions::Additions;
use crate::bytes::Bytes;
use crate::error::{ClassError, Reason};
use crate::opcode::{ALOAD_0, GETSTATIC, IFEQ, ILOAD_0, INVOKESTATIC, RETURN};
use crate::plan::TrackerNames;

/// Java 8, the oldest JVM there is to run on.
const VERSION: u32 = 52;
const PUBLIC: u16 = 0x0001;
const PRIVATE: u16 = 0x0002;
const STATIC: u16 = 0x0008;
const FINAL: u16 = 0x0010;
const SUPER: u16 = 0x0020;
const VOLATILE: u16 = 0x0040;
const NATIVE: u16 = 0x0100;
const SYNTHETIC: u16 = 0x1000;

/// Makes the tracker class, a public final one without constructor:
///
/// ```java
/// public static volatile int engaged;
/// public static void enter(int number) { if (engaged != 0) nativeEnter(number); }
/// private static native void nativeEnter(int number);
/// ```
///
/// and likewise for `exit`, and for `objectInit` and `newArray` with a `java.lang.Object`. The native methods are
/// named after the others, and are to be registered before `engaged` is set.
///
/// # Errors
/// A name is longer than 65535 bytes.
pub fn tracker_class(names: &TrackerNames) -> Result<Vec<u8>, ClassError> {
    make(names).map_err(|_| ClassError::TooLong)
}

/// The constants that several methods need.
struct Common {
    class: u16,
    engaged: u16,
    code: u16,
    stack_map_table: u16,
}

fn make(names: &TrackerNames) -> Result<Vec<u8>, Reason> {
    let mut pool = Additions::new(1);
    let class = pool.class(names.class.as_bytes())?;
    let object = pool.class(b"java/lang/Object")?;
    let common = Common {
        class,
        engaged: pool.field(class, "engaged", "I")?,
        code: pool.utf8(b"Code")?,
        stack_map_table: pool.utf8(b"StackMapTable")?,
    };
    let field = (pool.utf8(b"engaged")?, pool.utf8(b"I")?);
    let methods = [
        (names.object_init, "(Ljava/lang/Object;)V", ALOAD_0),
        (names.new_array, "(Ljava/lang/Object;)V", ALOAD_0),
        (names.enter, "(I)V", ILOAD_0),
        (names.exit, "(I)V", ILOAD_0),
    ];
    let mut body = Vec::new();
    for (name, descriptor, load) in methods {
        add_method(&common, &mut pool, name, descriptor, load, &mut body)?;
    }

    let mut out = Vec::new();
    out.put_u4(0xCAFE_BABE);
    out.put_u4(VERSION);
    out.put_u2(pool.count());
    out.put(pool.bytes());
    out.put_u2(PUBLIC | FINAL | SUPER | SYNTHETIC);
    out.put_u2(class);
    out.put_u2(object);
    out.put_u2(0);
    out.put_u2(1);
    out.put_u2(PUBLIC | STATIC | VOLATILE);
    out.put_u2(field.0);
    out.put_u2(field.1);
    out.put_u2(0);
    out.put_u2(8);
    out.put(&body);
    out.put_u2(0);
    Ok(out)
}

/// A method that code calls, and the native one that it calls.
fn add_method(
    common: &Common,
    pool: &mut Additions,
    name: &str,
    descriptor: &str,
    load: u8,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let native = native_name(name);
    let target = pool.method(common.class, &native, descriptor)?;
    let descriptor = pool.utf8(descriptor.as_bytes())?;
    out.put_u2(PUBLIC | STATIC);
    out.put_u2(pool.utf8(name.as_bytes())?);
    out.put_u2(descriptor);
    out.put_u2(1);
    out.put_u2(common.code);
    let length_at = out.len();
    out.put_u4(0);
    out.put_u2(1);
    out.put_u2(1);
    add_code(common, target, load, out)?;
    out.put_u2(0);
    // One frame, as at the start, at the return.
    out.put_u2(1);
    out.put_u2(common.stack_map_table);
    out.put_u4(3);
    out.put_u2(1);
    out.put_u1(10);
    out.patch_length(length_at)?;

    out.put_u2(PRIVATE | STATIC | NATIVE);
    out.put_u2(pool.utf8(native.as_bytes())?);
    out.put_u2(descriptor);
    out.put_u2(0);
    Ok(())
}

fn add_code(common: &Common, target: u16, load: u8, out: &mut Vec<u8>) -> Result<(), Reason> {
    let length_at = out.len();
    out.put_u4(0);
    out.put_u1(GETSTATIC);
    out.put_u2(common.engaged);
    // From 3 to the return at 10.
    out.put(&[IFEQ, 0, 7, load, INVOKESTATIC]);
    out.put_u2(target);
    out.put_u1(RETURN);
    out.patch_length(length_at)
}

/// `nativeEnter` for `enter`.
fn native_name(name: &str) -> String {
    let mut native = "native".to_owned();
    let mut letters = name.chars();
    native.extend(letters.next().map(|first| first.to_ascii_uppercase()));
    native.push_str(letters.as_str());
    native
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_methods_are_named_after_the_others() {
        assert_eq!(native_name("objectInit"), "nativeObjectInit");
        assert_eq!(native_name(""), "native");
    }
}
