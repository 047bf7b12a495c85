//! The forked copy of the JVM process: creates it, gives it manners, watches over it.
//!
//! Each step of [`settle`] prevents something that a fork of a JVM was seen to do wrong: it handles
//! signals on a thread that does not exist, holds the sockets of a server that restarts, dumps a
//! core of the whole heap, hangs for ever.
//!
//! The threads of the child that mark and encode are 5 steps nicer than the JVM. With 10, a working
//! application made dumps twice as long (11 s instead of 6), and requests of one that had idle
//! time were late 135 to 255 times instead
//! of 72 to 91: until the copy is gone, each first write copies a page. With 0 they were late 98 to
//! 182 times, as the child takes the processors. `SCHED_IDLE` leaves 0.3 % of a busy core, and
//! nobody can raise it again without privileges.

use super::descriptors::close_others;
use headroom::{group_dies_as_one, uses_huge_pages};
use jvm::os::answers::{ended, opened};
use jvm::os::descriptor::in_reserve;
use jvm::os::fork_handlers::ForkBy;
use jvm::os::seccomp::may_call;
use jvm::os::threads;
use std::fs::File;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use writer::start_worker;

/// Exit codes of the child.
pub(super) const DONE: i32 = 0;
/// The child has sent the reason.
pub(super) const TOLD: i32 = 1;
/// A fault in the child's own code.
pub(super) const PANICKED: i32 = 2;
/// Its watchdog has ended it.
const HUNG: i32 = 3;
/// A signal that means a crash: the code is this plus the signal's number.
const CRASHED: i32 = 64;

/// Signals that HotSpot answers with a thread that the child has not, and that are sent to groups
/// of processes: by the terminal (Ctrl-\ and Ctrl-C), by systemd, by `pkill -f`. The child lets the
/// JVM answer them, and ends when that does. SIGPIPE: a failed write reports the same.
const QUIET_SIGNALS: [i32; 7] = [
    libc::SIGPIPE,
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];
/// How much nicer than the JVM the child's threads are: see above. The kernel caps the sum.
const MORE_NICE: i32 = 5;
/// Signals of a crash. HotSpot would answer them with a report of many pages.
const CRASHES: [i32; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// How long a killed child may take to end. It takes longer only while its disk hangs.
const END_LIMIT: Duration = Duration::from_secs(5);
/// Time between two checks whether a child has ended.
const END_LOOK: Duration = Duration::from_millis(2);

/// The process in which the code continues.
#[derive(Debug)]
pub(super) enum Side {
    /// The application's process.
    Parent(Child),
    /// The copy, which has only the forking thread.
    Child,
}

/// How a child ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    /// The predicate of a sentence that begins with "the child".
    pub(super) how: String,
    /// Whether it read an unmapped address.
    pub(super) crashed: bool,
    /// Whether its own watchdog ended it.
    pub(super) hung: bool,
    /// Whether it lacked a page: the heap is in huge pages, and none was free for a copy of one.
    pub(super) lacked_page: bool,
    /// Whether a filter of system calls ended it, as it will end the next one.
    pub(super) is_filtered: bool,
}

/// A child of this process, as the parent sees it. Dropping it kills it, unless its work is done,
/// and waits for it.
#[derive(Debug)]
pub(in crate::heap) struct Child {
    pid: libc::pid_t,
    /// A pidfd, where the kernel has them (5.3): the process id may be reused, if the application
    /// waits for all children.
    handle: Option<OwnedFd>,
    /// Whether the child has announced that it only has to end.
    is_done: bool,
    is_killed: bool,
    reaped: bool,
}

/// Forks on the VM thread at a safepoint, where no Java thread holds a lock of the C library. In
/// the child all signals are blocked until it has [settled](settle).
pub(super) fn fork(by: ForkBy) -> io::Result<Side> {
    // SAFETY: only returns a number.
    let parent = unsafe { libc::getpid() };
    match undisturbed_fork(by) {
        Err(error) => Err(error),
        Ok(0) => {
            die_with(parent);
            Ok(Side::Child)
        }
        Ok(pid) => Ok(Side::Parent(Child {
            pid,
            handle: handle_of(pid),
            is_done: false,
            is_killed: false,
            reaped: false,
        })),
    }
}

/// Forks with all signals blocked. Before Linux 4.19 each signal restarts the fork, so that under a
/// profiler's timer the fork of a large process would never end.
fn undisturbed_fork(by: ForkBy) -> io::Result<libc::pid_t> {
    // SAFETY: the signal sets outlive the calls; the child does little, under a watchdog.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let answer = by.fork();
        if !matches!(answer, Ok(0)) {
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
        }
        answer
    }
}

