//! How this command reaches the folders of a JVM: by the JVM's own root, or by this command's where
//! the system hides that.
//!
//! The system hides the root of a process from its own user, too, if the process has capabilities
//! that the user has not, or cannot be dumped (a program with capabilities of its file, one that
//! may be run but not read).

use std::io::{self, ErrorKind};

use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::thread::CapabilitySet;

use crate::proc::c_library::contains;
use crate::proc::inside::{names, Inside};
use crate::proc::process::Process;

/// The library that every JVM has loaded.
pub(crate) const LIBRARY: &[u8] = b"/libjvm.so";

/// What HotSpot calls one of its threads, whatever it runs with.
const ITS_THREAD: &[u8] = b"VM Thread\n";

/// The root of a JVM.
#[derive(Debug)]
pub(crate) struct Reach {
    /// Its root folder.
    pub(crate) root: Inside,
    /// Its map; `None` if the system hides it.
    pub(crate) maps: Option<Vec<u8>>,
}

impl Reach {
    /// Of a process with this text in its `status`. The errors are sentences: it is no JVM, or
    /// cannot be reached.
    pub(crate) fn of(process: &Process, status: &str) -> Result<Self, String> {
        let pid = process.pid;
        let is_own = owner(status).is_some_and(|(user, _)| user == geteuid().as_raw());
        match process.read("maps") {
            Ok(maps) if contains(&maps, LIBRARY) => {
                let root = process.folder("root");
                Ok(Self {
                    root: Inside(root.map_err(|error| told(process, &error.into()))?),
                    maps: Some(maps),
                })
            }
            Ok(_) => Err(format!("process {pid} is not a JVM: it has no libjvm.so")),
            Err(error) if error.kind() == ErrorKind::PermissionDenied && is_own => {
                hidden(process, status)
            }
            Err(error) => Err(told(process, &error)),
        }
    }
}

/// Of a process of this user that the system hides.
fn hidden(process: &Process, status: &str) -> Result<Reach, String> {
    let pid = process.pid;
    let own = Process::find(own_pid()).and_then(|own| {
        let status = own.text("status").map_err(|error| told(&own, &error))?;
        Ok((own, status))
    });
    let (own, own_status) = own?;
    let why = why_hidden(status, &own_status);
    // The system tells everybody of its mounts. A mount has its number in one namespace alone.
    let mounts = |of: &Process| root_mount(&of.text("mountinfo").unwrap_or_default());
    let is_same = mounts(process).is_some_and(|root| mounts(&own) == Some(root));
    if !is_same {
        return Err(format!(
            "the folders of process {pid} are hidden from this user, whose process it is: {why}; it has other mounts than this \
             command, so try as root"
        ));
    }
    if !has_its_thread(process) {
        return Err(format!(
            "process {pid} is not a JVM: it has no thread with the name VM Thread"
        ));
    }
    let root = own.folder("root");
    Ok(Reach {
        root: Inside(root.map_err(|error| told(&own, &error.into()))?),
        maps: None,
    })
}

/// Why a process cannot be read.
pub(crate) fn told(process: &Process, error: &io::Error) -> String {
    let pid = process.pid;
    match error.kind() {
        ErrorKind::PermissionDenied => {
            format!("process {pid} is another user's: try as that user, or as root")
        }
        _ if has_no_memory(error) => {
            format!("process {pid} has no memory: it has ended, or is the kernel's")
        }
        _ => format!("process {pid} cannot be inspected: {error}"),
    }
}

fn has_no_memory(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::SRCH | Errno::NOENT)
    )
}

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// The text after a name in `/proc/PID/status`.
pub(crate) fn value<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    let mut lines = status.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

/// The bits after a name in `/proc/PID/status`.
pub(crate) fn mask(status: &str, name: &str) -> Option<u64> {
    u64::from_str_radix(value(status, name)?.trim(), 16).ok()
}

