//! The command, as a user runs it: one program of tests, so that it is linked once.

mod classes;
mod command;
mod convert;
mod diff;
mod every_command;
mod export;
mod graph;
mod hostile;
mod mcp;
mod pprof;
mod profiles;
mod redact;
mod report;
mod several_dumps;
mod signals;
mod text;
mod view;
