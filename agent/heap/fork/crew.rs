//! The crew: the child's worker threads, and the main thread that waits for them and reports
//! progress to the parent.

use super::message::{FromChild, Sent};
use super::own_thread::Crew;
use super::process::{self, Watchdog};
use headroom::MemoryLeft;
use jvm::os::others_time::OthersTime;
use snapshot::{Failure, Snapshot};
use std::os::unix::net::UnixStream;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use writer::TailWriter;

/// Time between two checks of the memory left.
const LOOK: Duration = Duration::from_millis(20);
/// Threads that are nicer than the JVM get help if for so long they have less than this part of a
/// processor: the machine is busy, and a dump may be all that is to be had of this JVM.
const STARVING: Duration = Duration::from_secs(3);
const STARVING_PROCESSORS: f64 = 0.125;
/// Time between two progress messages.
const PROGRESS: Duration = Duration::from_secs(1);

/// Runs `body` in `threads` threads with this name, and `watch` in this thread until it has their
/// results. `end` makes them end early.
///
/// They are nicer than the JVM. If they starve, as many others help them that are not.
pub(super) fn in_threads<T: Send>(
    threads: usize,
    name: &str,
    body: impl Fn() -> Result<T, Failure> + Sync,
    end: impl Fn(),
    watch: &mut Watch<'_>,
) -> Result<Vec<T>, Failure> {
    let body = &body;
    let (results, ended) = channel();
    let mut crew = Crew::default();
    let mut start = |number: usize, is_nice: bool| {
        let results = results.clone();
        let work = Box::new(move || {
            if is_nice {
                process::stand_back();
            }
            // A thread that vanished without a result would leave the others waiting for work.
            let result = catch_unwind(AssertUnwindSafe(body));
            let _ = results.send(result.unwrap_or(Err(Failure::Fault)));
        });
        // SAFETY: the crew is dropped below, before `body` and everything that `body` uses.
        unsafe { crew.start(&format!("{name} {number}"), work) }
    };
    if let Err(error) = (0..threads).try_for_each(|number| start(number, true)) {
        end();
        return Err(Failure::NoThread(error.to_string()));
    }
    let watched = watch.over(&ended, threads, || {
        let helpers = (0..threads).take_while(|&number| start(number, false).is_ok());
        helpers.count()
    });
    end();
    drop(crew);
    watched
}

/// The waiting thread: reports progress to the parent, and watches the application's memory.
#[derive(Debug)]
pub(super) struct Watch<'w> {
    socket: &'w mut UnixStream,
    snapshot: &'w Snapshot,
    writer: Option<&'w TailWriter>,
    memory_left: MemoryLeft,
    told: Instant,
    progress: u64,
}

impl<'w> Watch<'w> {
    /// Watches threads that read `snapshot`, and that write to `writer` if there is one.
    pub(super) fn new(
        socket: &'w mut UnixStream,
        snapshot: &'w Snapshot,
        writer: Option<&'w TailWriter>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            socket,
            snapshot,
            writer,
            memory_left: MemoryLeft::open()?,
            told: Instant::now(),
            progress: 0,
        })
    }

    /// Waits for the results of this many threads. If they starve, `help` starts more.
    fn over<T>(
        &mut self,
        ended: &Receiver<Result<T, Failure>>,
        mut threads: usize,
        help: impl FnOnce() -> usize,
    ) -> Result<Vec<T>, Failure> {
        let mut help = Some(help);
        let (mut began, mut others) = (Instant::now(), OthersTime::begin());
        let mut results = Vec::with_capacity(threads);
        while results.len() < threads {
            if began.elapsed() > STARVING {
                let is_starving = others.processors() < STARVING_PROCESSORS;
                let help = help.take_if(|_| is_starving);
                threads += help.map_or(0, |help| help());
                (began, others) = (Instant::now(), OthersTime::begin());
            }
            match ended.recv_timeout(LOOK) {
                Ok(result) => results.push(result?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Fault),
            }
            if let Some(left_bytes) = self.memory_left.too_little() {
                self.end_now(Failure::LittleMemory { left_bytes });
            }
            self.tell()?;
        }
        Ok(results)
    }

    /// Exits without waiting for the threads, because one of them may be waiting for a disk, and
    /// memory is only freed by exiting.
    fn end_now(&mut self, failure: Failure) -> ! {
        let _ = FromChild::Failed(failure.into()).send(self.socket);
        process::exit(process::TOLD)
    }

    fn tell(&mut self) -> Result<(), Failure> {
        let objects = self.snapshot.reached.load(Ordering::Relaxed);
        let bytes = self.writer.map_or(0, TailWriter::bytes_written);
        if self.told.elapsed() < PROGRESS || bytes + objects == self.progress {
            return Ok(());
        }
        self.told = Instant::now();
        self.progress = bytes + objects;
        Watchdog::feed();
        let message = FromChild::Progress {
            bytes,
            objects,
            heap_bytes: self.snapshot.encoded_bytes.load(Ordering::Relaxed),
        };
        message.send(self.socket).map_err(|_| Failure::NoAnswer)
    }
}
