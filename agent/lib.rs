//! The agent: what a JVM loads with `-agentpath:libhprof_rs.so=heap=dump,file=out.hprof`.
//!
//! The JVM enters through [`entry`], which hands over to [`session`]: it parses [`options`], has [`jvmti`], the fence, call back, and asks
//! [`heap`] for dumps and [`profile`] for reports. What the JVM tells comes to [`events`], the first and last word to [`life_cycle`].
//!
//! Data path: JVM event → `jvmti::trampoline` → [`gate`] → [`events`] → [`profile`] → `tables`;
//! dump request → [`dump_queue`] → `heap` → `writer`.
//!
//! Imports point down: the files of this folder, then `net`, `heap`, `profile`, then `sampler`, `hotspot`, `jvmti`, `os`;
//! `tests/walls.rs` checks it.

mod agent_threads;
mod chance;
mod class_gate;
mod dump_queue;
mod ending;
mod entry;
mod events;
mod file_name;
mod gate;
mod heap;
mod hotspot;
mod jvmti;
mod life_cycle;
mod message;
mod method_facts;
mod net;
mod options;
mod os;
mod profile;
mod sampler;
mod session;
