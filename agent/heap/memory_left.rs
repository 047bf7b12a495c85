//! Memory left: what the system can still give before it kills a process for taking more.
//!
//! A walk that tags takes about 90 bytes for each object, most of them inside the JVM. In a container
//! that may be more than there is, and the application would pay for it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Least that a walk leaves to the application.
pub(super) const RESERVE_BYTES: u64 = 32 << 20;

/// Where the limits of this process's control group stand: version 2, then version 1.
const GROUP_FILES: [(&str, [&str; 4]); 2] = [
    (
        "/sys/fs/cgroup",
        [
            "memory.max",
            "memory.current",
            "memory.stat",
            "inactive_file",
        ],
    ),
    (
        "/sys/fs/cgroup/memory",
        [
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "memory.stat",
            "total_inactive_file",
        ],
    ),
];

/// The machine's and the control group's accounts, opened before the walk, so that it only reads.
#[derive(Debug)]
pub(super) struct MemoryLeft {
    machine: Option<File>,
    group: Option<Group>,
}

/// A control group with a limit.
#[derive(Debug)]
struct Group {
    limit_bytes: u64,
    usage: File,
    stat: File,
    inactive_file: &'static str,
}

impl MemoryLeft {
    /// Opens what there is; a system that tells nothing sets no bound.
    pub(super) fn open() -> Self {
        Self {
            machine: File::open("/proc/meminfo").ok(),
            group: Group::open(),
        }
    }

    /// Bytes left; `None` if the system does not tell. A few small reads, no allocation: fit for the VM thread.
    pub(super) fn bytes(&self) -> Option<u64> {
        let mut buffer = [0; 8192];
        let machine = self.machine.as_ref().and_then(|file| {
            let kibibytes = number_after(read(file, &mut buffer)?, "MemAvailable:")?;
            kibibytes.checked_mul(1024)
        });
        let group = self.group.as_ref().and_then(Group::bytes_left);
        match (machine, group) {
            (Some(machine), Some(group)) => Some(machine.min(group)),
            (machine, group) => machine.or(group),
        }
    }
}

impl Group {
    fn open() -> Option<Self> {
        let mut buffer = [0; 8192];
        let own = File::open("/proc/self/cgroup").ok()?;
        let own = read(&own, &mut buffer)?;
        GROUP_FILES.iter().find_map(|(root, files)| {
            let own_folder = group_path(own, root.ends_with("memory"))?;
            // Inside a container the own path may be that of the host, while the root is the group itself.
            let folders = [
                Path::new(root).join(own_folder.trim_start_matches('/')),
                PathBuf::from(root),
            ];
            folders
                .iter()
                .find_map(|folder| Self::open_in(folder, *files))
        })
    }

    fn open_in(
        folder: &Path,
        [limit, usage, stat, inactive_file]: [&'static str; 4],
    ) -> Option<Self> {
        let mut buffer = [0; 8192];
        let limit = File::open(folder.join(limit)).ok()?;
        // "max" is no number: there is no limit.
        let limit_bytes = read(&limit, &mut buffer)?.trim().parse().ok()?;
        let (usage, stat) = (
            File::open(folder.join(usage)).ok()?,
            File::open(folder.join(stat)).ok()?,
        );
        Some(Self {
            limit_bytes,
            usage,
            stat,
            inactive_file,
        })
    }

    /// The limit less what is used, where cached files that can be dropped do not count.
    fn bytes_left(&self) -> Option<u64> {
        let mut buffer = [0; 8192];
        let usage: u64 = read(&self.usage, &mut buffer)?.trim().parse().ok()?;
        let droppable = read(&self.stat, &mut buffer)
            .and_then(|stat| number_after(stat, self.inactive_file))
            .unwrap_or(0);
        Some(
            self.limit_bytes
                .saturating_sub(usage.saturating_sub(droppable)),
        )
    }
}

/// The path of the memory group in `/proc/self/cgroup`: `0::/path` in version 2, `4:memory:/path` in version 1.
fn group_path(own: &str, version_1: bool) -> Option<&str> {
    own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let fits = if version_1 {
            controllers.split(',').any(|name| name == "memory")
        } else {
            number == "0"
        };
        fits.then_some(path)
    })
}

/// The number behind a name at the start of a line.
fn number_after(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some(name) {
            return None;
        }
        words.next()?.parse().ok()
    })
}

/// The beginning of a file, as far as the buffer reaches and it is text.
fn read<'b>(file: &File, buffer: &'b mut [u8]) -> Option<&'b str> {
    let length = file.read_at(buffer, 0).ok()?;
    std::str::from_utf8(buffer.get(..length)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_behind_their_names() {
        let meminfo = "MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:   23000000 kB\n";
        assert_eq!(number_after(meminfo, "MemAvailable:"), Some(23_000_000));
        assert_eq!(
            number_after("inactive_anon 5\ninactive_file 4096\n", "inactive_file"),
            Some(4096)
        );
        assert_eq!(number_after(meminfo, "Swap:"), None);
    }

    #[test]
    fn the_group_is_found_in_both_versions() {
        assert_eq!(
            group_path("0::/kubepods/pod1\n", false),
            Some("/kubepods/pod1")
        );
        let old = "5:cpu,cpuacct:/a\n4:memory:/b\n0::/c\n";
        assert_eq!(group_path(old, true), Some("/b"));
        assert_eq!(group_path(old, false), Some("/c"));
        assert_eq!(group_path("0::/\n", true), None);
    }

    #[test]
    fn a_group_leaves_its_limit_less_what_cannot_be_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("written")
        };
        write("memory.max", "1000\n");
        write("memory.current", "700\n");
        write("memory.stat", "anon 500\ninactive_file 150\n");
        let files = [
            "memory.max",
            "memory.current",
            "memory.stat",
            "inactive_file",
        ];
        let group = Group::open_in(folder.path(), files).expect("a group");
        assert_eq!(group.bytes_left(), Some(450));
        write("memory.current", "2000\n");
        assert_eq!(group.bytes_left(), Some(0));
        write("memory.max", "max\n");
        assert!(Group::open_in(folder.path(), files).is_none());
    }

    #[test]
    fn this_machine_has_some() {
        assert!(MemoryLeft::open().bytes().is_some_and(|bytes| bytes > 0));
    }
}
