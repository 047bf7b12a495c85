//! The snapshot engine for HotSpot: the process forks, the application runs on, the copy is read and written.
//!
//! In the parent: [`snapshot_dump`] leads, [`answers`] talks with the child, [`kept_objects`] and [`known_objects`] are what the check needs, [`class_map`] and
//! [`mirror_fields`] describe classes, [`huge_pages`] and
//! [`unused_heap`] make the pause short, [`forker`] forks in HotSpot's callback and notes the roots. In the child:
//! [`child`] leads, [`calibration`] finds out how HotSpot lays objects out ([`coding`], [`object_layout`]),
//! [`class_dumps`] writes the classes, [`reach`] marks what can be reached ([`marks`], [`work`]), [`child_file`] writes it: [`large_arrays`]
//! meanwhile, the rest by [`encode`] ([`field_copy`], [`groups`]);
//! [`snapshot`] is what they share, [`memory`] what they read. Between them: [`message`],
//! [`failure`]. [`process`] is what concerns processes, [`fork_handlers`] what libraries do in a fork.
//!
//! Unsafe code is in [`careful_reads`], [`childs_memory`], [`fork_handlers`], [`huge_pages`], [`memory`], [`marks`], [`own_thread`], [`process`], [`room`] and [`unused_heap`], and where the
//! child gives itself leave to read.
#![allow(unsafe_code)]

mod answers;
mod calibration;
mod careful_reads;
mod child;
mod child_file;
mod childs_memory;
mod class_dumps;
mod class_facts;
mod class_map;
mod coding;
mod crew;
mod encode;
mod failure;
mod field_copy;
mod fork_handlers;
mod forker;
mod groups;
mod huge_pages;
#[cfg(test)]
mod invented_heap;
mod kept_objects;
mod known;
mod known_objects;
mod large_arrays;
mod marks;
mod memory;
mod message;
mod mirror_fields;
mod no_snapshot;
mod object_layout;
mod own_thread;
mod process;
mod reach;
mod room;
mod silence;
mod snapshot;
mod snapshot_dump;
mod thread_names;
mod unused_heap;
mod virtual_frames;
mod vm_structs;
mod work;

pub(super) use class_facts::{ClassFacts, FieldId, Slot};
pub(super) use coding::instance_offset;
pub(super) use kept_objects::{prepare, KeptObjects, AGENTS_TAG};
pub(super) use no_snapshot::NoSnapshot;
pub(super) use process::{Child, Ending};
pub(super) use snapshot_dump::{look_at_heap, SnapshotDump};
