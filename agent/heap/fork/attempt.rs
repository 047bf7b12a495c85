//! One attempt at a dump by a fork: what its preparation and its conversation with the child share.

use super::image::AnyImage;
use crate::heap::tried::Tried;
use crate::order::Order;
use format::ObjectSizes;
use jvm::env::Env;
use jvm::jni::Jni;
use std::cell::RefCell;

/// An attempt in progress, in its own local frame.
#[derive(Debug)]
pub(in crate::heap) struct Attempt<'f> {
    /// An environment that has no tags.
    pub(in crate::heap) env: &'f Env,
    /// The thread that makes the dump.
    pub(in crate::heap) jni: &'f Jni<'f>,
    /// What is made, and how.
    pub(in crate::heap) order: &'f Order<'f>,
    /// When the dump was begun.
    pub(in crate::heap) millis_since_epoch: u64,
    /// The costs and findings of this and earlier attempts.
    pub(in crate::heap) tried: &'f Tried,
    /// The image of an earlier attempt, if it is of use to this one.
    pub(in crate::heap) kept_image: &'f RefCell<Option<AnyImage>>,
    /// Whether the child gets the whole heap, including the parts without objects.
    pub(in crate::heap) copies_all: bool,
    /// The sizes of objects; `None` if they could not be measured.
    pub(in crate::heap) sizes: Option<ObjectSizes>,
}
