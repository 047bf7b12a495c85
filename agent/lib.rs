//! The agent: what a JVM loads with `-agentpath:libhprof_rs.so=heap=dump,file=out.hprof`.
//!
//! The JVM enters through `Agent_OnLoad`, `Agent_OnAttach` and `Agent_OnUnload` in [`jvmti`], the fence
//! around all that the compiler cannot check. Those hand over to [`session`], which parses [`options`], switches the
//! [`events`] on and asks [`heap`] for dumps and [`profile`] for reports.
//!
//! Data path: JVM event → `jvmti::trampoline` → [`gate`] → `events` → `tables`;
//! dump request → [`dump_queue`] → `heap::dump` → catalogue → walk → `writer`.

mod class_gate;
mod dump_queue;
mod ending;
mod events;
mod file_name;
mod gate;
mod heap;
mod hotspot;
mod jvmti;
mod message;
mod method_facts;
mod net;
mod options;
mod os;
mod profile;
mod sampler;
mod session;
