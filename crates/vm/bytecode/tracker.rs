//! Makes the classes that rewritten code calls.

use crate::additions::Additions;
use crate::bytes::Bytes;
use crate::error::{ClassError, Reason};
use crate::names;
use crate::opcode::{ALOAD_0, GETSTATIC, IFEQ, ILOAD_0, ILOAD_1, INVOKESTATIC, RETURN};

/// Java 8, the oldest supported JVM.
const VERSION: u32 = 52;
const PUBLIC: u16 = 0x0001;
const STATIC: u16 = 0x0008;
const FINAL: u16 = 0x0010;
const SUPER: u16 = 0x0020;
const VOLATILE: u16 = 0x0040;
const NATIVE: u16 = 0x0100;
const SYNTHETIC: u16 = 0x1000;

/// Makes the tracker class, a public final class without a constructor:
///
/// ```java
/// public static volatile int engaged;
/// public static void enter(int number) { if (engaged != 0) TrackerNatives.enter(number); }
/// ```
///
/// and likewise for the other names of [`names`]. Set `engaged` when the methods of
/// [`natives_class`] are registered.
///
/// # Errors
/// A name is longer than 65535 bytes.
pub fn tracker_class() -> Result<Vec<u8>, ClassError> {
    make_tracker().map_err(|_| ClassError::TooLong)
}

/// Makes the class with the native methods, a public final class without a constructor:
///
/// ```java
/// public static native void enter(int number);
/// ```
///
/// and likewise for the other names of [`names`].
///
/// # Errors
/// A name is longer than 65535 bytes.
pub fn natives_class() -> Result<Vec<u8>, ClassError> {
    make_natives().map_err(|_| ClassError::TooLong)
}

const METHODS: u16 = 7;

/// A method: its name, its descriptor, and the instructions that load its arguments (one
/// instruction and one word each).
type Method = (&'static str, &'static str, &'static [u8]);

fn methods() -> [Method; METHODS as usize] {
    [
        (names::OBJECT_INIT, "(Ljava/lang/Object;)V", &[ALOAD_0]),
        (
            names::NEW_ARRAY,
            "(Ljava/lang/Object;I)V",
            &[ALOAD_0, ILOAD_1],
        ),
        (names::ENTER, "(I)V", &[ILOAD_0]),
        (names::EXIT, "(I)V", &[ILOAD_0]),
        (names::ERROR_INIT, "(Ljava/lang/Object;)V", &[ALOAD_0]),
        (names::MOUNT, "(Ljava/lang/Object;)V", &[ALOAD_0]),
        (names::UNMOUNT, "()V", &[]),
    ]
}

/// The constants that several methods need.
struct Common {
    natives: u16,
    engaged: u16,
    code: u16,
    stack_map_table: u16,
}

fn make_tracker() -> Result<Vec<u8>, Reason> {
    let mut pool = Additions::new(1);
    let class = pool.class(names::TRACKER.as_bytes())?;
    let object = pool.class(b"java/lang/Object")?;
    let common = Common {
        natives: pool.class(names::NATIVES.as_bytes())?,
        engaged: pool.field(class, "engaged", "I")?,
        code: pool.utf8(b"Code")?,
        stack_map_table: pool.utf8(b"StackMapTable")?,
    };
    let field = (pool.utf8(b"engaged")?, pool.utf8(b"I")?);
    let mut body = Vec::new();
    body.put_u2(1);
    body.put_u2(PUBLIC | STATIC | VOLATILE);
    body.put_u2(field.0);
    body.put_u2(field.1);
    body.put_u2(0);
    body.put_u2(METHODS);
    for method in methods() {
        add_method(&common, &mut pool, method, &mut body)?;
    }
    Ok(class_file(&pool, class, object, &body))
}

fn make_natives() -> Result<Vec<u8>, Reason> {
    let mut pool = Additions::new(1);
    let class = pool.class(names::NATIVES.as_bytes())?;
    let object = pool.class(b"java/lang/Object")?;
    let mut body = Vec::new();
    body.put_u2(0);
    body.put_u2(METHODS);
    for (name, descriptor, _) in methods() {
        body.put_u2(PUBLIC | STATIC | NATIVE);
        body.put_u2(pool.utf8(name.as_bytes())?);
        body.put_u2(pool.utf8(descriptor.as_bytes())?);
        body.put_u2(0);
    }
    Ok(class_file(&pool, class, object, &body))
}

/// A class with these constants; `body` is its fields and methods.
fn class_file(pool: &Additions, class: u16, object: u16, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_u4(0xCAFE_BABE);
    out.put_u4(VERSION);
    out.put_u2(pool.count());
    out.put(pool.bytes());
    out.put_u2(PUBLIC | FINAL | SUPER | SYNTHETIC);
    out.put_u2(class);
    out.put_u2(object);
    out.put_u2(0);
    out.put(body);
    out.put_u2(0);
    out
}

/// Adds a constant for a called method.
fn add_method(
    common: &Common,
    pool: &mut Additions,
    (name, descriptor, loads): Method,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let words = u8::try_from(loads.len()).map_err(|_| Reason::TooBig)?;
    let target = pool.method(common.natives, name, descriptor)?;
    out.put_u2(PUBLIC | STATIC);
    out.put_u2(pool.utf8(name.as_bytes())?);
    out.put_u2(pool.utf8(descriptor.as_bytes())?);
    out.put_u2(1);
    out.put_u2(common.code);
    let length_at = out.len();
    out.put_u4(0);
    // The stack holds `engaged`, and later the arguments.
    out.put_u2(u16::from(words.max(1)));
    out.put_u2(u16::from(words));
    let return_at = add_code(common, target, (loads, words), out)?;
    out.put_u2(0);
    // One frame at the return, equal to the initial one.
    out.put_u2(1);
    out.put_u2(common.stack_map_table);
    out.put_u4(3);
    out.put_u2(1);
    out.put_u1(return_at);
    out.patch_length(length_at)
}

/// Returns the position of the return.
fn add_code(
    common: &Common,
    target: u16,
    (loads, words): (&[u8], u8),
    out: &mut Vec<u8>,
) -> Result<u8, Reason> {
    // After three instructions of three bytes and the loads.
    let return_at = words.checked_add(9).ok_or(Reason::TooBig)?;
    const JUMP_AT: u8 = 3;
    let length_at = out.len();
    out.put_u4(0);
    out.put_u1(GETSTATIC);
    out.put_u2(common.engaged);
    out.put(&[IFEQ, 0, return_at.saturating_sub(JUMP_AT)]);
    out.put(loads);
    out.put_u1(INVOKESTATIC);
    out.put_u2(target);
    out.put_u1(RETURN);
    out.patch_length(length_at)?;
    Ok(return_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClassFile;

    #[test]
    fn the_tracker_calls_natives_of_the_same_names() {
        let (tracker, natives) = (tracker_class(), natives_class());
        let methods = |bytes: Vec<u8>| -> Vec<(Vec<u8>, Vec<u8>)> {
            let class = ClassFile::parse(&bytes).unwrap();
            let methods = class.methods();
            methods
                .map(|m| (m.name.to_vec(), m.descriptor.to_vec()))
                .collect()
        };
        assert_eq!(methods(tracker.unwrap()), methods(natives.unwrap()));
    }
}
