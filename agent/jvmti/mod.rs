//! The fence: all code of the agent that touches the JVM's memory or calls its functions.
//!
//! One file for each chapter of the JVMTI specification. What no specification promises is in [`crate::hotspot`]. Above
//! this folder the agent is safe Rust: it sees values, slices, and handles that cannot outlive their local frame. The
//! fence imports nothing from above: it passes the JVM's events to a [`listener`]. No panic passes from here into the
//! JVM: the places where the JVM calls us, [`trampoline`], [`tracker`], [`heap`] and [`agent_thread`], each catch
//! panics, as `entry` does.
#![allow(unsafe_code)]

pub(crate) mod agent_thread;
pub(crate) mod allocation;
pub(crate) mod capability;
pub(crate) mod class;
pub(crate) mod class_hook;
pub(crate) mod class_loader;
mod collection;
pub(crate) mod env;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod field;
pub(crate) mod global;
pub(crate) mod heap;
pub(crate) mod heap_use;
pub(crate) mod jni;
pub(crate) mod last_hook;
pub(crate) mod listener;
mod memory;
pub(crate) mod method;
pub(crate) mod monitor;
pub(crate) mod new_object;
pub(crate) mod object;
mod slot;
pub(crate) mod stack;
mod system_property;
pub(crate) mod tag;
pub(crate) mod thread;
pub(crate) mod tracker;
mod trampoline;
pub(crate) mod weak;
