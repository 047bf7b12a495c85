//! Tells who waits for a dump how far it is, because what threads hold in their frames is safe
//! before the file is written.

use std::cell::RefCell;

/// How far a dump is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// No other dump is in its way any more.
    Begins,
    /// It has all that it needs of the application's threads, and is not begun anew.
    Copied,
}

/// The receiver of the steps.
type Listener = Box<dyn Fn(Step)>;

thread_local! {
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

/// While `body` runs, `listener` is called with the steps of the dumps that this thread makes.
pub(crate) fn listening(listener: impl Fn(Step) + 'static, body: impl FnOnce()) {
    LISTENER.set(Some(Box::new(listener)));
    body();
    LISTENER.set(None);
}

/// Whether somebody waits for the dump that this thread makes.
pub(crate) fn is_awaited() -> bool {
    LISTENER.with_borrow(Option::is_some)
}

/// The dump that this thread makes has come to this step. It may be called more than once for a
/// step.
pub(crate) fn tell(step: Step) {
    LISTENER.with_borrow(|listener| {
        if let Some(listener) = listener {
            listener(step);
        }
    });
}
