//! The specification: JVMTI and JNI behind a fence of safe Rust, and in [`os`] what the operating
//! system offers beside `std`.
//!
//! One file for each chapter of the JVMTI specification. What no specification promises is in the
//! crate `hotspot`. Above these two crates the agent is safe Rust, except for its entry and the
//! fork: it sees values, slices, and handles that cannot outlive their local frame. The fence
//! passes the JVM's events to a [`listener`]. No panic passes from here into the JVM: the places
//! where the JVM calls us, `trampoline`, [`tracker`], [`heap`] and [`agent_thread`], each catch
//! panics, as the agent's entry does.
#![allow(unsafe_code)]

pub mod agent_thread;
pub mod allocation;
pub mod capability;
pub mod class;
pub mod class_hook;
pub mod class_loader;
mod collection;
pub mod env;
pub mod error;
pub mod event;
pub mod field;
pub mod global;
pub mod heap;
pub mod heap_room;
pub mod heap_use;
pub mod java_version;
pub mod jni;
pub mod last_hook;
pub mod listener;
mod memory;
pub mod method;
pub mod monitor;
pub mod new_object;
pub mod object;
pub mod os;
mod slot;
pub mod stack;
mod system_property;
pub mod tag;
pub mod thread;
pub mod tracker;
mod trampoline;
pub mod weak;
