//! The parent's side of the conversation with the child: answers it until the dump is written or
//! must be given up.

use super::attempt::Attempt;
use super::childs_end::{silence, Stage};
use super::message::{
    FramesMessage, FromChild, Roots, Sent, ThreadIds, ThreadNoteMessage, Written,
};
use super::process::Child;
use crate::copied::{self, Step};
use crate::ending::{self, Quiet, Waiting, LOOK};
use crate::heap::error::{Again, DumpError};
use crate::heap::facts::catalogue::Catalogue;
use crate::heap::facts::jvm_words::jvm_words;
use crate::heap::facts::methods::Methods;
use crate::heap::facts::roots::ThreadNote;
use crate::heap::facts::stacks::ReadStack;
use crate::heap::facts::threads::CapturedStacks;
use crate::heap::facts::told_methods::ToldMethods;
use crate::heap::left::memory_left;
use crate::message::say_if;
use format::{ClassUnits, JvmFacts, MemoryArea};
use jvm::method::MethodId;
use jvm::os::{careful_reads, room};
use jvm::stack::StackFrame;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use tables::{ClassId, ObjectIndex, StringId};
use writer::emit::{self, Texts};
use writer::{record, DumpFile};

/// How much later than the child's own watchdog the parent gives up on a silent child.
const GRACE: Duration = Duration::from_secs(5);
/// From the child's last sign of life until the parent reads it, on a busy machine.
const SLACK: Duration = Duration::from_millis(500);
/// How long a child may be stopped once the JVM is shutting down. Tools do so for a moment.
const STOPPED_LIMIT: Duration = Duration::from_secs(1);
/// Bytes of memory that `hprof leaks` takes for each object, with what it gets through the stream.
const ANALYSIS_BYTES: u64 = 60;
/// Time between two progress lines.
const PROGRESS: Duration = Duration::from_secs(5);

/// Everything the parent needs to answer the child.
pub(super) struct Conversation<'d, 'f> {
    pub(super) attempt: &'d Attempt<'f>,
    pub(super) catalogue: &'d mut Catalogue<'f>,
    pub(super) stacks: Option<CapturedStacks<'f>>,
    pub(super) known_methods: HashSet<MethodId>,
    /// Whether an id is the address of this word in the parent, too.
    pub(super) same_words: RefCell<HashMap<(u64, u64), bool>>,
    /// The record of allocation sites; empty if there is none.
    pub(super) site_records: &'d [u8],
    /// What gets the head; `None` if nothing is written.
    pub(super) file: Option<&'d DumpFile>,
    /// Texts that stay in every dump: names of references that are no fields, and the facts about
    /// the JVM.
    pub(super) kept_texts: Vec<StringId>,
}

impl Conversation<'_, '_> {
    /// Converses with the child until it ends the conversation.
    pub(super) fn converse(
        &mut self,
        mut socket: UnixStream,
        mut child: Child,
    ) -> Result<(Child, Written), DumpError> {
        let limit = Duration::from_secs(u64::from(self.attempt.order.options.timeout_s)) + GRACE;
        // For the rest of a message that has started.
        let _ = socket.set_read_timeout(Some(limit));
        let mut told = Instant::now();
        let (mut stage, mut writing) = (Stage::Begins, false);
        loop {
            ending::show_life();
            let silent = match wait_for_word(&socket, &child, limit) {
                Ok(silent) => silent,
                Err(why) => return Err(given_up(&mut child, why)),
            };
            let message = FromChild::receive(&mut socket);
            stage = message.as_ref().map_or(stage, |told| stage.after(told));
            match message {
                Ok(FromChild::Calibrated | FromChild::ReadsFrames) => {}
                Ok(FromChild::Roots(roots)) => {
                    check_room(roots.objects)?;
                    writing = true;
                    let ids = self.take_roots(roots)?;
                    copied::tell(Step::Copied);
                    // If the child no longer listens, the next message shows that, or its absence.
                    let _ = ids.send(&mut socket);
                }
                Ok(FromChild::Progress {
                    bytes,
                    objects,
                    heap_bytes,
                }) => {
                    if told.elapsed() >= PROGRESS && self.file.is_some() {
                        told = Instant::now();
                        let used = self.attempt.tried.used_bytes.get();
                        let line = progress_line(bytes, objects, heap_bytes, used);
                        say_if(self.attempt.order.options.verbose, &line);
                    }
                }
                Ok(FromChild::Done(written)) => {
                    child.let_end();
                    return Ok((child, written));
                }
                Ok(FromChild::Failed(why)) => {
                    child.reap();
                    return Err(why);
                }
                Err(error) if !is_end(&error) => {
                    let why = format!("the messages of the forked copy cannot be read: {error}");
                    return Err(given_up(&mut child, why));
                }
                Err(_) => {
                    // The child's watchdog started counting slightly before the parent last heard
                    // from it.
                    let is_late = silent + GRACE + SLACK >= limit;
                    return Err(self.without_a_word(&mut child, stage, writing && is_late));
                }
            }
        }
    }