/// The effective user and group of the process. The owner of its folder in /proc may be root
/// instead.
pub(crate) fn owner(status: &str) -> Option<(u32, u32)> {
    let effective = |name| value(status, name)?.split_whitespace().nth(1)?.parse().ok();
    Some((effective("Uid")?, effective("Gid")?))
}

/// The memory of the process: what is in use, what is on a disk, and pages of other sizes.
pub(crate) fn memory_bytes(status: &str) -> u64 {
    let parts = ["VmRSS", "VmSwap", "HugetlbPages"].map(|name| {
        let number =
            value(status, name).and_then(|text| text.split_whitespace().next()?.parse().ok());
        number.unwrap_or(0_u64)
    });
    parts.iter().fold(0, |all: u64, part| {
        all.saturating_add(part.saturating_mul(1 << 10))
    })
}

/// Why the system hides a process from its own user, whose own process has the other text.
fn why_hidden(status: &str, own: &str) -> String {
    let capabilities = |status| mask(status, "CapPrm").unwrap_or_default();
    let more = capabilities(status) & !capabilities(own);
    let bits = (0..64).filter(|bit| more & (1 << bit) != 0);
    let names = bits.map(|bit| {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        let name = capability.iter_names().next();
        name.map_or(bit.to_string(), |(name, _)| {
            format!("cap_{}", name.to_lowercase())
        })
    });
    let names: Vec<String> = names.collect();
    if !names.is_empty() {
        return format!("it has more capabilities ({})", names.join(", "));
    }
    let group = |status| value(status, "Gid").map(str::trim);
    match group(status) == group(own) {
        true => "it is not dumpable, as java is with setcap".to_owned(),
        false => "it has another group".to_owned(),
    }
}

/// The number of the mount that is the root of a process with this `mountinfo`; `None` if its root
/// is no mount.
fn root_mount(mounts: &str) -> Option<String> {
    // The last one hides those before.
    let mut mounts = mounts.lines().rev().map(|line| line.split(' '));
    mounts.find_map(|mut words| {
        let number = words.next()?;
        (words.nth(3)? == "/").then(|| number.to_owned())
    })
}

/// Whether a thread has a name that only HotSpot gives.
pub(crate) fn has_its_thread(process: &Process) -> bool {
    let threads = process.folder("task").and_then(|folder| names(&folder));
    let mut threads = threads.unwrap_or_default().into_iter();
    threads.any(|thread| {
        let name = process.read(format!("task/{thread}/comm"));
        name.is_ok_and(|name| name == ITS_THREAD)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn all_memory_counts() {
        let status = "VmPeak:\t 99 kB\nVmRSS:\t    5 kB\nVmSwap:\t 2 kB\nHugetlbPages:\t 1 kB\n";
        assert_eq!(memory_bytes(status), 8 << 10);
        assert_eq!(memory_bytes("VmRSS: x kB\n"), 0);
    }

    #[test]
    fn the_cause_has_a_name() {
        let status = |bits: &str, group| format!("Gid:\t{group}\t{group}\nCapPrm:\t{bits}\n");
        let why = |bits, group| why_hidden(&status(bits, group), &status("0000000000000001", 7));
        assert_eq!(
            why("0000400000000401", 7),
            "it has more capabilities (cap_net_bind_service, 46)"
        );
        assert_eq!(why("0000000000000000", 8), "it has another group");
        assert!(why("0000000000000001", 7).starts_with("it is not dumpable"));
    }

    #[test]
    fn a_root_is_known_by_its_mount() {
        let mounts = "1 0 8:1 / / rw - ext4 a rw\n22 1 0:21 / /proc rw shared:3 - proc proc rw\n";
        assert_eq!(root_mount(mounts).unwrap(), "1");
        let over = format!("{mounts}30 1 8:2 / / rw - ext4 b rw\n");
        assert_eq!(root_mount(&over).unwrap(), "30");
        // A folder that is no mount.
        assert_eq!(root_mount("22 1 0:21 / /proc rw - proc proc rw\n"), None);
        assert_eq!(root_mount("x\n"), None);
        let own = Process::find(own_pid()).unwrap();
        assert!(!has_its_thread(&own));
    }
}
