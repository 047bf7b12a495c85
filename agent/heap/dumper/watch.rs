//! Watches how HotSpot's file grows, by a thread that the pause does not stop: it informs the user,
//! and those who wait for the dump. Of a dump that stands still while the JVM ends, they wait no
//! longer.

use crate::ending::{self, Quiet, SILENCE_LIMIT};
use crate::message::say;
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::thread::{scope, Builder};
use std::time::{Duration, Instant};

/// Time between two checks.
const LOOK: Duration = Duration::from_millis(250);
/// Time between two lines.
const PROGRESS: Duration = Duration::from_secs(5);

/// Runs `body` while a thread watches `bytes`, and prints a line every few seconds if `tells`.
/// Without a thread nothing is watched.
pub(super) fn watched<R>(
    bytes: impl Fn() -> u64 + Sync,
    tells: bool,
    body: impl FnOnce() -> R,
) -> R {
    let tell = |line: String| {
        if tells {
            say(&line);
        }
    };
    let stands_still = |silent| {
        if ending::has_begun() && silent >= SILENCE_LIMIT {
            ending::give_up();
        }
    };
    watched_every((LOOK, PROGRESS), &bytes, &tell, &stands_still, body)
}

fn watched_every<R>(
    (look, progress): (Duration, Duration),
    bytes: &(impl Fn() -> u64 + Sync),
    tell: &(impl Fn(String) + Sync),
    stands_still: &(impl Fn(Duration) + Sync),
    body: impl FnOnce() -> R,
) -> R {
    let (end, ended) = channel::<()>();
    scope(|threads| {
        let watch = move || {
            let (mut seen, mut told, mut quiet) = (0, Instant::now(), Quiet::begin());
            while ended.recv_timeout(look) == Err(RecvTimeoutError::Timeout) {
                let now = bytes();
                // It becomes smaller when HotSpot since 22 has joined a piece.
                if now != seen {
                    seen = now;
                    ending::show_life();
                }
                stands_still(quiet.time());
                if told.elapsed() >= progress {
                    told = Instant::now();
                    tell(line(seen));
                }
            }
        };
        let thread = Builder::new().name("hprof progress".to_owned());
        let _ = thread.spawn_scoped(threads, watch);
        let _end = End(end);
        body()
    })
}

/// Ends the watch, after a panic, too.
struct End(#[allow(dead_code)] Sender<()>);

/// The progress line while the application stands still.
fn line(bytes: u64) -> String {
    format!(
        "dumping inside the pause: {} MB written by HotSpot",
        bytes / 1_000_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_until_the_body_ends() {
        let (told, lines) = channel();
        let every = (Duration::from_millis(1), Duration::from_millis(2));
        let told = std::sync::Mutex::new(told);
        let tell = |line| {
            // The test may have heard enough.
            let _ = told.lock().expect("the sender").send(line);
        };
        let line = watched_every(every, &|| 7_900_000, &tell, &|_| {}, || lines.recv());
        let line = line.expect("a line");
        assert_eq!(line, "dumping inside the pause: 7 MB written by HotSpot");
    }

    #[test]
    fn a_file_that_stands_still_is_noticed() {
        let (told, times) = channel();
        let told = std::sync::Mutex::new(told);
        let stands_still = |silent| {
            // The test may have heard enough.
            let _ = told.lock().expect("the sender").send(silent);
        };
        let every = (Duration::from_millis(1), PROGRESS);
        watched_every(every, &|| 5, &|_| {}, &stands_still, || {
            // Others' signs of life end a silence, too.
            let mut times = times.iter();
            assert!(times.any(|silent| silent >= Duration::from_millis(2)));
        });
    }
}
