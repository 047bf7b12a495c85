//! Stacks as rows of traces, which all profiles name, and the classes of their methods.

pub(crate) mod known_classes;
pub(crate) mod stack_addresses;
mod stack_traces;

pub(crate) use stack_traces::{NamedFrame, StackTraces, TopMethod};
