//! Rewrites a class.

use crate::additions::Additions;
use crate::bytes::Bytes;
use crate::class_file::{ClassFile, Member, Method};
use crate::cursor::Cursor;
use crate::error::{ClassError, Reason};
use crate::method::MethodRewriter;
use crate::plan::Plan;

/// The result for a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// The new class file; `None` if the old one needs no change.
    pub bytes: Option<Vec<u8>>,
    /// Number of methods with new code.
    pub methods_rewritten: usize,
    /// Methods that should have new code but kept the old one.
    pub left_alone: Vec<LeftAlone>,
    /// Number of rewritten methods that report their end only when they return, not when they
    /// throw: constructors in which it is unclear where the object is initialized.
    pub without_handler: usize,
}

/// A method that could not be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftAlone {
    /// Its name in modified UTF-8.
    pub name: Vec<u8>,
    /// Its descriptor in modified UTF-8.
    pub descriptor: Vec<u8>,
    /// The reason.
    pub reason: Reason,
}

/// Rewrites a class according to a plan.
///
/// With [`Plan::calls`], `number` is called once for each method with code, in file order. It
/// returns the number that the method reports, or `None` for no reports. It is called before it is
/// known whether the method can be rewritten. It is not called for a `finalize` that does nothing,
/// which never reports.
///
/// # Errors
/// The bytes are not understood as a class file.
pub fn rewrite(
    class: &[u8],
    plan: &Plan,
    mut number: impl FnMut(Method<'_>) -> Option<u32>,
) -> Result<Rewritten, ClassError> {
    let class = ClassFile::parse(class)?;
    let mut additions = Additions::new(class.pool.count());
    let mut methods = MethodRewriter::new(&class, plan);
    let mut rewritten = Rewritten::default();
    let old_length: usize = class.methods.iter().map(|m| m.bytes.len()).sum();
    let mut tail = Vec::with_capacity(class.after_methods.len() + old_length * 5 / 4 + 64);
    for member in &class.methods {
        let (length, mark) = (tail.len(), additions.mark());
        let result = write_method(member, &mut methods, &mut number, &mut additions, &mut tail);
        rewritten.methods_rewritten += usize::from(result == Ok(true));
        if result == Ok(true) {
            continue;
        }
        tail.truncate(length);
        additions.roll_back(mark);
        tail.put(member.bytes);
        if let Err(reason) = result {
            rewritten.left_alone.push(LeftAlone {
                name: member.method.name.to_vec(),
                descriptor: member.method.descriptor.to_vec(),
                reason,
            });
        }
    }
    rewritten.without_handler = methods.without_handler;
    if rewritten.methods_rewritten > 0 {
        tail.put(class.after_methods);
        rewritten.bytes = Some(assemble(&class, &additions, &tail)?);
    }
    Ok(rewritten)
}

fn assemble(
    class: &ClassFile<'_>,
    additions: &Additions,
    tail: &[u8],
) -> Result<Vec<u8>, ClassError> {
    let pool = class.pool.bytes();
    let length = pool.len() + additions.bytes().len() + class.before_methods.len() + tail.len();
    let mut out = Vec::with_capacity(class.head.len() + length + 4);
    out.put(class.head);
    out.put_u2(additions.count());
    out.put(pool);
    out.put(additions.bytes());
    out.put(class.before_methods);
    let count = u16::try_from(class.methods.len()).map_err(|_| ClassError::TooLong)?;
    out.put_u2(count);
    out.put(tail);
    Ok(out)
}

/// Writes a method with new code; false if it needs none, and then the written bytes are useless.
fn write_method<'a>(
    member: &Member<'a>,
    methods: &mut MethodRewriter<'a>,
    number: &mut impl FnMut(Method<'_>) -> Option<u32>,
    additions: &mut Additions,
    out: &mut Vec<u8>,
) -> Result<bool, Reason> {
    let mut cursor = Cursor::new(member.bytes);
    out.put(cursor.take(6)?);
    let count = cursor.u2()?;
    out.put_u2(count);
    let mut changed = false;
    for _ in 0..count {
        let start = cursor;
        let (name, body) = cursor.attribute()?;
        if methods.is_code(name) {
            out.put_u2(name);
            changed =
                out.sized(|out| methods.rewrite(member.method, number, body, additions, out))?;
            if !changed {
                return Ok(false);
            }
        } else {
            out.put(cursor.since(&start));
        }
    }
    Ok(changed)
}