/// In the child: makes the kernel kill it when its parent ends, and write no core of it, and leaves
/// real time. The parent may have ended already.
fn die_with(parent: libc::pid_t) {
    // With 0, a program that receives cores from the kernel (core(5)) would still get one.
    let no_core = libc::rlimit {
        rlim_cur: 1,
        rlim_max: 1,
    };
    threads::leave_real_time(0);
    // SAFETY: system calls with plain numbers, and a variable that outlives them.
    unsafe {
        if may_call(&[libc::SYS_prlimit64]) {
            libc::prlimit(0, libc::RLIMIT_CORE, &no_core, null_mut());
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            exit(PANICKED);
        }
    }
}

fn handle_of(pid: libc::pid_t) -> Option<OwnedFd> {
    if !may_call(&[libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal]) {
        return None;
    }
    let handle = in_reserve(|| {
        // SAFETY: a system call with plain numbers; the descriptor is new.
        unsafe { opened(libc::syscall(libc::SYS_pidfd_open, pid, 0)) }
    });
    handle.ok()
}

impl Child {
    /// The child has announced that it only has to end.
    pub(super) fn let_end(&mut self) {
        self.is_done = true;
    }

    /// Leaves the child to a thread that waits for its end. The kernel frees the child's copy of
    /// the heap page by page; only the next dump needs to wait for that. `None` if no thread can be
    /// started; then the child has ended.
    pub(in crate::heap) fn end_alone(mut self) -> Option<Ending> {
        let (ended, end) = sync_channel::<()>(1);
        let work = move || {
            self.wait();
            drop(ended);
        };
        // Without a thread the child is dropped here, which waits for it.
        start_worker("hprof reaper", Box::new(work)).ok()?;
        Some(Ending(end))
    }

    /// Waits up to [`END_LIMIT`] for the end of a child that has finished its work, or was killed,
    /// or has closed its connection.
    pub(super) fn reap(&mut self) -> End {
        let began = Instant::now();
        while began.elapsed() < END_LIMIT {
            if let Some(end) = self.look(libc::WNOHANG) {
                return end;
            }
            sleep(END_LOOK);
        }
        let how = still_there(self.is_killed);
        End {
            how,
            hung: true,
            ..End::default()
        }
    }

    /// Waits for the child's end, however long that takes.
    fn wait(&mut self) {
        while self.look(0).is_none() {}
    }

    /// How the child ended; `None` if it has not.
    fn look(&mut self, flags: i32) -> Option<End> {
        let status = ended(self.pid, flags)?;
        // Nothing kills it any more, and without a child its descriptor is of no use.
        self.handle = None;
        self.reaped = true;
        Some(describe(status, uses_huge_pages()))
    }

    /// Whether the child is stopped (SIGSTOP), so that it makes no progress until it is continued.
    pub(super) fn is_stopped(&self) -> bool {
        threads::is_stopped(self.pid)
    }

    /// Kills the child.
    pub(super) fn kill(&mut self) {
        if self.reaped {
            return;
        }
        self.is_killed = true;
        // SAFETY: system calls with plain numbers. Without a pidfd, or if a filter forbids its use,
        // the process id is the child's until it is waited for.
        unsafe {
            let is_answered = self.handle.as_ref().is_some_and(|handle| {
                let nothing: *const libc::siginfo_t = std::ptr::null();
                let fd = handle.as_raw_fd();
                let answer =
                    libc::syscall(libc::SYS_pidfd_send_signal, fd, libc::SIGKILL, nothing, 0);
                // It has ended, and its process id may be that of another process.
                answer == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
            });
            if !is_answered {
                libc::kill(self.pid, libc::SIGKILL);
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            if !self.is_done {
                self.kill();
            }
            self.reap();
        }
    }
}

/// A child that is about to end, and a thread that waits for its end.
#[derive(Debug)]
pub(in crate::heap) struct Ending(Receiver<()>);

impl Ending {
    /// Waits up to `limit` for its end. `false` if it has not ended.
    pub(in crate::heap) fn wait(&self, limit: Duration) -> bool {
        self.0.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected)
    }
}

/// What is known of a child that has not ended in [`END_LIMIT`].
fn still_there(is_killed: bool) -> String {
    let seconds = END_LIMIT.as_secs();
    match is_killed {
        true => format!("has not ended, although it was killed {seconds} s ago: its disk may hang"),
        false => format!("closed its connection {seconds} s ago, and has not ended"),
    }
}

