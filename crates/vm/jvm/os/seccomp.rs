//! Which system calls the seccomp filter of this process ends it for.
//!
//! A filter answers a call with an error, which harms nobody, or ends the process. So a forked
//! probe, which does nothing else, tries the calls that a JVM does without.

use super::descriptor::read;
use super::fork_handlers::ForkBy;
use std::io;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

/// What the probe tries.
const ASKED: [(libc::c_long, &str); 17] = [
    // To watch over the forked copy, which closes descriptors and leaves no core.
    (libc::SYS_pidfd_open, "pidfd_open"),
    (libc::SYS_pidfd_send_signal, "pidfd_send_signal"),
    (libc::SYS_close_range, "close_range"),
    (libc::SYS_prlimit64, "prlimit64"),
    // To mark a file as one that is being written. From 9 on, a JVM does so, too.
    (libc::SYS_flock, "flock"),
    // To let the application come first.
    (libc::SYS_getpriority, "getpriority"),
    (libc::SYS_setpriority, "setpriority"),
    (libc::SYS_sched_getscheduler, "sched_getscheduler"),
    (libc::SYS_sched_setscheduler, "sched_setscheduler"),
    // To read and copy the heap of a JVM that runs.
    (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_userfaultfd, "userfaultfd"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_memfd_create, "memfd_create"),
    (libc::SYS_mincore, "mincore"),
    // To start a command.
    (libc::SYS_pipe2, "pipe2"),
    (libc::SYS_execve, "execve"),
    (libc::SYS_setpgid, "setpgid"),
];

/// A fork makes the application wait for about 25 ms for each GB of such memory. A JVM that starts
/// has little.
const MOST_COPIED_KB: u64 = 512 << 10;
/// A probe that takes longer waits for somebody who does not answer.
const LIMIT_S: libc::c_uint = 5;

/// What is known of the calls.
#[derive(Debug)]
enum Answers {
    /// There is no filter.
    AllPass,
    /// The calls that ended the probe.
    Deadly(Vec<libc::c_long>),
    /// There may be a filter, and a fork would take too long, or failed.
    NotAsked,
}

/// Whether these calls are known not to end the process; they may still be refused. For calls that
/// the agent can do without. The first question takes a fork, if there is a filter: ask it early.
pub fn may_call(calls: &[libc::c_long]) -> bool {
    let is_asked = |call: &libc::c_long| ASKED.iter().any(|(asked, _)| asked == call);
    match answers() {
        Answers::AllPass => true,
        Answers::Deadly(deadly) => calls
            .iter()
            .all(|call| is_asked(call) && !deadly.contains(call)),
        Answers::NotAsked => false,
    }
}

/// An error if one of these calls is known to end the process. For calls that are needed.
pub fn check(calls: &[libc::c_long]) -> io::Result<()> {
    let Answers::Deadly(deadly) = answers() else {
        return Ok(());
    };
    let mut known = ASKED.iter().filter(|(call, _)| deadly.contains(call));
    match known.find(|(call, _)| calls.contains(call)) {
        Some((_, name)) => Err(io::Error::other(format!(
            "the seccomp filter ends this process at {name}"
        ))),
        None => Ok(()),
    }
}

/// Has the probe tried the calls, if there is a filter.
pub fn ask() {
    answers();
}

fn answers() -> &'static Answers {
    static ANSWERS: OnceLock<Answers> = OnceLock::new();
    if let Some(answers) = ANSWERS.get() {
        return answers;
    }
    match read("/proc/self/status") {
        Ok(status) => ANSWERS.get_or_init(|| answers_by(&status)),
        // Later there may be a descriptor for it.
        Err(_) => &Answers::NotAsked,
    }
}

fn answers_by(status: &[u8]) -> Answers {
    // The name of the process may be no text.
    let status = String::from_utf8_lossy(status);
    let number = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name))?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    if !status.is_empty() && number("Seccomp:").unwrap_or(0) == 0 {
        return Answers::AllPass;
    }
    let is_small = number("RssAnon:").is_some_and(|kb| kb <= MOST_COPIED_KB);
    let asked = is_small.then(|| with_shared_number(deadly)).flatten();
    asked.map_or(Answers::NotAsked, Answers::Deadly)
}

/// The calls that end a process; `None` if there can be no probe.
fn deadly(survived: &AtomicUsize) -> Option<Vec<libc::c_long>> {
    let mut deadly = Vec::new();
    while survived.load(Ordering::Relaxed) < ASKED.len() {
        probe(survived).ok()?;
        // It has ended at the next one.
        let ends = ASKED.get(survived.load(Ordering::Relaxed));
        deadly.extend(ends.map(|(call, _)| call));
        survived.fetch_add(1, Ordering::Relaxed);
    }
    Some(deadly)
}