    /// Why the child ended without a message.
    fn without_a_word(&self, child: &mut Child, stage: Stage, hung: bool) -> DumpError {
        if hung {
            let seconds = self.attempt.order.options.timeout_s;
            return given_up(
                child,
                format!("nothing more could be written for {seconds} s"),
            );
        }
        silence(child, stage, self.attempt.tried.has_left_out.get())
    }

    /// Gives every object of the child its address, writes the head of the file, and answers with
    /// the threads' numbers.
    fn take_roots(&mut self, roots: Roots) -> Result<ThreadIds, DumpError> {
        let objects = self.catalogue.objects.get_mut();
        for (position, &address) in roots.addresses.iter().enumerate() {
            let known = ObjectIndex::from_index(position)
                .is_some_and(|index| objects.set_address(index, address));
            if !known {
                objects.push_at(address)?;
            }
        }
        let mut read = self.read_stacks(roots.frames);
        let notes = roots.threads.iter().filter_map(|thread| {
            let stack = read.remove(&thread.object);
            Some((self.note(thread)?, stack))
        });
        let notes: Vec<_> = notes.collect();
        let (Some(stacks), Some(file)) = (self.stacks.take(), self.file) else {
            return Err(broken_word());
        };
        let (attempt, classes) = (self.attempt, self.catalogue.len());
        let mut methods = Methods::new(attempt.order.options.line_numbers);
        let rows = stacks.fill(
            notes,
            attempt.order.options.depth_frames,
            &mut methods,
            self.catalogue,
        )?;
        attempt
            .tried
            .paused
            .set(attempt.tried.paused.get() + rows.pause);
        // A frame belongs to a class that the child does not know.
        if self.catalogue.len() > classes {
            return Err(Again::UnknownClass.into());
        }
        // Not before: all pauses are over.
        self.tell_of_jvm(&roots.sizes, roots.areas);
        let objects = &*self.catalogue.objects.borrow();
        let mirror = |class| objects.id(self.catalogue.mirror(class)?);
        let millis = attempt.millis_since_epoch;
        let mut deliver = |bytes| file.head(bytes);
        let texts = match attempt.order.options.hides_names() {
            true => Texts::Names(&self.kept_texts),
            false => Texts::All,
        };
        let tables = (self.catalogue.tables, texts);
        let header = match attempt.order.has_no_dump() {
            true => record::graph_header(millis, attempt.sizes.unwrap_or_default())?,
            false => record::header(millis),
        };
        emit::head(header, tables, objects, mirror, &mut deliver)?;
        file.head(self.site_records.to_vec())?;
        file.flush()?;
        let depth = |trace| {
            let row = self.catalogue.tables.traces.get(trace);
            row.map_or(0, |trace| trace.frames.len())
        };
        let ids = rows.ids.iter().zip(rows.java_frames);
        Ok(ids
            .map(|(&(thread, trace), frames)| (thread, trace, depth(trace), frames))
            .collect())
    }

    /// Turns the facts about the JVM into texts of the head.
    fn tell_of_jvm(&mut self, sizes: &[(ClassId, ClassUnits)], areas: Vec<MemoryArea>) {
        let attempt = self.attempt;
        let sizes = sizes.iter().map(|(class, units)| (class.get(), *units));
        let facts = JvmFacts {
            sizes: match attempt.order.has_no_dump() {
                true => Some(attempt.sizes.unwrap_or_default()),
                false => attempt.sizes,
            },
            words: jvm_words(
                attempt.env,
                attempt.order.options,
                "snapshot",
                attempt.tried.paused.get(),
            ),
            classes: sizes.collect(),
            areas,
        };
        let texts = facts.texts().into_iter();
        let texts = texts.map(|text| self.catalogue.tables.strings.intern(text.as_bytes()));
        self.kept_texts.extend(texts);
    }

    /// The stacks that the child has read, by the rows of their threads.
    fn read_stacks(&self, read: FramesMessage) -> HashMap<u32, ReadStack> {
        let mut methods = ToldMethods::default();
        let ids = read.methods.iter().map(|method| {
            let (name, signature) = (&method.name, &method.signature);
            methods.id(method.class, name, signature, self.catalogue)
        });
        let ids: Vec<_> = ids.collect();
        let frame = |(method, location): (Option<u32>, i64)| {
            let method = (*ids.get(method? as usize)?)?;
            Some(StackFrame { method, location })
        };
        let stacks = read.stacks.into_iter().map(|stack| {
            let read = ReadStack {
                frames: stack.frames.into_iter().map(frame).collect(),
                is_whole: stack.is_whole,
            };
            (stack.object, read)
        });
        stacks.collect()
    }

