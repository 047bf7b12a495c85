//! The snapshot engine for HotSpot: the process forks, the application runs on, and the copy is
//! read and written.
//!
//! In the parent, [`parent`] leads, [`attempt`] is shared with [`answers`], which converses with
//! the child, [`known_objects`] reads what the check needs,
//! [`not_copied`] shortens the pause, and [`forker`] forks in HotSpot's callback and notes the
//! roots. In the child, [`child`] leads, [`compiled_frames`] finds roots that HotSpot does not
//! report, [`standing_frames`] reads the frames of all threads, [`child_roots`] reports the roots
//! to the parent, [`child_file`] writes its part of the file, [`crew`] runs its threads, and the
//! `snapshot` crate reads the heap. They exchange a [`message`]; the last one is the
//! [result](message::Written) or the failure, of which [`childs_end`] makes the user's error.
//!
//! Unsafe code is in [`childs_memory`], [`descriptors`], [`own_thread`], [`process`] and
//! [`not_copied`], and where the child permits itself to read all memory.
#![allow(unsafe_code)]

mod attempt;
mod child;
mod child_file;
mod child_roots;
mod childs_end;
mod childs_memory;
mod compiled_frames;
mod conversation;
mod crew;
mod descriptors;
mod forker;
mod image;
mod known_objects;
mod message;
mod not_copied;
mod own_thread;
mod pace;
mod parent;
mod process;
mod rounds;
mod rounds_image;
mod shared_image;
mod shared_rounds;
mod silence;
mod standing_frames;
mod stillness;
mod virtual_thread_fields;

pub(super) use attempt::Attempt;
pub(super) use parent::never_copied;
pub(super) use process::{Child, Ending};
pub(super) use stillness::MOVING;
