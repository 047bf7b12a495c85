//! Messages between child and parent, over a pair of sockets: numbers and a few texts.

use crate::heap::error::{Again, DumpError};
use format::{AreaKind, ClassUnits, MemoryArea};
use snapshot::encode::Encoded;
use std::io::{self, Read, Write};
use std::ops::Range;
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

/// The roots: the addresses of all rows of the object table, and the threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Roots {
    /// In the order of the object table.
    pub(super) addresses: Vec<u64>,
    /// In the order in which the walk reported them.
    pub(super) threads: Vec<ThreadNoteMessage>,
    /// The frames that the child has read.
    pub(super) frames: FramesMessage,
    /// How many objects are marked; 0 where nobody has to know.
    pub(super) objects: u64,
    /// Sizes of each class's objects; empty if the JVM does not reveal them.
    pub(super) sizes: Vec<(ClassId, ClassUnits)>,
    /// Areas of the JVM's memory, for a graph.
    pub(super) areas: Vec<MemoryArea>,
}

/// A message from the child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FromChild {
    /// The child knows this JVM's object layout, so later failures have other causes.
    Calibrated,
    /// The child begins to read compiled frames, until it sends something else.
    ReadsFrames,
    /// The roots are known.
    Roots(Roots),
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

/// Longest message, in bytes: far more than the addresses of all classes and the frames of all
/// threads need.
const MOST_BYTES: u64 = 1 << 32;

/// What a message is made of: numbers, texts, lists with their lengths first, values with their
/// fields one after the other, and variants with their number first.
pub(super) trait Sent: Sized {
    fn put(&self, body: &mut Vec<u8>);
    fn take(body: &mut &[u8]) -> io::Result<Self>;

    /// Sends it as a message: its length, then itself.
    fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let mut body = Vec::new();
        self.put(&mut body);
        let length = (body.len() as u64).to_le_bytes();
        to.write_all(&[&length[..], &body].concat())
    }

    /// Waits for a message; an error if the other side ends instead.
    fn receive(from: &mut impl Read) -> io::Result<Self> {
        let mut length = [0; 8];
        from.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > MOST_BYTES {
            return Err(broken());
        }
        // Grows as data arrive, so that a corrupt length does not allocate memory.
        let mut body = Vec::new();
        from.take(length).read_to_end(&mut body)?;
        if body.len() as u64 == length {
            Self::take(&mut body.as_slice())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

/// Types that are sent as another one: how to make that of a value, and the value of that.
macro_rules! sent_as {
    ($($type:ty, $other:ty: $to:expr, $from:expr;)*) => {$(
        impl Sent for $type {
            fn put(&self, body: &mut Vec<u8>) {
                let to: fn(&$type) -> $other = $to;
                to(self).put(body);
            }

            fn take(body: &mut &[u8]) -> io::Result<Self> {
                let from: fn($other) -> Option<$type> = $from;
                from(<$other>::take(body)?).ok_or_else(broken)
            }
        }
    )*};
}

sent_as! {
    u32, u64: |it| u64::from(*it), |it| it.try_into().ok();
    usize, u64: |it| *it as u64, |it| it.try_into().ok();
    i64, u64: |it| u64::from_ne_bytes(it.to_ne_bytes()), |it| Some(i64::from_ne_bytes(it.to_ne_bytes()));
    bool, u64: |it| u64::from(*it), |it| Some(it != 0);
    ClassId, u32: |it| it.get(), ClassId::new;
    ThreadId, u32: |it| it.get(), ThreadId::new;
    TraceId, u32: |it| it.get(), TraceId::new;
    AreaKind, u64: |it| it.code(), AreaKind::from_code;
    String, Vec<u8>: |it| it.clone().into(), |it| Some(String::from_utf8_lossy(&it).into_owned());
}

/// Types whose fields are sent one after the other.
macro_rules! sent_by_fields {
    ($($type:ty { $($field:tt),* })*) => {$(
        impl Sent for $type {
            fn put(&self, body: &mut Vec<u8>) {
                $(self.$field.put(body);)*
            }

            fn take(body: &mut &[u8]) -> io::Result<Self> {
                Ok(Self { $($field: Sent::take(body)?),* })
            }
        }
    )*};
}

sent_by_fields! {
    Roots { addresses, threads, frames, objects, sizes, areas }
    Written { bytes, encoded, unread_stacks, counts }
    Encoded { objects, cut_arrays }
    ClassUnits { instance, object }
    MemoryArea { kind, range }
    Range<u64> { start, end }
    FramesMessage { methods, stacks }
    ThreadNoteMessage { object, name, frames }
    MethodMessage { class, name, signature }
    StackMessage { object, frames, is_whole }
}

/// Enums that are sent as the number of a variant and what it holds; variants that are not listed,
/// as another value.
macro_rules! sent_by_variants {
    ($($type:ty {
        $($number:literal: $variant:ident $(($value:ident))? $({ $($field:ident),* })?,)*
        $(; $other:ident => $instead:expr)?
    })*) => {$(
        impl Sent for $type {
            fn put(&self, body: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($value))? $({ $($field),* })? => {
                        body.push($number);
                        $($value.put(body);)?
                        $($($field.put(body);)*)?
                    })*
                    $($other => Self::put(&$instead, body),)?
                }
            }

            fn take(body: &mut &[u8]) -> io::Result<Self> {
                Ok(match u8::take(body)? {
                    $($number => Self::$variant
                        $(({ let $value = Sent::take(body)?; $value }))?
                        $({ $($field: Sent::take(body)?),* })?,)*
                    _ => return Err(broken()),
                })
            }
        }
    )*};
}

