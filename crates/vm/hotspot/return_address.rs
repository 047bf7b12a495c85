//! The frame that a return address on a stack returns to.

use super::code_cache::Returned;
use super::passed_frames::Code;
use super::standing_stacks::Walk;
use std::rc::Rc;

impl Walk<'_, '_> {
    /// Classifies the return address of a frame, or the one that HotSpot replaced by a redirection.
    pub(super) fn right_code(&mut self, pc: u64, stack_pointer: u64) -> Option<Rc<Code>> {
        match *self.code(pc)? {
            Code::Deoptimized(place) => {
                let pc = self.word(stack_pointer.wrapping_add(place))?;
                self.code(pc)
            }
            _ => self.code(pc),
        }
    }

    fn code(&mut self, pc: u64) -> Option<Rc<Code>> {
        if let Some(known) = self.known.get(&pc) {
            return Some(Rc::clone(known));
        }
        let code = Rc::new(self.look_at(pc)?);
        self.known.insert(pc, Rc::clone(&code));
        Some(code)
    }

    /// Classifies this return address; `None` if it is no code of a known kind.
    pub(super) fn look_at(&self, pc: u64) -> Option<Code> {
        let cache = &self.stacks.code;
        if cache.interpreter.contains(&pc) {
            return Some(Code::Interpreted);
        }
        if pc == cache.call_stub_return {
            return Some(Code::Entry);
        }
        let code = cache.returned_to(self.memory, pc)?;
        if code.is_deoptimized {
            let place: u32 = self.memory.read(code.blob.add(self.stacks.original_pc))?;
            return Some(Code::Deoptimized(place.into()));
        }
        if code.frame_bytes == 0 {
            return self.frameless(code);
        }
        let maps = self.stacks.maps.as_ref();
        let entries = maps.map(|maps| maps.entries(self.memory, self.first_slot, &code));
        Some(Code::Compiled {
            frame_bytes: code.frame_bytes,
            entries: entries.unwrap_or_else(|| Some(Vec::new()))?,
            is_native: code.is_native,
            code,
        })
    }

    /// Classifies a return address in code whose frames have no fixed size. Of HotSpot's stubs,
    /// only two are returned to: the one that fetches frames from the heap, and the one that calls
    /// Java.
    fn frameless(&self, code: Returned) -> Option<Code> {
        let upcall = self
            .stacks
            .upcalls
            .and_then(|it| it.anchor(self.memory, code.blob));
        match upcall {
            Some(place) => Some(Code::Upcall(place)),
            None => code.is_stub.then_some(Code::ReturnBarrier),
        }
    }
}
