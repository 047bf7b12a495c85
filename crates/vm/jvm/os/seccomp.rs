//! Which system calls the seccomp filter of this process ends it for.
//!
//! A filter verdicts a call with an error, which harms nobody, or ends the process. So another
//! process, the probe, which does nothing else, tries the calls that a JVM does without.

use super::answers::done;
use super::descriptor::read;
use std::ffi::c_void;
use std::io;
use std::mem::zeroed;
use std::ptr::{from_ref, null_mut};
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

/// More than the probe needs.
const STACK_BYTES: usize = 64 << 10;
/// A probe that takes longer waits for somebody who does not answer.
const LIMIT_S: libc::c_uint = 5;

/// What is known of the calls.
#[derive(Debug)]
enum Verdicts {
    /// There is no filter.
    AllPass,
    /// The calls that ended the probe.
    Deadly(Vec<libc::c_long>),
    /// There may be a filter, and the probe could not be started.
    NotAsked,
}

/// Whether these calls are known not to end the process; they may still be refused. For calls that
/// the agent can do without. The first question starts the probe, if there is a filter.
pub fn may_call(calls: &[libc::c_long]) -> bool {
    let is_asked = |call: &libc::c_long| ASKED.iter().any(|(asked, _)| asked == call);
    match verdicts() {
        Verdicts::AllPass => true,
        Verdicts::Deadly(deadly) => calls
            .iter()
            .all(|call| is_asked(call) && !deadly.contains(call)),
        Verdicts::NotAsked => false,
    }
}

/// An error if one of these calls is known to end the process. For calls that are needed.
pub fn check(calls: &[libc::c_long]) -> io::Result<()> {
    let Verdicts::Deadly(deadly) = verdicts() else {
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
    verdicts();
}

fn verdicts() -> &'static Verdicts {
    static VERDICTS: OnceLock<Verdicts> = OnceLock::new();
    if let Some(verdicts) = VERDICTS.get() {
        return verdicts;
    }
    match read("/proc/self/status") {
        Ok(status) => VERDICTS.get_or_init(|| verdicts_by(&status)),
        // Later there may be a descriptor for it.
        Err(_) => &Verdicts::NotAsked,
    }
}

fn verdicts_by(status: &[u8]) -> Verdicts {
    // The name of the process may be no text.
    let status = String::from_utf8_lossy(status);
    let number = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name))?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    if !status.is_empty() && number("Seccomp:").unwrap_or(0) == 0 {
        return Verdicts::AllPass;
    }
    deadly().map_or(Verdicts::NotAsked, Verdicts::Deadly)
}

/// The calls that end a process; `None` if there can be no probe.
fn deadly() -> Option<Vec<libc::c_long>> {
    let mut deadly = Vec::new();
    let survived = AtomicUsize::new(0);
    while survived.load(Ordering::Relaxed) < ASKED.len() {
        probe(&survived).ok()?;
        // It has ended at the next one.
        let ends = ASKED.get(survived.load(Ordering::Relaxed));
        deadly.extend(ends.map(|(call, _)| call));
        survived.fetch_add(1, Ordering::Relaxed);
    }
    Some(deadly)
}

/// Starts a process that makes the calls that are left, and counts those that it survives. Waits
/// for its end.
///
/// As for `posix_spawn`, it runs in this process's memory while the calling thread waits: nothing
/// is copied, however large the heap is. Before Linux 5.16, a core dump ends all processes that
/// share the memory (`zap_threads`, fs/coredump.c), unless the memory is not to be dumped. A filter
/// that lets a JVM start allows `clone` and `prctl`: HotSpot calls both for each thread.
fn probe(survived: &AtomicUsize) -> io::Result<()> {
    let is_dumpable = is_dumpable()?;
    if is_dumpable {
        set_dumpable(false)?;
    }
    let probed = start_probe(survived);
    if is_dumpable {
        set_dumpable(true)?;
    }
    probed
}

/// Whether the kernel may dump this process's memory. An error for a process that only root may
/// dump: it could not become one again.
fn is_dumpable() -> io::Result<bool> {
    // SAFETY: a system call without pointers.
    match unsafe { libc::prctl(libc::PR_GET_DUMPABLE) } {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

fn set_dumpable(is_dumpable: bool) -> io::Result<()> {
    // SAFETY: a system call with plain numbers.
    done(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, libc::c_ulong::from(is_dumpable)) })
}

fn start_probe(survived: &AtomicUsize) -> io::Result<()> {
    let mut stack = vec![0_u128; STACK_BYTES / size_of::<u128>()];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: signal sets that outlive the calls. The process has a stack of its own, whose end is
    // aligned, and what it reads lives on, as this thread waits for it. It handles no signal of the
    // JVM's.
    unsafe {
        let (mut most, mut before): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
        libc::sigfillset(&mut most);
        libc::pthread_sigmask(libc::SIG_SETMASK, &most, &mut before);
        let top = stack.as_mut_ptr_range().end.cast();
        let pid = libc::clone(try_calls, top, flags, from_ref(survived).cast_mut().cast());
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
        if pid < 0 {
            return Err(error);
        }
        // It has ended, too, if somebody else has taken its exit code.
        while libc::waitpid(pid, null_mut(), 0) < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
    Ok(())
}

/// What the probe does: it only makes system calls, with arguments that the kernel refuses.
extern "C" fn try_calls(survived: *mut c_void) -> libc::c_int {
    // SAFETY: the number outlives this process, which has signals and limits of its own.
    unsafe {
        let survived = &*survived.cast::<AtomicUsize>();
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        let mut alarm: libc::sigset_t = zeroed();
        libc::sigaddset(&mut alarm, libc::SIGALRM);
        libc::alarm(LIMIT_S);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &alarm, null_mut());
        for (call, _) in ASKED.iter().skip(survived.load(Ordering::Relaxed)) {
            libc::syscall(*call, -1, -1, -1, -1, -1, -1);
            survived.fetch_add(1, Ordering::Relaxed);
        }
        libc::_exit(0)
    }
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