sent_by_variants! {
    FromChild {
        1: Calibrated,
        2: ReadsFrames,
        3: Roots(roots),
        4: Progress { bytes, objects, heap_bytes },
        5: Done(written),
        6: Failed(why),
    }
    DumpError {
        1: Again(why),
        2: LittleMemory { left_bytes },
        3: Damaged(what),
        4: Engine(why),
        5: NoCopy(why),
        6: Child(why),
        ; other => DumpError::Child(other.to_string())
    }
    Again {
        1: UnknownClass,
        2: Unlinked(classes),
        3: Stuck,
        4: Moving,
        5: Waited,
        6: LostFilter,
        7: OopMaps,
        8: Grown,
        9: Unread(error),
    }
}

impl Sent for u8 {
    fn put(&self, body: &mut Vec<u8>) {
        body.push(*self);
    }

    fn take(body: &mut &[u8]) -> io::Result<Self> {
        let (byte, rest) = body.split_first().ok_or_else(broken)?;
        *body = rest;
        Ok(*byte)
    }
}

impl Sent for u64 {
    fn put(&self, body: &mut Vec<u8>) {
        body.extend_from_slice(&self.to_le_bytes());
    }

    fn take(body: &mut &[u8]) -> io::Result<Self> {
        let (number, rest) = body.split_first_chunk().ok_or_else(broken)?;
        *body = rest;
        Ok(u64::from_le_bytes(*number))
    }
}

impl<T: Sent> Sent for Option<T> {
    fn put(&self, body: &mut Vec<u8>) {
        self.is_some().put(body);
        if let Some(value) = self {
            value.put(body);
        }
    }

    fn take(body: &mut &[u8]) -> io::Result<Self> {
        bool::take(body)?.then(|| T::take(body)).transpose()
    }
}

impl<T: Sent> Sent for Vec<T> {
    fn put(&self, body: &mut Vec<u8>) {
        self.len().put(body);
        for item in self {
            item.put(body);
        }
    }

    fn take(body: &mut &[u8]) -> io::Result<Self> {
        let count = u64::take(body)?;
        (0..count).map(|_| T::take(body)).collect()
    }
}

macro_rules! sent_tuples {
    ($(($($item:ident),*))*) => {$(
        #[allow(non_snake_case)] // a type and its value share a name
        impl<$($item: Sent),*> Sent for ($($item,)*) {
            fn put(&self, body: &mut Vec<u8>) {
                let ($($item,)*) = self;
                $($item.put(body);)*
            }

            fn take(body: &mut &[u8]) -> io::Result<Self> {
                Ok(($($item::take(body)?,)*))
            }
        }
    )*};
}

sent_tuples! { (A, B) (A, B, C) (A, B, C, D) }

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
            FromChild::Roots(Roots {
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
            }),
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
        ids.send(&mut bytes).expect("memory");
        assert_eq!(
            ThreadIds::receive(&mut bytes.as_slice()).expect("whole"),
            ids
        );
    }

    #[test]
    fn a_message_that_is_too_long_is_refused_before_it_is_read() {
        let answer = |bytes: u64| {
            let answer = FromChild::receive(&mut &bytes.to_le_bytes()[..]);
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
        for kind in [0_u8, 200] {
            let mut bytes = Vec::new();
            kind.send(&mut bytes).expect("memory");
            let answer = FromChild::receive(&mut bytes.as_slice());
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
            let _ = ThreadIds::receive(&mut bytes.as_slice());
        }

        #[test]
        fn a_cut_message_is_an_error(cut in 0_usize..60) {
            let message = FromChild::Roots(Roots {
                addresses: vec![1, 2, 3],
                ..Roots::default()
            });
            let mut bytes = Vec::new();
            message.send(&mut bytes).expect("memory");
            bytes.truncate(cut.min(bytes.len() - 1));
            prop_assert!(FromChild::receive(&mut bytes.as_slice()).is_err());
        }
    }
}
