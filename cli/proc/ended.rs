//! The signals that end a command: at once, or when one that waits for a JVM has seen it. In both
//! cases none of its temporary files stays.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_usize;
use signal_hook::low_level::{emulate_default_handler, pipe};

use crate::proc::leftover::remove_all;
use crate::proc::process::Process;
use crate::proc::reach::mask;

/// The message when the user interrupts the wait for a JVM.
pub(crate) const INTERRUPTED: &str = "interrupted; a dump that has begun goes on";

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// A shell adds this to the signal's number.
const CODE_OF_SIGNAL: i32 = 128;
/// The first process of a container, which no signal ends by default.
const FIRST: u32 = 1;

/// The last signal; 0 before one has arrived.
static ARRIVED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);
/// Whether somebody waits for a JVM.
static WAITS: AtomicBool = AtomicBool::new(false);

/// From now on such a signal removes what is temporary before it ends this process. Errors: there
/// can be no further thread or file; then signals do what they do by default.
pub(crate) fn begin() -> io::Result<()> {
    let (mut told, teller) = UnixStream::pair()?;
    let watch = thread::Builder::new().name("signals".to_owned());
    watch.spawn(move || {
        while told.read_exact(&mut [0]).is_ok() {
            let signal = ARRIVED.load(Ordering::SeqCst);
            // 0: whoever waited has seen it meanwhile.
            if !WAITS.load(Ordering::SeqCst) && signal != 0 {
                end(signal);
            }
        }
    })?;
    let ignored = ignored();
    for signal in SIGNALS {
        // Whoever started this, such as nohup, wants it to go on.
        if (ignored >> (signal - 1)) & 1 == 0 {
            register_usize(signal, Arc::clone(&ARRIVED), signal.unsigned_abs() as usize)?;
            pipe::register(signal, teller.try_clone()?)?;
        }
    }
    Ok(())
}

/// Ends as by this signal.
fn end(signal: usize) {
    remove_all();
    let signal = i32::try_from(signal).unwrap_or(SIGTERM);
    if process::id() != FIRST {
        let _ = emulate_default_handler(signal);
    }
    process::exit(CODE_OF_SIGNAL + signal);
}

/// The signals that this process was started to ignore, a bit each.
fn ignored() -> u64 {
    let own = i32::try_from(process::id()).map(Process::find);
    let status = own.ok().and_then(|own| own.ok()?.text("status").ok());
    mask(&status.unwrap_or_default(), "SigIgn").unwrap_or(0)
}

/// Whether such a signal has arrived, for a command that then removes its files and ends.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    has_seen: AtomicBool,
}

impl Ended {
    /// From now on a signal does not end the command at once, until this is dropped.
    pub(crate) fn new() -> Self {
        WAITS.store(true, Ordering::SeqCst);
        Self::default()
    }

    /// Whether one has arrived.
    pub(crate) fn is_set(&self) -> bool {
        let is_set = ARRIVED.load(Ordering::SeqCst) != 0;
        self.has_seen.fetch_or(is_set, Ordering::Relaxed);
        is_set
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        if *self.has_seen.get_mut() {
            // The command ends by itself.
            ARRIVED.store(0, Ordering::SeqCst);
        }
        WAITS.store(false, Ordering::SeqCst);
        let signal = ARRIVED.load(Ordering::SeqCst);
        if signal != 0 {
            end(signal);
        }
    }
}