fn describe(status: Option<i32>, has_huge_pages: bool) -> End {
    let plain = |how: String| End {
        how,
        ..End::default()
    };
    let Some(status) = status else {
        // The application makes the kernel discard the status of its children.
        return plain("ended".to_owned());
    };
    if libc::WIFSIGNALED(status) {
        return match libc::WTERMSIG(status) {
            libc::SIGSYS => filtered(),
            libc::SIGKILL => plain(
                "was killed (signal 9), by a user or by the kernel when memory ran out".to_owned(),
            ),
            signal => plain(format!("was ended by signal {signal}")),
        };
    }
    match libc::WEXITSTATUS(status) {
        HUNG => End {
            hung: true,
            ..plain("made no progress, so its watchdog ended it".to_owned())
        },
        PANICKED => plain("failed with an internal error; please report it".to_owned()),
        code if code == CRASHED + libc::SIGSYS => filtered(),
        // Only SIGSEGV is evidence about the heap. SIGABRT: no memory.
        code if code > CRASHED => End {
            crashed: code - CRASHED == libc::SIGSEGV,
            lacked_page: code - CRASHED == libc::SIGBUS && has_huge_pages,
            ..plain(format!("crashed with signal {}", code - CRASHED))
        },
        code => plain(format!("ended with code {code}")),
    }
}

fn filtered() -> End {
    End {
        how: "was ended for a system call that this process's seccomp filter does not allow"
            .to_owned(),
        is_filtered: true,
        ..End::default()
    }
}

/// Ends the child at once: no code of the JVM runs, nothing is cleaned up.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: ends this process and does not return.
    unsafe { libc::_exit(code) }
}

/// Prepares the child so that it harms nobody. `keep` are the descriptors that it still needs.
pub(super) fn settle(keep: &[RawFd]) {
    // SAFETY: system calls with plain numbers, and pointers to variables that outlive them; there
    // is one thread.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"hprof heap dump".as_ptr());
        for signal in QUIET_SIGNALS {
            libc::signal(signal, libc::SIG_IGN);
        }
        for signal in CRASHES {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = crashed as *const () as usize;
            action.sa_flags = libc::SA_NODEFER;
            libc::sigaction(signal, &action, null_mut());
        }
        let mut none: libc::sigset_t = zeroed();
        libc::sigemptyset(&mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &none, null_mut());
    }
    close_others(keep);
}

/// In the child: makes the calling thread nicer than the JVM. Without privileges that is for ever.
pub(super) fn stand_back() {
    threads::stand_back(0, MORE_NICE);
}

/// Where the application has opened as many files as it may, so has its copy, which does not need
/// the standard input.
pub(super) fn free_a_place() {
    if File::open("/dev/null").is_err() {
        // SAFETY: a plain system call.
        unsafe { libc::close(libc::STDIN_FILENO) };
    }
}

/// If memory runs out, the kernel kills the child before the application.
pub(super) fn be_killed_first() {
    if group_dies_as_one() {
        // The application would be killed with the child.
        return;
    }
    threads::be_killed_first("self");
}

/// Handles crashes in the child.
extern "C" fn crashed(signal: libc::c_int) {
    exit(CRASHED + signal);
}

/// Seconds until the child counts as hung.
static LEFT_S: AtomicU32 = AtomicU32::new(0);
/// As many are available again whenever it shows life.
static LIMIT_S: AtomicU32 = AtomicU32::new(0);

/// Counts the seconds of the child's alarm one by one. Those in which the process was frozen are at
/// most one.
extern "C" fn second_is_over(_signal: libc::c_int) {
    if LEFT_S.fetch_sub(1, Ordering::Relaxed) <= 1 {
        exit(HUNG);
    }
    // SAFETY: a plain system call that a handler may make.
    unsafe { libc::alarm(1) };
}

/// An alarm (SIGALRM) that ends the child unless it is fed in time.
#[derive(Debug)]
pub(super) struct Watchdog;

