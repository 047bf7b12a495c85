//! Makes the classes that rewritten code calls.

use crate::additions::Additions;
use crate::bytes::Bytes;
use crate::error::Reason;
use crate::layout::narrow;
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
pub fn tracker_class() -> Result<Vec<u8>, Reason> {
    let mut pool = Additions::new(1);
    let class = pool.class(names::TRACKER.as_bytes())?;
    let engaged = pool.field(class, "engaged", "I")?;
    let mut body = Vec::new();
    body.put_u2(1);
    body.put_u2(PUBLIC | STATIC | VOLATILE);
    body.put_u2(pool.utf8(b"engaged")?);
    body.put_u2(pool.utf8(b"I")?);
    body.put_u2(0);
    body.put_u2(narrow(METHODS.len())?);
    for method in METHODS {
        add_method(&mut pool, engaged, method, &mut body)?;
    }
    class_file(pool, class, &body)
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
pub fn natives_class() -> Result<Vec<u8>, Reason> {
    let mut pool = Additions::new(1);
    let class = pool.class(names::NATIVES.as_bytes())?;
    let mut body = Vec::new();
    body.put_u2(0);
    body.put_u2(narrow(METHODS.len())?);
    for (name, descriptor, _) in METHODS {
        body.put_u2(PUBLIC | STATIC | NATIVE);
        body.put_u2(pool.utf8(name.as_bytes())?);
        body.put_u2(pool.utf8(descriptor.as_bytes())?);
        body.put_u2(0);
    }
    class_file(pool, class, &body)
}

/// A method: its name, its descriptor, and the instructions that load its arguments (one
/// instruction and one word each).
type Method = (&'static str, &'static str, &'static [u8]);

const METHODS: [Method; 7] = [
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
];

/// A class with these constants; `body` is its fields and methods.
fn class_file(mut pool: Additions, class: u16, body: &[u8]) -> Result<Vec<u8>, Reason> {
    let object = pool.class(b"java/lang/Object")?;
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
    Ok(out)
}

fn add_method(
    pool: &mut Additions,
    engaged: u16,
    (name, descriptor, loads): Method,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let words = u8::try_from(loads.len()).map_err(|_| Reason::TooBig)?;
    let natives = pool.class(names::NATIVES.as_bytes())?;
    let target = pool.method(natives, name, descriptor)?;
    out.put_u2(PUBLIC | STATIC);
    out.put_u2(pool.utf8(name.as_bytes())?);
    out.put_u2(pool.utf8(descriptor.as_bytes())?);
    out.put_u2(1);
    out.put_u2(pool.utf8(b"Code")?);
    out.sized(|out| {
        // The stack holds `engaged`, and later the arguments.
        out.put_u2(u16::from(words.max(1)));
        out.put_u2(u16::from(words));
        // After three instructions of three bytes and the loads.
        let return_at = words.checked_add(9).ok_or(Reason::TooBig)?;
        const JUMP_AT: u8 = 3;
        out.sized(|out| {
            out.put_u1(GETSTATIC);
            out.put_u2(engaged);
            out.put(&[IFEQ, 0, return_at.saturating_sub(JUMP_AT)]);
            out.put(loads);
            out.put_u1(INVOKESTATIC);
            out.put_u2(target);
            out.put_u1(RETURN);
            Ok(())
        })?;
        out.put_u2(0);
        // One frame at the return, equal to the initial one.
        out.put_u2(1);
        out.put_u2(pool.utf8(b"StackMapTable")?);
        out.put_u4(3);
        out.put_u2(1);
        out.put_u1(return_at);
        Ok(())
    })
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
