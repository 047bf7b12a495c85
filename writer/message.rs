//! What the writer thread is sent.

use crossbeam_channel::Sender;

use crate::{Tail, WriteError};

/// A message to the writer thread.
pub(crate) enum Message {
    Head(Vec<u8>),
    Objects(Vec<u8>),
    Flush(Reply<()>),
    Tail(Reply<Tail>),
    Finish,
    FinishWithTail(u64),
    Abandon,
}

/// Where the writer thread sends its answer.
pub(crate) type Reply<T> = Sender<Result<T, WriteError>>;
