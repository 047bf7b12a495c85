//! Finds the calls of `super(…)` or `this(…)` in constructors. They distinguish, in a stack, a
//! constructor that initializes the same object from one that creates another object.

use crate::class_file::{ClassFile, Member};
use crate::code::Code;
use crate::constructor::Constructor;
use crate::cursor::Cursor;
use crate::program::Program;

/// A constructor's call of `super(…)` or `this(…)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitializingCall<'a> {
    /// The descriptor of the calling constructor, in modified UTF-8.
    pub descriptor: &'a [u8],
    /// Index of the instruction in its code.
    pub at: u16,
}

impl<'a> ClassFile<'a> {
    /// The calls of all constructors, except those whose code is not understood.
    pub fn initializing_calls(&self) -> impl Iterator<Item = InitializingCall<'a>> + '_ {
        let constructors = self.methods.iter().filter(|m| m.method.name == b"<init>");
        constructors.filter_map(|member| {
            let at = self.initializing_call(member)?;
            let descriptor = member.method.descriptor;
            Some(InitializingCall { descriptor, at })
        })
    }

    fn initializing_call(&self, member: &Member<'a>) -> Option<u16> {
        let mut cursor = Cursor::new(member.bytes);
        cursor.take(6).ok()?;
        let code = Code::read(self.pool.find(cursor, b"Code")?).ok()?;
        let mut program = Program::default();
        program.read(code.bytes).ok()?;
        let constructor = Constructor {
            class: self,
            method: member.method,
            code,
            program: &program,
            frames: None,
        };
        constructor.initializing_call()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode::{INVOKESPECIAL, NEW, RETURN};
    use crate::tests::assembler::{ClassBuilder, TestCode};

    #[test]
    fn a_call_for_another_object_is_none() {
        let mut class = ClassBuilder::new(52);
        let other = class.pool.class(b"Other").unwrap();
        let [high, low] = class
            .pool
            .method(other, "<init>", "()V")
            .unwrap()
            .to_be_bytes();
        let call = [INVOKESPECIAL, high, low];
        // super(new Other()); new Other();
        let mut code = vec![42, NEW, 0, 0, 89];
        code.extend(call);
        code.extend(call);
        code.extend([NEW, 0, 0]);
        code.extend(call);
        code.push(RETURN);
        let code = TestCode {
            max_stack: 3,
            max_locals: 1,
            code,
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        class.method("<init>", "()V", &code);
        class.method("make", "()V", &code);
        let bytes = class.finish();
        let calls: Vec<_> = ClassFile::parse(&bytes)
            .unwrap()
            .initializing_calls()
            .map(|call| (call.descriptor.to_vec(), call.at))
            .collect();
        assert_eq!(calls, [(b"()V".to_vec(), 8)]);
    }
}
