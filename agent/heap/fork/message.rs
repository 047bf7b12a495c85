//! Messages between child and parent, over a pair of sockets: numbers and a few texts.

use crate::heap::error::{Again, DumpError};
use format::{AreaKind, ClassUnits, MemoryArea};
use snapshot::encode::Encoded;
use std::io::{self, Read, Write};
use tables::{ClassId, ThreadId, TraceId};

/// A frame that the root walk saw: depth from the top, the method's id, the word at the address
/// that the id is (0 if it is no address), and the location if it was reported.
pub(super) type FrameNote = (u32, u64, u64, Option<i64>);

/// A thread as the child saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadNoteMessage {
    /// Its row in the object table.
    pub(super) object: u32,
    /// Its name from the heap, in modified UTF-8; empty if the parent has a better source.
    pub(super) name: Vec<u8>,
    /// Frames with references.
    pub(super) frames: Vec<FrameNote>,
}

/// A method that runs in some frame, as the child read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MethodMessage {
    /// Its class.
    pub(super) class: ClassId,
    /// Its name, in modified UTF-8.
    pub(super) name: Vec<u8>,
    /// Its signature.
    pub(super) signature: Vec<u8>,
}

/// A thread's frames, as the child read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StackMessage {
    /// The thread's row in the object table.
    pub(super) object: u32,
    /// From the top: the method's number, if it is known, and the bytecode.
    pub(super) frames: Vec<(Option<u32>, i64)>,
    /// Whether these are all frames.
    pub(super) is_whole: bool,
}

/// The frames of all threads that the child could read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FramesMessage {
    /// The methods, by their numbers.
    pub(super) methods: Vec<MethodMessage>,
    /// The stacks.
    pub(super) stacks: Vec<StackMessage>,
}

/// A message from the child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FromChild {
    /// The child knows this JVM's object layout, so later failures have other causes.
    Calibrated,
    /// The child begins to read compiled frames, until it sends something else.
    ReadsFrames,
    /// The roots are known: the addresses of all rows of the object table, and the threads.
    Roots {
        /// In the order of the object table.
        addresses: Vec<u64>,
        /// In the order in which the walk reported them.
        threads: Vec<ThreadNoteMessage>,
        /// The frames that the child has read.
        frames: FramesMessage,
        /// How many objects are marked; 0 where nobody has to know.
        objects: u64,
        /// Sizes of each class's objects; empty if the JVM does not reveal them.
        sizes: Vec<(ClassId, ClassUnits)>,
        /// Areas of the JVM's memory, for a graph.
        areas: Vec<MemoryArea>,
    },
    /// The child makes progress.
    Progress {
        /// Bytes written.
        bytes: u64,
        /// Objects reached.
        objects: u64,
        /// Bytes of heap encoded.
        heap_bytes: u64,
    },
    /// The dump is written.
    Done(Written),
    /// The child cannot go on.
    Failed(DumpError),
}

/// The result of the child.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Bytes after the head.
    pub(super) bytes: u64,
    /// Counts of objects.
    pub(super) encoded: Encoded,
    /// Stacks that could not be read to the end.
    pub(super) unread_stacks: u64,
    /// The stream of counts, if nothing was written.
    pub(super) counts: Vec<u8>,
}

/// The parent's answer to [`FromChild::Roots`], for each thread: its number, its trace, the number
/// of the trace's frames, and the depths of the reported frames that belong to Java methods.
pub(super) type ThreadIds = Vec<(ThreadId, TraceId, usize, Vec<u32>)>;

/// The first byte of a message.
mod kind {
    pub(super) const CALIBRATED: u8 = 1;
    pub(super) const ROOTS: u8 = 2;
    pub(super) const IDS: u8 = 3;
    pub(super) const PROGRESS: u8 = 4;
    pub(super) const DONE: u8 = 5;
    pub(super) const UNKNOWN_CLASS: u8 = 6;
    pub(super) const UNLINKED: u8 = 7;
    pub(super) const STUCK: u8 = 8;
    pub(super) const MOVING: u8 = 9;
    pub(super) const DAMAGED: u8 = 10;
    pub(super) const REFUSED: u8 = 11;
    pub(super) const LOST: u8 = 12;
    pub(super) const LITTLE_MEMORY: u8 = 13;
    pub(super) const NOT_WRITTEN: u8 = 14;
    pub(super) const OOP_MAPS: u8 = 15;
    pub(super) const READS_FRAMES: u8 = 16;
}