impl Watchdog {
    /// Arms the alarm: the child counts as hung if it shows no life for `limit_s` seconds
    /// ([`Watchdog::START_LIMIT_S`] for the first sign). Call it in the child before anything else.
    /// It allocates nothing.
    pub(super) fn start(limit_s: u32) {
        // SAFETY: a handler that may run at any time, and a signal set that outlives the calls.
        unsafe {
            libc::signal(libc::SIGALRM, second_is_over as *const () as usize);
            let mut alarm: libc::sigset_t = zeroed();
            libc::sigemptyset(&mut alarm);
            libc::sigaddset(&mut alarm, libc::SIGALRM);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &alarm, null_mut());
        }
        LIMIT_S.store(limit_s, Ordering::Relaxed);
        Self::wait_for(limit_s.min(Self::START_LIMIT_S));
    }

    /// Seconds for what a child does before it can show life: milliseconds, unless it meets a lock
    /// held at the fork.
    const START_LIMIT_S: u32 = 5;

    /// Shows life: the whole time is available again.
    pub(super) fn feed() {
        Self::wait_for(LIMIT_S.load(Ordering::Relaxed));
    }

    /// Ends the child in so many seconds.
    fn wait_for(seconds: u32) {
        LEFT_S.store(seconds, Ordering::Relaxed);
        // SAFETY: a plain system call.
        unsafe { libc::alarm(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn only_the_calling_thread_stands_back() {
        // SAFETY: a system call with plain numbers.
        let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = nice();
        let body = move || {
            stand_back();
            nice()
        };
        let nicer = std::thread::spawn(body).join().expect("no panic");
        assert_eq!(nicer, (before + MORE_NICE).min(19));
        assert_eq!(nice(), before);
    }

    #[test]
    fn ends_are_told() {
        let describe = |status| describe(Some(status), false);
        assert_eq!(describe(15).how, "was ended by signal 15");
        assert!(describe(HUNG << 8).hung && !describe(9).hung);
        let crash = describe((CRASHED + 11) << 8);
        assert_eq!(
            (crash.how.as_str(), crash.crashed),
            ("crashed with signal 11", true)
        );
        assert_eq!(describe(1 << 8).how, "ended with code 1");
        assert_eq!(super::describe(None, false).how, "ended");
        let by_filter = [libc::SIGSYS, (CRASHED + libc::SIGSYS) << 8];
        assert!(by_filter.map(|status| describe(status).is_filtered) == [true; 2]);
    }

    #[test]
    fn a_page_is_lacking_where_there_are_huge_ones() {
        let status = (CRASHED + libc::SIGBUS) << 8;
        assert!(describe(Some(status), true).lacked_page);
        assert!(!describe(Some(status), false).lacked_page);
        assert!(!describe(Some((CRASHED + libc::SIGSEGV) << 8), true).lacked_page);
    }

    #[test]
    fn a_child_that_is_done_ends_by_itself() {
        let (mut heard, mut tells) = UnixStream::pair().expect("a pair of sockets");
        let Side::Parent(mut child) = fork(ForkBy::Handlers).expect("a fork") else {
            // Wait until the parent expects the end. A child killed at the drop would prove
            // nothing.
            let mut nothing = [0];
            let _ = heard.read(&mut nothing);
            let _ = tells.write(b"ends");
            exit(DONE)
        };
        child.let_end();
        tells.write_all(b"!").expect("word to the child");
        drop(child);
        drop(tells);
        let mut word = String::new();
        heard.read_to_string(&mut word).expect("the child's word");
        assert_eq!(word, "ends");
    }

    #[test]
    fn a_child_that_ends_alone_is_waited_for() {
        let Side::Parent(mut child) = fork(ForkBy::Handlers).expect("a fork") else {
            exit(DONE)
        };
        child.let_end();
        let pid = child.pid;
        assert!(child
            .end_alone()
            .expect("a thread")
            .wait(Duration::from_secs(60)));
        // SAFETY: only checks whether the process exists.
        assert_eq!(unsafe { libc::kill(pid, 0) }, -1);
    }

    /// The alarm of a child that was frozen is due as soon as it runs again.
    #[test]
    fn one_alarm_ends_no_child() {
        let Side::Parent(mut child) = fork(ForkBy::Handlers).expect("a fork") else {
            Watchdog::start(60);
            // SAFETY: a signal to this process, which has one thread.
            unsafe { libc::kill(libc::getpid(), libc::SIGALRM) };
            exit(DONE)
        };
        child.let_end();
        assert_eq!(child.reap().how, "ended with code 0");
    }

    #[test]
    fn a_child_was_killed_only_if_we_did_it() {
        assert!(still_there(true).contains("although it was killed"));
        assert!(!still_there(false).contains("killed"));
    }

    #[test]
    fn a_child_that_is_dropped_is_gone() {
        let Side::Parent(child) = fork(ForkBy::Handlers).expect("a fork") else {
            loop {
                // SAFETY: waits for a signal.
                unsafe { libc::pause() };
            }
        };
        let pid = child.pid;
        drop(child);
        // SAFETY: only checks whether the process exists.
        assert_eq!(unsafe { libc::kill(pid, 0) }, -1);
    }
}
