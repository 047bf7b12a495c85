//! Stacks as rows of traces, which all profiles name, and the classes of their methods.

mod stack_traces;

pub(crate) use stack_traces::{NamedFrame, StackTraces};