    fn note(&self, thread: &ThreadNoteMessage) -> Option<ThreadNote> {
        let frames = thread
            .frames
            .iter()
            .filter_map(|&(depth, method, word, location)| {
                Some((depth, (self.method(method, word)?, location)))
            });
        Some(ThreadNote {
            object: ObjectIndex::new(thread.object)?,
            name: thread.name.clone(),
            frames: frames.collect::<BTreeMap<_, _>>(),
        })
    }

    /// A method that the child saw. HotSpot creates a method id when it is first needed, so an id
    /// may exist only in the child. It is valid if the parent knew it before, or if in the parent,
    /// too, it is the address of the same method.
    fn method(&self, bits: u64, word: u64) -> Option<MethodId> {
        // SAFETY: used only if this process created the id, or if the id refers to the same method
        // here.
        let method = unsafe { MethodId::from_bits(bits) }?;
        let is_same = || {
            let mut same_words = self.same_words.borrow_mut();
            let look = || word != 0 && careful_reads::has_word(bits, word);
            *same_words.entry((bits, word)).or_insert_with(look)
        };
        (self.known_methods.contains(&method) || is_same()).then_some(method)
    }
}

/// An error if the container or the machine has no memory for the analysis of so many objects.
fn check_room(objects: u64) -> Result<(), DumpError> {
    let needed_bytes = objects.saturating_mul(ANALYSIS_BYTES);
    let too_little = memory_left()?.too_little_for(needed_bytes);
    match too_little.filter(|_| objects > 0) {
        Some(left_bytes) => Err(DumpError::SmallRoom {
            objects,
            needed_bytes,
            left_bytes,
        }),
        None => Ok(()),
    }
}

/// The line that a user sees every few seconds of a long dump.
fn progress_line(bytes: u64, objects: u64, heap_bytes: u64, used_bytes: Option<u64>) -> String {
    let share = match used_bytes {
        Some(used @ 1..) => format!(", {} % of the heap used", heap_bytes * 100 / used),
        _ => String::new(),
    };
    format!(
        "dumping: {} MB written, {} million objects found{share}",
        bytes / 1_000_000,
        objects / 1_000_000
    )
}

/// Whether the other end of the socket is closed, as when the child has ended.
fn is_end(error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset)
}

pub(super) fn broken_word() -> DumpError {
    DumpError::NoCopy("the forked copy sent its messages in the wrong order".to_owned())
}

/// Kills a child that the parent no longer waits for.
fn given_up(child: &mut Child, why: String) -> DumpError {
    child.kill();
    child.reap();
    DumpError::Child(why)
}

/// Waits until the child has sent something or is gone, and returns how long. An error, with the
/// reason, if it is silent for longer than `limit`, or for some seconds after the JVM began to shut
/// down.
fn wait_for_word(socket: &UnixStream, child: &Child, limit: Duration) -> Result<Duration, String> {
    let (mut waiting, mut quiet, mut goes_on) = (Waiting::begin(), Quiet::begin(), Duration::ZERO);
    while !room::is_readable(socket.as_fd(), LOOK) {
        let silent = waiting.time();
        if silent >= limit {
            return Err(format!(
                "the forked copy was silent for {} s",
                silent.as_secs()
            ));
        }
        let quiet = quiet.time();
        if !ending::has_begun() || !child.is_stopped() {
            goes_on = silent;
        }
        if !ending::has_begun() {
            continue;
        }
        if silent - goes_on >= STOPPED_LIMIT {
            return Err("the JVM ends, and the forked copy was stopped by a signal".to_owned());
        }
        if quiet >= ending::SILENCE_LIMIT {
            let seconds = ending::SILENCE_LIMIT.as_secs();
            return Err(format!(
                "the JVM ends, and nothing more was written for {seconds} s"
            ));
        }
    }
    Ok(waiting.time())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_a_share_of_the_heap_where_that_is_known() {
        assert_eq!(
            progress_line(1_500_000_000, 7_000_000, 250, Some(1000)),
            "dumping: 1500 MB written, 7 million objects found, 25 % of the heap used"
        );
        assert_eq!(
            progress_line(0, 0, 0, None),
            "dumping: 0 MB written, 0 million objects found"
        );
    }
}
