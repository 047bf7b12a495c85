//! The Java stacks of threads (JVMTI, "Stack Frame").

use super::env::{call, Env};
use super::error::JvmtiError;
use super::jni::Jni;
use super::memory::Allocated;
use super::method::MethodId;
use super::object::Object;
use jni::sys::jobject;
use jvmti_sys::{jvmtiFrameInfo, jvmtiStackInfo};
use std::ptr::null_mut;

/// Capacity of the first attempt for one thread's stack; each further attempt has four times as
/// much.
const FIRST_CAPACITY_FRAMES: usize = 1 << 10;
/// Capacity of the last attempt. No stack is deeper.
const GREATEST_CAPACITY_FRAMES: usize = 1 << 22;

/// A frame of a stack: a method and a location in it.
#[repr(C)] // as jvmtiFrameInfo
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackFrame {
    /// The method.
    pub method: MethodId,
    /// Index of the bytecode; -1 in a native method.
    pub location: i64,
}

/// A thread and its frames, the top first.
#[derive(Debug)]
pub struct ThreadStack<'f> {
    /// The thread.
    pub thread: Object<'f>,
    /// Its frames, the top first; empty if it runs no Java code.
    pub frames: Vec<StackFrame>,
}

impl Env {
    /// The stacks of all live platform threads at one moment, each cut at `depth_frames`
    /// (`GetAllStackTraces`).
    pub fn all_stacks<'f>(
        &self,
        _frame: &Jni<'f>,
        depth_frames: i32,
    ) -> Result<Vec<ThreadStack<'f>>, JvmtiError> {
        let (mut count, mut stacks): (i32, *mut jvmtiStackInfo) = (0, null_mut());
        // SAFETY: both out-parameters outlive the call.
        unsafe {
            call!(
                self,
                GET_ALL_STACK_TRACES(depth_frames, &mut stacks, &mut count)
            )
        }?;
        // SAFETY: on success `stacks` holds `count` entries; the frames lie in the same allocation.
        let stacks = unsafe { Allocated::new(self, stacks, count) };
        Ok(stacks
            .as_slice()
            .iter()
            .filter_map(|info| {
                // SAFETY: a local reference made in the current frame.
                let thread = unsafe { Object::from_raw(info.thread) }?;
                // SAFETY: `frame_buffer` holds `frame_count` frames as long as `stacks` lives.
                let frames = unsafe { frames(info.frame_buffer, info.frame_count) };
                Some(ThreadStack { thread, frames })
            })
            .collect())
    }

    /// The stacks of these threads at one moment, in their order, each cut at `depth_frames`
    /// (`GetThreadListStackTraces`). The stack of an ended thread is empty.
    pub fn stacks_of(
        &self,
        threads: &[Object<'_>],
        depth_frames: i32,
    ) -> Result<Vec<Vec<StackFrame>>, JvmtiError> {
        let handles: Vec<jobject> = threads.iter().map(Object::raw).collect();
        let count = i32::try_from(handles.len()).map_err(|_| JvmtiError::INTERNAL)?;
        let mut stacks: *mut jvmtiStackInfo = null_mut();
        // SAFETY: `count` live handles; the out-parameter outlives the call.
        unsafe {
            call!(
                self,
                GET_THREAD_LIST_STACK_TRACES(count, handles.as_ptr(), depth_frames, &mut stacks)
            )
        }?;
        // SAFETY: on success `stacks` holds `count` entries; the frames lie in the same allocation.
        // The handles in the entries are those that were passed.
        let stacks = unsafe { Allocated::new(self, stacks, count) };
        let infos = stacks.as_slice().iter();
        Ok(infos
            // SAFETY: `frame_buffer` holds `frame_count` frames as long as `stacks` lives.
            .map(|info| unsafe { frames(info.frame_buffer, info.frame_count) })
            .collect())
    }

    /// The whole stack of one thread, virtual or not (`GetStackTrace`).
    pub fn stack(&self, thread: &Object<'_>) -> Result<Vec<StackFrame>, JvmtiError> {
        let mut capacity = FIRST_CAPACITY_FRAMES;
        loop {
            let frames = self.stack_up_to(thread, capacity)?;
            if frames.len() < capacity || capacity >= GREATEST_CAPACITY_FRAMES {
                return Ok(frames);
            }
            capacity *= 4;
        }
    }

    /// The top frames of one thread's stack, at most `depth_frames` (`GetStackTrace`).
    pub fn stack_up_to(
        &self,
        thread: &Object<'_>,
        capacity: usize,
    ) -> Result<Vec<StackFrame>, JvmtiError> {
        let mut stack = Vec::new();
        self.read_stack(thread.raw(), &mut stack, capacity)?;
        Ok(stack)
    }
}

const _: () = assert!(
    std::mem::size_of::<StackFrame>() == std::mem::size_of::<jvmtiFrameInfo>()
        && std::mem::offset_of!(StackFrame, location)
            == std::mem::offset_of!(jvmtiFrameInfo, location)
);

impl Env {
    /// Stores the top frames of the calling thread's stack, at most `depth_frames`, in `stack`
    /// (`GetStackTrace`). For hot paths: allocates nothing once `stack` has the capacity.
    pub fn own_stack(
        &self,
        stack: &mut Vec<StackFrame>,
        capacity: usize,
    ) -> Result<(), JvmtiError> {
        self.read_stack(null_mut(), stack, capacity)
    }

    /// The top frames of a stack; null means the calling thread.
    fn read_stack(
        &self,
        thread: jobject,
        stack: &mut Vec<StackFrame>,
        capacity: usize,
    ) -> Result<(), JvmtiError> {
        stack.clear();
        stack
            .try_reserve(capacity)
            .map_err(|_| JvmtiError::OUT_OF_MEMORY)?;
        let depth = i32::try_from(capacity).map_err(|_| JvmtiError::INTERNAL)?;
        let mut count: i32 = 0;
        // SAFETY: a live reference or null; `stack` has capacity for `depth`
        // frames, which are laid out as StackFrame, as checked above. On success the first `count`
        // are written.
        unsafe {
            call!(
                self,
                GET_STACK_TRACE(thread, 0, depth, stack.as_mut_ptr().cast(), &mut count)
            )?;
            stack.set_len(usize::try_from(count).unwrap_or(0).min(capacity));
        }
        Ok(())
    }
}

/// Copies `count` frames, except those without a method.
///
/// # Safety
/// `start` is null or holds `count` initialised frames.
unsafe fn frames(start: *const jvmtiFrameInfo, count: i32) -> Vec<StackFrame> {
    let count = usize::try_from(count).unwrap_or(0);
    if start.is_null() || count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    let infos = unsafe { std::slice::from_raw_parts(start, count) };
    infos
        .iter()
        .filter_map(|info| {
            let method = MethodId::from_raw(info.method)?;
            Some(StackFrame {
                method,
                location: info.location,
            })
        })
        .collect()
}
