//! A command that reads what the agent writes.
//!
//! `posix_spawn` starts it without a copy of the process, however large that is, and without the
//! handlers that libraries have registered for forks. The command has a process group of its own,
//! so that all its processes can be ended.

use super::answers::{done, ended};
use super::seccomp::{check as check_calls, may_call};
use super::threads;
use parking_lot::Mutex;
use std::ffi::{c_char, c_int, CStr, CString};
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between two checks whether a command has ended.
const LOOK: Duration = Duration::from_millis(10);
/// How long a command that is asked to end may take.
const GRACE: Duration = Duration::from_secs(5);

/// The commands that run.
static RUNNING: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// A process that this one has started. The application may wait for all children, and its number
/// may be another's then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: libc::pid_t,
    /// The start time, in ticks of the system's clock; `None` if the system does not report it.
    started: Option<u64>,
}

impl Process {
    fn of(pid: libc::pid_t) -> Self {
        let started = started(pid);
        Self { pid, started }
    }

    /// Whether the number is still this process's: nobody has waited for it.
    fn is_there(self) -> bool {
        let Ok(id) = libc::id_t::try_from(self.pid) else {
            return false;
        };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: a value of plain words may be zero, and it outlives the call, which takes nothing
        // from this child.
        let answer = unsafe {
            let mut state: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, id, &mut state, flags)
        };
        answer == 0 && started(self.pid) == self.started
    }

    /// Sends the signal to its group, which is the command's until somebody has waited for the
    /// command.
    fn signal_group(self, signal: i32) {
        if self.is_there() {
            // SAFETY: numbers.
            unsafe { libc::kill(-self.pid, signal) };
        }
    }
}

/// When this process started.
fn started(pid: libc::pid_t) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain anything, but the last parenthesis ends it. The start is the 22nd word,
    // the state the third.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

extern "C" {
    /// The environment of this process.
    static environ: *const *mut c_char;
}

/// `posix_spawn_file_actions_addclosefrom_np` (glibc 2.34).
type AddCloseFrom = unsafe extern "C" fn(*mut libc::posix_spawn_file_actions_t, c_int) -> c_int;

/// How a command has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited, with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// The application took the exit code, or makes the kernel discard it.
    Unknown,
}

impl fmt::Display for End {
    /// As the end of a sentence.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(out, "ended with exit code {code}"),
            Self::Signal(signal) => write!(out, "was ended by signal {signal}"),
            Self::Unknown => out.write_str("ended, and the application took its exit code"),
        }
    }
}

/// A command that was started. Dropping it ends it.
#[derive(Debug)]
pub struct Command {
    process: Process,
    end: Option<End>,
}

impl Command {
    /// Starts it with `/bin/sh -c`, and returns its standard input, which does not block. What it
    /// prints goes to this process's stderr. It gets no other descriptor.
    pub fn start(text: &str) -> io::Result<(OwnedFd, Self)> {
        let (read, write) = pipe()?;
        unblock(&write)?;
        let words = [c"sh".to_owned(), c"-c".to_owned(), CString::new(text)?];
        let command = Self::spawn(c"/bin/sh", &words, &Actions::new(&read, 2)?)?;
        Ok((write, command))
    }

    /// Starts the program of this file, and returns its standard input and its standard output,
    /// which do not block. Otherwise like [`Command::start`].
    pub fn start_file(file: &Path, arguments: &[&str]) -> io::Result<(OwnedFd, OwnedFd, Self)> {
        let (read, write) = pipe()?;
        let (answer, output) = pipe()?;
        unblock(&write)?;
        unblock(&answer)?;
        let program = CString::new(file.as_os_str().as_bytes())?;
        let mut words = vec![program.clone()];
        for &argument in arguments {
            words.push(CString::new(argument)?);
        }
        let actions = Actions::new(&read, output.as_raw_fd())?;
        let command = Self::spawn(&program, &words, &actions)?;
        Ok((write, answer, command))
    }

    fn spawn(program: &CStr, words: &[CString], actions: &Actions) -> io::Result<Self> {
        let mut arguments: Vec<*mut c_char> =
            words.iter().map(|word| word.as_ptr().cast_mut()).collect();
        arguments.push(null_mut());
        let attributes = Attributes::new()?;
        let mut pid = 0;
        // SAFETY: initialised values and null-terminated arrays, which outlive the call.
        let answer = unsafe {
            libc::posix_spawn(
                &mut pid,
                program.as_ptr(),
                &actions.0,
                &attributes.0,
                arguments.as_ptr(),
                environ,
            )
        };
        check(answer)?;
        let process = Process::of(pid);
        RUNNING.lock().push(process);
        Ok(Self { process, end: None })
    }