/// Longest message, in bytes: far more than the addresses of all classes and the frames of all
/// threads need.
const MOST_BYTES: u64 = 1 << 32;

impl FromChild {
    /// Sends the message.
    pub(super) fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let mut body = Vec::new();
        let kind = match self {
            Self::Calibrated => kind::CALIBRATED,
            Self::ReadsFrames => kind::READS_FRAMES,
            Self::Roots {
                addresses,
                threads,
                frames,
                objects,
                sizes,
                areas,
            } => {
                put_all(&mut body, addresses, |body, &address| put(body, address));
                put_all(&mut body, threads, put_thread);
                put_all(&mut body, &frames.methods, put_method);
                put_all(&mut body, &frames.stacks, put_stack);
                put(&mut body, *objects);
                put_all(&mut body, sizes, |body, (class, units)| {
                    put(body, u64::from(class.get()));
                    put(body, u64::from(units.instance));
                    put(body, u64::from(units.object));
                });
                put_all(&mut body, areas, |body, area| {
                    put(body, area.kind.code());
                    put(body, area.range.start);
                    put(body, area.range.end);
                });
                kind::ROOTS
            }
            Self::Progress {
                bytes,
                objects,
                heap_bytes,
            } => {
                put(&mut body, *bytes);
                put(&mut body, *objects);
                put(&mut body, *heap_bytes);
                kind::PROGRESS
            }
            Self::Done(written) => {
                put(&mut body, written.bytes);
                put(&mut body, written.encoded.objects);
                put(&mut body, written.encoded.cut_arrays);
                put(&mut body, written.unread_stacks);
                put_bytes(&mut body, &written.counts);
                kind::DONE
            }
            Self::Failed(failed) => put_failed(&mut body, failed),
        };
        send(to, kind, &body)
    }

    /// Waits for a message.
    pub(super) fn receive(from: &mut impl Read) -> io::Result<Self> {
        let (kind, body) = receive(from)?;
        let mut body = body.as_slice();
        let body = &mut body;
        let message = match kind {
            kind::ROOTS => Self::Roots {
                addresses: take_all(body, take)?,
                threads: take_all(body, take_thread)?,
                frames: FramesMessage {
                    methods: take_all(body, take_method)?,
                    stacks: take_all(body, take_stack)?,
                },
                objects: take(body)?,
                sizes: take_all(body, take_units)?,
                areas: take_all(body, take_area)?,
            },
            kind::PROGRESS => Self::Progress {
                bytes: take(body)?,
                objects: take(body)?,
                heap_bytes: take(body)?,
            },
            kind::DONE => Self::Done(Written {
                bytes: take(body)?,
                encoded: Encoded {
                    objects: take(body)?,
                    cut_arrays: take(body)?,
                },
                unread_stacks: take(body)?,
                counts: take_bytes(body)?,
            }),
            kind::CALIBRATED => Self::Calibrated,
            kind::READS_FRAMES => Self::ReadsFrames,
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
    send(to, kind::IDS, &body)
}

/// Waits for the parent's answer; an error if the parent ends instead.
pub(super) fn receive_ids(from: &mut impl Read) -> io::Result<ThreadIds> {
    let (kind, body) = receive(from)?;
    if kind != kind::IDS {
        return Err(broken());
    }
    let mut body = body.as_slice();
    take_all(&mut body, |body| {
        let thread = ThreadId::new(take_u32(body)?).ok_or_else(broken)?;
        let trace = TraceId::new(take_u32(body)?).ok_or_else(broken)?;
        let depth_frames = usize::try_from(take(body)?).map_err(|_| broken())?;
        Ok((thread, trace, depth_frames, take_all(body, take_u32)?))
    })
}

fn put_failed(body: &mut Vec<u8>, why: &DumpError) -> u8 {
    let (kind, text) = match why {
        DumpError::Again(Again::UnknownClass) => return kind::UNKNOWN_CLASS,
        DumpError::Again(Again::Stuck) => return kind::STUCK,
        DumpError::Again(Again::Moving) => return kind::MOVING,
        DumpError::Again(Again::OopMaps) => return kind::OOP_MAPS,
        DumpError::Again(Again::Unlinked(classes)) => {
            put_all(body, classes, |body, class| {
                put(body, u64::from(class.get()))
            });
            return kind::UNLINKED;
        }
        DumpError::LittleMemory { left_bytes } => {
            put(body, *left_bytes);
            return kind::LITTLE_MEMORY;
        }
        DumpError::Damaged(what) => (kind::DAMAGED, what),
        DumpError::Engine(why) => (kind::REFUSED, why),
        DumpError::NoCopy(why) => (kind::LOST, why),
        error => (kind::NOT_WRITTEN, &error.to_string()),
    };
    put_bytes(body, text.as_bytes());
    kind
}

fn take_failed(kind: u8, body: &mut &[u8]) -> io::Result<DumpError> {
    let text = |body: &mut &[u8]| {
        Ok::<_, io::Error>(String::from_utf8_lossy(&take_bytes(body)?).into_owned())
    };
    Ok(match kind {
        kind::UNKNOWN_CLASS => Again::UnknownClass.into(),
        kind::STUCK => Again::Stuck.into(),
        kind::MOVING => Again::Moving.into(),
        kind::OOP_MAPS => Again::OopMaps.into(),
        kind::UNLINKED => Again::Unlinked(take_all(body, |body| {
            ClassId::new(take_u32(body)?).ok_or_else(broken)
        })?)
        .into(),
        kind::LITTLE_MEMORY => DumpError::LittleMemory {
            left_bytes: take(body)?,
        },
        kind::DAMAGED => DumpError::Damaged(text(body)?),
        kind::REFUSED => DumpError::Engine(text(body)?),
        kind::LOST => DumpError::NoCopy(text(body)?),
        kind::NOT_WRITTEN => DumpError::Child(text(body)?),
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

fn put_method(body: &mut Vec<u8>, method: &MethodMessage) {
    put(body, u64::from(method.class.get()));
    put_bytes(body, &method.name);
    put_bytes(body, &method.signature);
}

fn take_method(body: &mut &[u8]) -> io::Result<MethodMessage> {
    Ok(MethodMessage {
        class: ClassId::new(take_u32(body)?).ok_or_else(broken)?,
        name: take_bytes(body)?,
        signature: take_bytes(body)?,
    })
}

fn put_stack(body: &mut Vec<u8>, stack: &StackMessage) {
    put(body, u64::from(stack.object));
    put_all(body, &stack.frames, |body, &(method, bytecode)| {
        put(body, method.map_or(0, |method| u64::from(method) + 1));
        body.extend_from_slice(&bytecode.to_le_bytes());
    });
    put(body, u64::from(stack.is_whole));
}

fn take_stack(body: &mut &[u8]) -> io::Result<StackMessage> {
    Ok(StackMessage {
        object: take_u32(body)?,
        frames: take_all(body, |body| {
            let method = take(body)?.checked_sub(1).map(u32::try_from);
            let method = method.transpose().map_err(|_| broken())?;
            Ok((method, i64::from_le_bytes(take(body)?.to_le_bytes())))
        })?,
        is_whole: take(body)? != 0,
    })
}

fn take_units(body: &mut &[u8]) -> io::Result<(ClassId, ClassUnits)> {
    let class = ClassId::new(take_u32(body)?).ok_or_else(broken)?;
    let (instance, object) = (take_u32(body)?, take_u32(body)?);
    Ok((class, ClassUnits { instance, object }))
}

fn take_area(body: &mut &[u8]) -> io::Result<MemoryArea> {
    Ok(MemoryArea {
        kind: AreaKind::from_code(take(body)?).ok_or_else(broken)?,
        range: take(body)?..take(body)?,
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
    // Grows as data arrive, so that a corrupt length does not allocate memory.
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

    fn frames(class: ClassId) -> FramesMessage {
        FramesMessage {
            methods: vec![MethodMessage {
                class,
                name: b"run".to_vec(),
                signature: b"()V".to_vec(),
            }],
            stacks: vec![StackMessage {
                object: 3,
                frames: vec![(Some(0), 5), (None, -1)],
                is_whole: true,
            }],
        }
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
                frames: frames(class),
                objects: 5,
                sizes: vec![(
                    class,
                    ClassUnits {
                        instance: 3,
                        object: 14,
                    },
                )],
                areas: vec![MemoryArea {
                    kind: AreaKind::Stack,
                    range: 8..16,
                }],
            },
            FromChild::Progress {
                bytes: 1,
                objects: 2,
                heap_bytes: 3,
            },
            FromChild::Done(Written {
                bytes: 1,
                encoded: Encoded {
                    objects: 2,
                    cut_arrays: 3,
                },
                unread_stacks: 6,
                counts: vec![4, 5],
            }),
            FromChild::Failed(Again::UnknownClass.into()),
            FromChild::Failed(Again::Stuck.into()),
            FromChild::Failed(Again::Moving.into()),
            FromChild::Failed(Again::OopMaps.into()),
            FromChild::Failed(Again::Unlinked(vec![class, class]).into()),
            FromChild::Failed(DumpError::Damaged("what".to_owned())),
            FromChild::Failed(DumpError::Engine("why".to_owned())),
            FromChild::Failed(DumpError::NoCopy("why".to_owned())),
            FromChild::Failed(DumpError::LittleMemory { left_bytes: 9 }),
            FromChild::Failed(DumpError::Child("disk full".to_owned())),
            FromChild::Calibrated,
            FromChild::ReadsFrames,
        ] {
            assert_eq!(back(&message), message);
        }
        let (thread, trace) = (ThreadId::new(1), TraceId::new(2));
        let ids = vec![(thread.expect("not 0"), trace.expect("not 0"), 3, vec![0, 2])];
        let mut bytes = Vec::new();
        send_ids(&ids, &mut bytes).expect("memory");
        assert_eq!(receive_ids(&mut bytes.as_slice()).expect("whole"), ids);
    }

    #[test]
    fn a_message_that_is_too_long_is_refused_before_it_is_read() {
        let head = |bytes: u64| [&[kind::ROOTS][..], &bytes.to_le_bytes()].concat();
        let answer = |bytes| {
            let answer = FromChild::receive(&mut head(bytes).as_slice());
            answer.expect_err("no message").kind()
        };
        assert_eq!(answer(MOST_BYTES + 1), io::ErrorKind::InvalidData);
        assert_eq!(answer(u64::MAX), io::ErrorKind::InvalidData);
        // A message of this length is allowed, so the receiver waits for it, but the sender is
        // gone.
        assert_eq!(answer(MOST_BYTES), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_message_of_an_unknown_kind_is_refused() {
        for kind in [0, 200] {
            let mut bytes = Vec::new();
            send(&mut bytes, kind, &[]).expect("memory");
            let answer = FromChild::receive(&mut bytes.as_slice());
            assert_eq!(
                answer.expect_err("no message").kind(),
                io::ErrorKind::InvalidData
            );
            let answer = receive_ids(&mut bytes.as_slice());
            assert_eq!(
                answer.expect_err("no message").kind(),
                io::ErrorKind::InvalidData
            );
        }
    }

    proptest! {
        #[test]
        fn nonsense_does_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = FromChild::receive(&mut bytes.as_slice());
            let _ = receive_ids(&mut bytes.as_slice());
        }

        #[test]
        fn a_cut_message_is_an_error(cut in 0_usize..60) {
            let message = FromChild::Roots { addresses: vec![1, 2, 3], threads: Vec::new(), frames: FramesMessage::default(), objects: 0, sizes: Vec::new(), areas: Vec::new() };
            let mut bytes = Vec::new();
            message.send(&mut bytes).expect("memory");
            bytes.truncate(cut.min(bytes.len() - 1));
            prop_assert!(FromChild::receive(&mut bytes.as_slice()).is_err());
        }
    }
}
