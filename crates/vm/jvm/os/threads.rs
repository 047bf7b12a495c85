//! The threads of this process, as the kernel knows them, and what they and others do.

use super::seccomp::may_call;
use std::fs;
use std::io::Write;

/// Longest thread name that the kernel keeps, in bytes.
pub const NAME_BYTES: usize = 15;

/// A thread of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsThread {
    /// Its kernel id.
    pub id: libc::pid_t,
    /// Its name, truncated by the kernel; the process's name if it was never set.
    pub name: Vec<u8>,
}

/// All threads of this process; empty if the system does not list them (`/proc/self/task`).
pub fn os_threads() -> Vec<OsThread> {
    let Ok(entries) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let thread = |entry: fs::DirEntry| {
        let mut name = fs::read(entry.path().join("comm")).ok()?;
        name.truncate(name.trim_ascii_end().len());
        let id = entry.file_name().to_str()?.parse().ok()?;
        Some(OsThread { id, name })
    };
    let entries = entries.filter_map(Result::ok);
    entries.filter_map(thread).collect()
}

/// The kernel's id of the calling thread.
pub fn this_thread() -> libc::pid_t {
    // SAFETY: a system call without arguments. The C library has a function for it only since glibc
    // 2.30.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    libc::pid_t::try_from(thread).unwrap_or(0)
}

/// Whether a thread of this process is asleep until something wakes it.
pub fn is_asleep(thread: libc::pid_t) -> bool {
    is_in_state(&format!("/proc/self/task/{thread}/stat"), 'S')
}

/// Whether a process is stopped (SIGSTOP). A tracer's stop is none: it ends by itself.
pub fn is_stopped(process: libc::pid_t) -> bool {
    is_in_state(&format!("/proc/{process}/stat"), 'T')
}

/// Lets the application come before a thread, 0 for the calling one: makes it nicer, as far as the
/// system allows that.
pub fn stand_back(process: libc::pid_t, more_nice: libc::c_int) {
    leave_real_time(process);
    let is_allowed = may_call(&[libc::SYS_getpriority, libc::SYS_setpriority]);
    let Ok(who) = libc::id_t::try_from(process) else {
        return;
    };
    if is_allowed {
        // SAFETY: system calls with plain numbers.
        unsafe {
            let nice = libc::getpriority(libc::PRIO_PROCESS, who);
            libc::setpriority(libc::PRIO_PROCESS, who, nice + more_nice);
        }
    }
}

/// If memory runs out, the kernel kills this process, by its id or `self`, before others, unless
/// the system forbids it.
pub fn be_killed_first(process: &str) {
    let adjustment = format!("/proc/{process}/oom_score_adj");
    let adjustment = fs::File::options().write(true).open(adjustment);
    let _ = adjustment.and_then(|mut file| file.write_all(b"1000"));
}

/// Gives a thread, 0 for the calling one, the ordinary policy of scheduling if it runs in real
/// time: it would come before everything else, whatever its niceness.
pub fn leave_real_time(thread: libc::pid_t) {
    if !may_call(&[libc::SYS_sched_getscheduler, libc::SYS_sched_setscheduler]) {
        return;
    }
    // SAFETY: as zeros, the parameters of the ordinary policy.
    let ordinary: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: system calls with plain numbers, and a variable that outlives them. musl's functions
    // for them do nothing.
    unsafe {
        let policy = libc::syscall(libc::SYS_sched_getscheduler, thread);
        if [libc::SCHED_FIFO, libc::SCHED_RR]
            .map(i64::from)
            .contains(&policy)
        {
            let to = libc::SCHED_OTHER;
            libc::syscall(libc::SYS_sched_setscheduler, thread, to, &ordinary);
        }
    }
}

/// Whether this file says that its process or thread is in this state.
fn is_in_state(stat: &str, wanted: char) -> bool {
    let stat = fs::read_to_string(stat).unwrap_or_default();
    // The name may contain anything, but the last parenthesis ends it; the state follows.
    let state = stat.rsplit_once(") ").map(|(_, state)| state);
    state.is_some_and(|state| state.starts_with(wanted))
}

/// Whether a sleeping thread of this process waits for a lock and not for an event; `true` if that
/// cannot be determined.
///
/// The C library waits for locks with FUTEX_WAIT, and for condition variables with
/// FUTEX_WAIT_BITSET.
pub fn waits_for_lock(thread: libc::pid_t) -> bool {
    /// The bits of a futex operation that hold its command.
    const COMMAND: u64 = 0x7F;
    let Ok(call) = fs::read_to_string(format!("/proc/self/task/{thread}/syscall")) else {
        return true;
    };
    let mut words = call.split_whitespace();
    let number = words.next().and_then(|word| word.parse::<i64>().ok());
    let operation = words
        .nth(1)
        .and_then(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok());
    match (number, operation) {
        (Some(libc::SYS_futex), Some(operation)) => {
            i32::try_from(operation & COMMAND) == Ok(libc::FUTEX_WAIT)
        }
        (Some(_), _) => false,
        (None, _) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_there_under_its_cut_name() {
        let body = || (this_thread(), os_threads());
        let builder = std::thread::Builder::new().name("with a very long name".to_owned());
        let (id, threads) = builder.spawn(body).unwrap().join().unwrap();
        let own = threads.iter().find(|thread| thread.id == id).unwrap();
        assert_eq!(own.name, &b"with a very long name"[..NAME_BYTES]);
    }

    #[test]
    fn a_tracers_stop_is_no_stop() {
        let mut command = std::process::Command::new("sleep");
        let mut process = command.arg("600").spawn().unwrap();
        let pid = libc::pid_t::try_from(process.id()).unwrap();
        let is_traced = || is_in_state(&format!("/proc/{pid}/stat"), 't');
        // SAFETY: about a process of ours, which nobody else waits for.
        unsafe {
            let nothing: *mut libc::c_void = std::ptr::null_mut();
            // Where that is allowed.
            if libc::ptrace(libc::PTRACE_ATTACH, pid, nothing, nothing) == 0 {
                libc::waitpid(pid, std::ptr::null_mut(), 0);
                assert!(is_traced() && !is_stopped(pid));
                libc::ptrace(libc::PTRACE_DETACH, pid, nothing, nothing);
            }
            libc::kill(pid, libc::SIGSTOP);
            libc::waitpid(pid, std::ptr::null_mut(), libc::WUNTRACED);
            assert!(is_stopped(pid));
        }
        process.kill().unwrap();
        process.wait().unwrap();
    }

    #[test]
    fn a_thread_leaves_real_time() {
        // SAFETY: a system call with plain numbers.
        let policy = || unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
        let body = move || {
            let first = libc::sched_param { sched_priority: 1 };
            // SAFETY: a system call with plain numbers, and a variable that outlives it.
            let answer =
                unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_RR, &first) };
            // Where that is allowed.
            assert_eq!(policy() == i64::from(libc::SCHED_RR), answer == 0);
            leave_real_time(0);
            assert_eq!(policy(), i64::from(libc::SCHED_OTHER));
        };
        std::thread::spawn(body).join().unwrap();
    }
}
