//! What child and parent tell each other, over a pair of sockets: numbers and a few texts.

use snapshot::Failure;
use std::io::{self, Read, Write};
use tables::{ClassId, ThreadId, TraceId};

/// A frame that the walk over the roots saw: depth from the top, the method's id, the word that the id is the address
/// of (0 if it is none), and the location where it is told.
pub(super) type FrameNote = (u32, u64, u64, Option<i64>);

/// A thread as the child saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadNoteMessage {
    /// Its row in the object table.
    pub(super) object: u32,
    /// Its name, read from the heap, in modified UTF-8; empty if the parent knows it better.
    pub(super) name: Vec<u8>,
    /// Frames that hold something.
    pub(super) frames: Vec<FrameNote>,
}

/// What the child says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FromChild {
    /// It knows how this JVM lays objects out: what goes wrong from now on is not for want of that.
    Calibrated,
    /// The roots are known: the addresses of all rows of the object table, the threads.
    Roots {
        /// In the order of the table.
        addresses: Vec<u64>,
        /// In the order in which they were met.
        threads: Vec<ThreadNoteMessage>,
    },
    /// It goes on.
    Progress {
        /// Bytes written.
        bytes: u64,
        /// Objects that were reached.
        objects: u64,
        /// Bytes of heap that were encoded.
        heap_bytes: u64,
    },
    /// All is written.
    Done {
        /// Bytes that the child wrote.
        bytes: u64,
        /// Objects, mirrors included.
        objects: u64,
        /// Arrays that were cut.
        cut_arrays: u64,
    },
    /// It cannot go on.
    Failed(Failed),
}

/// A [`Failure`] on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// A class was loaded, or the first virtual thread made, after the catalogue.
    UnknownClass,
    /// HotSpot waits for a lock.
    Stuck,
    /// Classes with instances are not linked.
    Unlinked(Vec<ClassId>),
    /// The file cannot be written: no engine could.
    Write(String),
    /// Too little memory is left.
    LittleMemory(u64),
    /// The collector is moving objects.
    Moving,
    /// This heap cannot be read from a copy; why.
    Refused(String),
    /// This copy cannot go on; why.
    Lost(String),
    /// The heap holds what no sound heap holds; what.
    Damaged(String),
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        let lost = |why: &str| Self::Lost(format!("the forked copy {why}"));
        match failure {
            Failure::Unexplained(check) => {
                Self::Refused(format!("its check of this JVM failed: {check}"))
            }
            Failure::UnknownClass | Failure::FirstVirtualThread => Self::UnknownClass,
            Failure::Stuck => Self::Stuck,
            Failure::Unlinked(classes) => Self::Unlinked(classes),
            Failure::NoClass(object) => {
                Self::Damaged(format!("the object at {object:#x} tells of no class"))
            }
            Failure::LeftOut(object) => Self::Damaged(format!(
                "the object at {object:#x} reaches into unused memory"
            )),
            Failure::NoMirror => Self::Refused("an object's class was never loaded".to_owned()),
            Failure::Moving => Self::Moving,
            Failure::OutsideOfHeap(address) => Self::Damaged(format!(
                "a reference leads out of the heap, to {address:#x}"
            )),
            Failure::TooLong(array) => {
                Self::Damaged(format!("the array at {array:#x} is longer than the heap"))
            }
            Failure::Write(error) => Self::Write(error.to_string()),
            Failure::LittleMemory { left_bytes } => Self::LittleMemory(left_bytes),
            Failure::NoThread(why) => lost(&format!("could not start a thread: {why}")),
            Failure::NoMemory => lost("had no memory for its marks"),
            Failure::NoFrames => {
                Self::Refused("the frames of a virtual thread were not told".to_owned())
            }
            Failure::Fault => lost("had a fault of its own"),
            Failure::NoAnswer => lost("got no answer from the application's process"),
        }
    }
}

/// What the parent answers to [`FromChild::Roots`]: thread, trace, how many frames that has, and the depths of the frames told that
/// are not of native methods, of each thread.
pub(super) type ThreadIds = Vec<(ThreadId, TraceId, usize, Vec<u32>)>;

/// Longest message: far more than the addresses of all classes and the frames of all threads.
const MOST_BYTES: u64 = 1 << 32;