/// Runs this with a zero that forked processes share.
fn with_shared_number<T>(run: impl FnOnce(&AtomicUsize) -> Option<T>) -> Option<T> {
    let bytes = size_of::<AtomicUsize>();
    let (access, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_SHARED | libc::MAP_ANONYMOUS,
    );
    // SAFETY: new memory, which begins as zeros, and of which nothing is left after `run`.
    unsafe {
        let start = libc::mmap(null_mut(), bytes, access, flags, -1, 0);
        if start == libc::MAP_FAILED {
            return None;
        }
        let answer = run(&*start.cast::<AtomicUsize>());
        libc::munmap(start, bytes);
        answer
    }
}

/// Forks a process that makes the calls that are left, and counts those that it survives. Waits for
/// its end.
fn probe(survived: &AtomicUsize) -> io::Result<()> {
    // SAFETY: signal sets that outlive the calls. The child only makes system calls, with arguments
    // that the kernel refuses, and ends. It handles no signal of the JVM's.
    unsafe {
        let (mut most, mut before): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
        libc::sigfillset(&mut most);
        libc::pthread_sigmask(libc::SIG_SETMASK, &most, &mut before);
        let forked = ForkBy::NoHandlers.fork();
        if matches!(forked, Ok(0)) {
            // No core, whoever receives them.
            libc::prctl(libc::PR_SET_DUMPABLE, 0);
            libc::signal(libc::SIGALRM, libc::SIG_DFL);
            libc::sigdelset(&mut most, libc::SIGALRM);
            libc::alarm(LIMIT_S);
            libc::pthread_sigmask(libc::SIG_SETMASK, &most, null_mut());
            for (call, _) in ASKED.iter().skip(survived.load(Ordering::Relaxed)) {
                libc::syscall(*call, -1, -1, -1, -1, -1, -1);
                survived.fetch_add(1, Ordering::Relaxed);
            }
            libc::_exit(0);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
        let pid = forked?;
        // It has ended, too, if somebody else has taken its exit code.
        while libc::waitpid(pid, null_mut(), 0) < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const FILTERED: &str = "HPROF_TEST_FILTERED";
    const TEST: &str = "os::seccomp::tests::what_a_filter_ends_the_process_for_is_not_called";

    /// Has this process end at some calls, and be refused others.
    fn install(deadly: &[libc::c_long], refused: &[libc::c_long]) {
        const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
        // EPERM.
        const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | 1;
        let step = |code: u32, jf, k| libc::sock_filter {
            code: u16::try_from(code).expect("a code"),
            jt: 0,
            jf,
            k,
        };
        let answer = |k| step(libc::BPF_RET | libc::BPF_K, 0, k);
        let mut steps = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
        for (calls, what) in [(deadly, KILL), (refused, REFUSE)] {
            for call in calls {
                let call = u32::try_from(*call).expect("a number");
                steps.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, call));
                steps.push(answer(what));
            }
        }
        steps.push(answer(libc::SECCOMP_RET_ALLOW));
        let filter = libc::sock_fprog {
            len: u16::try_from(steps.len()).expect("few steps"),
            filter: steps.as_mut_ptr(),
        };
        // SAFETY: the steps outlive the calls. The filter is for all threads.
        unsafe {
            assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
            let (mode, flags) = (
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_TSYNC,
            );
            assert_eq!(libc::syscall(libc::SYS_seccomp, mode, flags, &filter), 0);
        }
    }

    #[test]
    fn what_a_filter_ends_the_process_for_is_not_called() {
        if std::env::var_os(FILTERED).is_none() {
            // A filter stays for ever, so it needs a process of its own.
            let this = std::env::current_exe().expect("a path");
            let mut command = Command::new(this);
            let told = command.args([TEST, "--exact"]).env(FILTERED, "1").output();
            let told = told.expect("this program");
            assert!(told.status.success(), "{told:?}");
            assert!(String::from_utf8_lossy(&told.stdout).contains("1 passed"));
            return;
        }
        let deadly = [
            libc::SYS_pidfd_open,
            libc::SYS_setpriority,
            libc::SYS_setpgid,
        ];
        let refused = [libc::SYS_getpriority, libc::SYS_memfd_create];
        install(&deadly, &refused);
        ask();
        let known = ASKED.map(|(call, _)| (call, may_call(&[call])));
        assert_eq!(
            known,
            ASKED.map(|(call, _)| (call, !deadly.contains(&call)))
        );
        assert!(!may_call(&[libc::SYS_reboot]), "nobody has asked");
        assert!(check(&refused).is_ok());
        let error = check(&[libc::SYS_memfd_create, libc::SYS_setpgid]);
        let why = "the seccomp filter ends this process at setpgid";
        assert_eq!(error.expect_err("deadly").to_string(), why);
    }

    #[test]
    fn without_a_filter_all_calls_pass() {
        let status = std::fs::read_to_string("/proc/self/status").expect("a status");
        if status.contains("\nSeccomp:\t0\n") {
            assert!(may_call(&[libc::SYS_setpriority]) && check(&[libc::SYS_setpgid]).is_ok());
        }
    }
}
