//! A running JVM: finds it, loads the agent, asks, and receives the reply.

pub(crate) mod agent_request;
pub(crate) mod agent_stream;
pub(crate) mod answer_file;
pub(crate) mod attach_switch;
pub(crate) mod dump_place;
pub(crate) mod dump_stream;
pub(crate) mod hotspot_dump;
pub(crate) mod library;
pub(crate) mod live;
pub(crate) mod memory_watch;
pub(crate) mod protocol;