impl FromChild {
    /// Sends it.
    pub(super) fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let mut body = Vec::new();
        let kind = match self {
            Self::Calibrated => 9,
            Self::Roots { addresses, threads } => {
                put_all(&mut body, addresses, |body, &address| put(body, address));
                put_all(&mut body, threads, put_thread);
                1
            }
            Self::Progress {
                bytes,
                objects,
                heap_bytes,
            } => {
                put(&mut body, *bytes);
                put(&mut body, *objects);
                put(&mut body, *heap_bytes);
                2
            }
            Self::Done {
                bytes,
                objects,
                cut_arrays,
            } => {
                put(&mut body, *bytes);
                put(&mut body, *objects);
                put(&mut body, *cut_arrays);
                3
            }
            Self::Failed(failed) => put_failed(&mut body, failed),
        };
        send(to, kind, &body)
    }

    /// Waits for one.
    pub(super) fn receive(from: &mut impl Read) -> io::Result<Self> {
        let (kind, body) = receive(from)?;
        let mut body = body.as_slice();
        let body = &mut body;
        let message = match kind {
            1 => Self::Roots {
                addresses: take_all(body, take)?,
                threads: take_all(body, take_thread)?,
            },
            2 => Self::Progress {
                bytes: take(body)?,
                objects: take(body)?,
                heap_bytes: take(body)?,
            },
            3 => Self::Done {
                bytes: take(body)?,
                objects: take(body)?,
                cut_arrays: take(body)?,
            },
            9 => Self::Calibrated,
            kind => Self::Failed(take_failed(kind, body)?),
        };
        Ok(message)
    }
}

/// Sends the parent's answer.
pub(super) fn send_ids(
    ids: &[(ThreadId, TraceId, usize, Vec<u32>)],
    to: &mut impl Write,
) -> io::Result<()> {
    let mut body = Vec::new();
    put_all(
        &mut body,
        ids,
        |body, (thread, trace, depth_frames, java_frames)| {
            put(body, u64::from(thread.get()));
            put(body, u64::from(trace.get()));
            put(body, *depth_frames as u64);
            put_all(body, java_frames, |body, &depth| {
                put(body, u64::from(depth))
            });
        },
    );
    send(to, 1, &body)
}

/// Waits for the parent's answer; an error if it ends instead.
pub(super) fn receive_ids(from: &mut impl Read) -> io::Result<ThreadIds> {
    let (_, body) = receive(from)?;
    let mut body = body.as_slice();
    take_all(&mut body, |body| {
        let thread = ThreadId::new(take_u32(body)?).ok_or_else(broken)?;
        let trace = TraceId::new(take_u32(body)?).ok_or_else(broken)?;
        let depth_frames = usize::try_from(take(body)?).map_err(|_| broken())?;
        Ok((thread, trace, depth_frames, take_all(body, take_u32)?))
    })
}

fn put_failed(body: &mut Vec<u8>, failed: &Failed) -> u8 {
    match failed {
        Failed::UnknownClass => 4,
        Failed::Stuck => 11,
        Failed::Unlinked(classes) => {
            put_all(body, classes, |body, class| {
                put(body, u64::from(class.get()))
            });
            5
        }
        Failed::Write(why) => {
            put_bytes(body, why.as_bytes());
            6
        }
        Failed::LittleMemory(left_bytes) => {
            put(body, *left_bytes);
            7
        }
        Failed::Refused(why) => {
            put_bytes(body, why.as_bytes());
            8
        }
        Failed::Damaged(what) => {
            put_bytes(body, what.as_bytes());
            10
        }
        Failed::Moving => 12,
        Failed::Lost(why) => {
            put_bytes(body, why.as_bytes());
            13
        }
    }
}

fn take_failed(kind: u8, body: &mut &[u8]) -> io::Result<Failed> {
    let text = |body: &mut &[u8]| {
        Ok::<_, io::Error>(String::from_utf8_lossy(&take_bytes(body)?).into_owned())
    };
    Ok(match kind {
        4 => Failed::UnknownClass,
        11 => Failed::Stuck,
        5 => Failed::Unlinked(take_all(body, |body| {
            ClassId::new(take_u32(body)?).ok_or_else(broken)
        })?),
        6 => Failed::Write(text(body)?),
        7 => Failed::LittleMemory(take(body)?),
        8 => Failed::Refused(text(body)?),
        10 => Failed::Damaged(text(body)?),
        12 => Failed::Moving,
        13 => Failed::Lost(text(body)?),
        _ => return Err(broken()),
    })
}

fn put_thread(body: &mut Vec<u8>, thread: &ThreadNoteMessage) {
    put(body, u64::from(thread.object));
    put_bytes(body, &thread.name);
    put_all(
        body,
        &thread.frames,
        |body, &(depth, method, word, location)| {
            put(body, u64::from(depth));
            put(body, method);
            put(body, word);
            put(body, u64::from(location.is_some()));
            body.extend_from_slice(&location.unwrap_or(0).to_le_bytes());
        },
    );
}

fn take_thread(body: &mut &[u8]) -> io::Result<ThreadNoteMessage> {
    Ok(ThreadNoteMessage {
        object: take_u32(body)?,
        name: take_bytes(body)?,
        frames: take_all(body, |body| {
            let (depth, method, word) = (take_u32(body)?, take(body)?, take(body)?);
            let told = take(body)? != 0;
            let location = i64::from_le_bytes(take(body)?.to_le_bytes());
            Ok((depth, method, word, told.then_some(location)))
        })?,
    })
}

