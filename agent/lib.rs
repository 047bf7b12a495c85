//! The agent: the library that a JVM loads with
//! `-agentpath:libhprof_rs.so=heap=dump,file=out.hprof`.
//!
//! The JVM enters through [`entry`], which calls [`session`]. The session parses `options`,
//! registers callbacks through the fence `jvm`, and calls [`heap`] for dumps and [`profile`] for
//! reports. [`events`] handles the JVM's events, [`life_cycle`] its start and end.
//!
//! Data path: JVM event → `jvm` → [`gate`] → [`events`] → [`profile`] → `tables`; dump request →
//! [`dump_queue`] → `heap` → `writer`.
//!
//! Imports point down: the files of this folder, then `net`, `heap`, `profile`;
//! `tests/tidy/walls.rs` checks it.

mod agent_threads;
mod attached;
mod class_gate;
mod copied;
mod dump_queue;
mod ending;
mod entry;
mod events;
mod gate;
mod heap;
mod inherited;
mod java_errors;
mod life_cycle;
mod message;
mod method_facts;
mod net;
mod order;
mod other_switches;
mod profile;
mod receiver;
mod session;
mod thrown;
mod trigger;