    /// Lets the application come first: the command gets less of the processors, and if it
    /// `dies_first`, the kernel kills it before the application when memory runs out.
    pub fn stand_back(&self, more_nice: c_int, dies_first: bool) {
        // It has one thread so far.
        threads::stand_back(self.process.pid, more_nice);
        // If the system forbids it, the command still ends once memory is short.
        if dies_first {
            threads::be_killed_first(&self.process.pid.to_string());
        }
    }

    /// Waits up to `limit` for its end; `None` if it still runs.
    pub fn wait(&mut self, limit: Duration) -> Option<End> {
        let began = Instant::now();
        loop {
            if self.end.is_none() {
                self.end = self.look();
            }
            if self.end.is_some() || began.elapsed() >= limit {
                return self.end;
            }
            sleep(LOOK);
        }
    }

    /// How it ended; `None` if it still runs. Takes the status of this process alone.
    fn look(&self) -> Option<End> {
        let status = ended(self.process.pid, libc::WNOHANG)?;
        RUNNING.lock().retain(|process| *process != self.process);
        Some(match status {
            None => End::Unknown,
            Some(status) if libc::WIFSIGNALED(status) => End::Signal(libc::WTERMSIG(status)),
            Some(status) => End::Code(libc::WEXITSTATUS(status)),
        })
    }
}

impl Drop for Command {
    /// Asks all its processes to end, and makes them if they do not.
    fn drop(&mut self) {
        for signal in [libc::SIGTERM, libc::SIGKILL] {
            if self.wait(Duration::ZERO).is_some() {
                return;
            }
            self.process.signal_group(signal);
            self.wait(GRACE);
        }
    }
}

/// Asks all commands that run to end, because the process ends and their input with it: they must
/// not take what they have for a whole dump.
pub fn end_all() {
    for process in &*RUNNING.lock() {
        process.signal_group(libc::SIGTERM);
    }
}

/// Both ends of a pipe, above the standard descriptors, closed by every other command.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    check_calls(&[libc::SYS_pipe2, libc::SYS_execve, libc::SYS_setpgid])?;
    let mut ends = [-1; 2];
    // SAFETY: room for two descriptors.
    done(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // SAFETY: just opened, and nobody else's.
    let [read, write] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    // A duplicate is above the standard descriptors.
    Ok((read.try_clone()?, write.try_clone()?))
}

fn unblock(end: &OwnedFd) -> io::Result<()> {
    // SAFETY: an open descriptor; a number.
    done(unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) })
}