fn send(to: &mut impl Write, kind: u8, body: &[u8]) -> io::Result<()> {
    let mut message = vec![kind];
    put_bytes(&mut message, body);
    to.write_all(&message)
}

fn receive(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 9];
    from.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    let length = u64::from_le_bytes(length);
    if length > MOST_BYTES {
        return Err(broken());
    }
    let mut body = Vec::new();
    // As it comes: a broken length must not take memory.
    from.take(length).read_to_end(&mut body)?;
    if body.len() as u64 == length {
        Ok((kind, body))
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

fn put(body: &mut Vec<u8>, number: u64) {
    body.extend_from_slice(&number.to_le_bytes());
}

fn put_bytes(body: &mut Vec<u8>, bytes: &[u8]) {
    put(body, bytes.len() as u64);
    body.extend_from_slice(bytes);
}

fn put_all<T>(body: &mut Vec<u8>, items: &[T], put_one: impl Fn(&mut Vec<u8>, &T)) {
    put(body, items.len() as u64);
    for item in items {
        put_one(body, item);
    }
}

fn take(body: &mut &[u8]) -> io::Result<u64> {
    let (number, rest) = body.split_first_chunk().ok_or_else(broken)?;
    *body = rest;
    Ok(u64::from_le_bytes(*number))
}

fn take_u32(body: &mut &[u8]) -> io::Result<u32> {
    u32::try_from(take(body)?).map_err(|_| broken())
}

fn take_bytes(body: &mut &[u8]) -> io::Result<Vec<u8>> {
    let length = usize::try_from(take(body)?).map_err(|_| broken())?;
    let (bytes, rest) = body.split_at_checked(length).ok_or_else(broken)?;
    *body = rest;
    Ok(bytes.to_vec())
}

fn take_all<T>(
    body: &mut &[u8],
    take_one: impl Fn(&mut &[u8]) -> io::Result<T>,
) -> io::Result<Vec<T>> {
    let count = take(body)?;
    (0..count).map(|_| take_one(body)).collect()
}

fn broken() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn back(message: &FromChild) -> FromChild {
        let mut bytes = Vec::new();
        message.send(&mut bytes).expect("memory");
        FromChild::receive(&mut bytes.as_slice()).expect("whole")
    }

    #[test]
    fn what_is_sent_arrives() {
        let class = ClassId::new(7).expect("not 0");
        for message in [
            FromChild::Roots {
                addresses: vec![8, 16],
                threads: vec![ThreadNoteMessage {
                    object: 3,
                    name: b"main".to_vec(),
                    frames: vec![(0, 77, 1, Some(-1)), (4, 78, 0, None)],
                }],
            },
            FromChild::Progress {
                bytes: 1,
                objects: 2,
                heap_bytes: 3,
            },
            FromChild::Done {
                bytes: 1,
                objects: 2,
                cut_arrays: 3,
            },
            FromChild::Failed(Failed::UnknownClass),
            FromChild::Failed(Failed::Stuck),
            FromChild::Failed(Failed::Unlinked(vec![class, class])),
            FromChild::Failed(Failed::Write("disk full".to_owned())),
            FromChild::Failed(Failed::LittleMemory(9)),
            FromChild::Failed(Failed::Refused("why".to_owned())),
            FromChild::Failed(Failed::Lost("why".to_owned())),
            FromChild::Failed(Failed::Moving),
            FromChild::Failed(Failed::Damaged("what".to_owned())),
            FromChild::Calibrated,
        ] {
            assert_eq!(back(&message), message);
        }
        let (thread, trace) = (ThreadId::new(1), TraceId::new(2));
        let ids = vec![(thread.expect("not 0"), trace.expect("not 0"), 3, vec![0, 2])];
        let mut bytes = Vec::new();
        send_ids(&ids, &mut bytes).expect("memory");
        assert_eq!(receive_ids(&mut bytes.as_slice()).expect("whole"), ids);
    }

    proptest! {
        #[test]
        fn nonsense_is_an_error_and_not_a_fault(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = FromChild::receive(&mut bytes.as_slice());
            let _ = receive_ids(&mut bytes.as_slice());
        }

        #[test]
        fn a_cut_message_is_an_error(cut in 0_usize..60) {
            let message = FromChild::Roots { addresses: vec![1, 2, 3], threads: Vec::new() };
            let mut bytes = Vec::new();
            message.send(&mut bytes).expect("memory");
            bytes.truncate(cut.min(bytes.len() - 1));
            prop_assert!(FromChild::receive(&mut bytes.as_slice()).is_err());
        }
    }
}
