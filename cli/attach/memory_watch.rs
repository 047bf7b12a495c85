//! Ends this command before it takes memory that others need: it may run in the container of the
//! JVM that it asks about, and the kernel may kill that JVM first.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::process;
use std::sync::Once;
use std::thread;
use std::time::Duration;

use headroom::{group_dies_as_one, MemoryLeft};

use crate::output::outcome::Failure;
use crate::proc::leftover::remove_all;

/// Time between two checks of the memory that is left. A check reads a few small files.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes that this command may take between two checks, beside the reserve that stays free.
const TAKEN_BYTES: u64 = 64 << 20;
/// Kills this process before all others, if one must be killed for memory.
const FIRST_TO_DIE: &str = "1000";
const EXIT_CODE: i32 = 2;

/// Watches from now until the process ends. Later calls do nothing. Errors: there can be no further
/// thread.
pub(crate) fn begin() -> Result<(), Failure> {
    static ONCE: Once = Once::new();
    let mut begun = Ok(());
    ONCE.call_once(|| {
        if !group_dies_as_one() {
            // Without it the watch is still there.
            let _ = fs::write("/proc/self/oom_score_adj", FIRST_TO_DIE);
        }
        let watch = thread::Builder::new().name("memory watch".to_owned());
        begun = MemoryLeft::open().and_then(|memory| {
            let watch = watch.spawn(move || end_at(&memory));
            watch.map(drop)
        });
    });
    begun.map_err(|fault| Failure::Input(format!("cannot watch the memory that is left: {fault}")))
}

/// Ends the process when too little is left.
fn end_at(memory: &MemoryLeft) {
    loop {
        if let Some(left_bytes) = memory.too_little_for(TAKEN_BYTES) {
            let mut stderr = io::stderr().lock();
            let start = match stderr.is_terminal() {
                // Over the progress bar.
                true => "\r\x1b[2K",
                false => "",
            };
            // If stderr is closed, nothing can be reported.
            let _ = writeln!(stderr, "{start}hprof: {}", refusal(left_bytes));
            remove_all();
            process::exit(EXIT_CODE);
        }
        thread::sleep(LOOK);
    }
}

fn refusal(left_bytes: u64) -> String {
    format!(
        "only {} MiB of memory are left in this container or on this machine, which other processes may need; some 60 \
         bytes are needed for each object. Raise the limit, or ask where there is room: hprof dump PID writes a file",
        left_bytes >> 20
    )
}