fn check(answer: c_int) -> io::Result<()> {
    match answer {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// What the command's process does with its descriptors.
struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    /// Standard input from `read`, standard output to `output`, stderr as it is, and nothing else.
    fn new(read: &OwnedFd, output: c_int) -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: it initialises the value, or fails.
        let mut actions = unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            Self(actions.assume_init())
        };
        // SAFETY: an initialised value; numbers.
        unsafe {
            let add = libc::posix_spawn_file_actions_adddup2;
            check(add(&mut actions.0, read.as_raw_fd(), 0))?;
            check(add(&mut actions.0, output, 1))?;
        }
        actions.close_others()?;
        Ok(actions)
    }

    fn close_others(&mut self) -> io::Result<()> {
        let name = c"posix_spawn_file_actions_addclosefrom_np";
        // SAFETY: a C string.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        if !address.is_null() && may_call(&[libc::SYS_close_range]) {
            // SAFETY: the function of this name has this signature since it is there.
            let add = unsafe { std::mem::transmute::<*mut libc::c_void, AddCloseFrom>(address) };
            // SAFETY: an initialised value; a number.
            return check(unsafe { add(&mut self.0, 3) });
        }
        // One that another thread opens right now is closed too, if that thread asked for it
        // (O_CLOEXEC).
        for entry in std::fs::read_dir("/proc/self/fd")? {
            let number = entry?
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            if let Some(number @ 3..) = number {
                // SAFETY: an initialised value; a number. One that is closed by then is no error.
                check(unsafe { libc::posix_spawn_file_actions_addclose(&mut self.0, number) })?;
            }
        }
        Ok(())
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`; nothing uses it any more.
        unsafe { libc::posix_spawn_file_actions_destroy(&mut self.0) };
    }
}

/// What else the command's process does: a group of its own, all signals as usual.
struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: it initialises the value, or fails.
        let mut attributes = unsafe {
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            Self(attributes.assume_init())
        };
        let flags = libc::POSIX_SPAWN_SETPGROUP
            | libc::POSIX_SPAWN_SETSIGMASK
            | libc::POSIX_SPAWN_SETSIGDEF;
        let flags = libc::c_short::try_from(flags).map_err(io::Error::other)?;
        // SAFETY: initialised values and signal sets, which outlive the calls.
        unsafe {
            let mut signals: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut signals);
            check(libc::posix_spawnattr_setsigmask(
                &mut attributes.0,
                &signals,
            ))?;
            libc::sigfillset(&mut signals);
            check(libc::posix_spawnattr_setsigdefault(
                &mut attributes.0,
                &signals,
            ))?;
            check(libc::posix_spawnattr_setpgroup(&mut attributes.0, 0))?;
            check(libc::posix_spawnattr_setflags(&mut attributes.0, flags))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`; nothing uses it any more.
        unsafe { libc::posix_spawnattr_destroy(&mut self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{read_to_string, File};
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    /// Ample for a shell; nothing waits this long unless it is stuck.
    const LIMIT: Duration = Duration::from_secs(60);

    fn ended(text: &str) -> Option<End> {
        Command::start(text).expect("a shell").1.wait(LIMIT)
    }

    #[test]
    fn ends_are_told_apart() {
        assert_eq!(ended("exit 0"), Some(End::Code(0)));
        assert_eq!(ended("exit 42"), Some(End::Code(42)));
        assert_eq!(ended("kill -9 $$"), Some(End::Signal(9)));
        assert_eq!(
            ended("no_such_command_is_there 2> /dev/null"),
            Some(End::Code(127))
        );
    }

    #[test]
    fn it_reads_what_is_written_and_has_no_other_descriptor() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        // One that nobody marked to be closed.
        let open = File::open("/dev/null").expect("a file");
        // SAFETY: a plain system call.
        let leaked = unsafe { libc::fcntl(open.as_raw_fd(), libc::F_DUPFD, 100) };
        let text = format!("{{ cat; ls /proc/self/fd; }} > {}", out.display());
        let (input, mut command) = Command::start(&text).expect("a shell");
        // It does not block: at most a pipe's length fits.
        let mut input = File::from(input);
        input.write_all(b"word\n").expect("written");
        assert_eq!(command.wait(Duration::ZERO), None);
        drop(input);
        assert_eq!(command.wait(LIMIT), Some(End::Code(0)));
        let told = read_to_string(&out).expect("told");
        // Of `ls` itself: the folder that it lists.
        assert_eq!(told, "word\n0\n1\n2\n3\n");
        // SAFETY: a plain system call.
        unsafe { libc::close(leaked) };
    }

    #[test]
    fn a_number_that_may_be_anothers_gets_no_signal() {
        let (input, mut command) = Command::start("cat").expect("a shell");
        let process = command.process;
        assert!(process.is_there());
        let earlier = Process {
            started: process.started.map(|ticks| ticks - 1),
            ..process
        };
        assert!(!earlier.is_there(), "another process had the number before");
        drop(input);
        // As the application may do.
        // SAFETY: no status is asked for.
        let waited = unsafe { libc::waitpid(process.pid, null_mut(), 0) };
        assert_eq!(waited, process.pid);
        assert!(!process.is_there());
        assert_eq!(command.wait(LIMIT), Some(End::Unknown));
    }

    #[test]
    fn a_file_answers_what_it_reads() {
        let started = Command::start_file(Path::new("/bin/sh"), &["-c", "cat; echo $0", "word"]);
        let (input, answer, mut command) = started.expect("a shell");
        command.stand_back(5, true);
        let mut answer = File::from(answer);
        let none = answer.read(&mut [0]).expect_err("nothing yet").kind();
        assert_eq!(none, io::ErrorKind::WouldBlock);
        File::from(input).write_all(b"asked\n").expect("written");
        assert_eq!(command.wait(LIMIT), Some(End::Code(0)));
        let mut told = String::new();
        answer.read_to_string(&mut told).expect("told");
        assert_eq!(told, "asked\nword\n");
    }

    #[test]
    fn a_full_pipe_does_not_block() {
        let (input, command) = Command::start("exec sleep 600").expect("a shell");
        let mut input = File::from(input);
        let error = (0..1000).find_map(|_| input.write(&[0; 65_536]).err());
        let kind = error.map(|error| error.kind());
        assert_eq!(kind, Some(io::ErrorKind::WouldBlock));
        crate::os::room::wait(input.as_fd(), Duration::from_millis(1));
        let pid = command.process.pid;
        drop(command);
        // SAFETY: only checks whether the process exists.
        assert_eq!(unsafe { libc::kill(pid, 0) }, -1);
    }

    #[test]
    fn all_its_processes_end_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let text = format!(
            "(echo $$ > {0}.part && mv {0}.part {0}; cat) | cat",
            out.display()
        );
        let (input, command) = Command::start(&text).expect("a shell");
        while !out.exists() {
            std::thread::yield_now();
        }
        let group = command.process.pid;
        drop(command);
        // The others are not our children: they are gone once init has waited for them.
        // SAFETY: only checks whether the group exists.
        while unsafe { libc::kill(-group, 0) } == 0 {
            std::thread::yield_now();
        }
        drop(input);
    }
}
