//! One count of the heap's classes, in a forked copy: nothing is written, and nothing else is
//! tried.

use super::dump::{by_fork, take_turn, Alone};
use super::error::DumpError;
use super::tried::Tried;
use crate::order::Order;
use format::CountedClass;
use jvm::env::Vm;
use jvm::jni::Jni;
use options::{Options, Product};
use std::time::Duration;

/// What was counted.
#[derive(Debug)]
pub(crate) struct Counts {
    /// The classes with the objects that something refers to.
    pub(crate) classes: Vec<CountedClass>,
    /// Bytes of heap in use; `None` if the JVM does not report them.
    pub(crate) used: Option<u64>,
    /// How long the application paused.
    pub(crate) pause: Duration,
}

/// Counts. The error is the reason why it could not, as the end of a sentence.
///
/// Runs on any thread attached to the JVM, in the live phase, while no dump is made.
pub(crate) fn count(vm: Vm, jni: &mut Jni<'_>, options: &Options) -> Result<Counts, String> {
    let _alone = Alone::begin();
    let mut last_child = take_turn()?;
    let order = Order {
        product: Product::Counts,
        ..Order::of(options)
    };
    let tried = Tried::default();
    let counted = by_fork(vm, jni, &order, &tried, |attempt| attempt.count());
    let (classes, child) = counted.map_err(|error| match error {
        DumpError::Engine(why) => format!("{why}, and only a forked copy can be counted"),
        DumpError::NoCopy(why) => format!("{why}; the application ran on"),
        other => other.to_string(),
    })?;
    *last_child = child.end_alone();
    Ok(Counts {
        classes,
        used: tried.used_bytes.get(),
        pause: tried.paused.get(),
    })
}
