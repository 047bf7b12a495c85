//! The memory that the system can still provide before it kills a process.
//!
//! A forked copy takes memory for each page that the application changes. In a container this may
//! be more than there is, and the application would suffer.

#![forbid(unsafe_code)]

mod quota;

pub use quota::processor_quota;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that a dump must leave to the application.
const RESERVE_BYTES: u64 = 32 << 20;
/// The reserve if the kernel kills the whole control group at once: the forked copy does not die
/// first then, and tens of MB may be taken between two checks.
const LARGE_RESERVE_BYTES: u64 = 128 << 20;
/// The reserve is at most the limit divided by this.
const PART_OF_LIMIT: u64 = 16;

/// Memory that was taken between two looks may be taken so many times more before a dump that is
/// given up has given its own memory back.
const FORESEEN_LOOKS: u64 = 4;
/// What was taken in a longer time tells nothing of the next moment.
const RECENT: Duration = Duration::from_secs(1);

/// Files with the limits and usage of this process's control group: version 2, then version 1.
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

/// From this value on, a number means no limit (version 1).
const NO_LIMIT: u64 = 1 << 62;
/// The file that shows whether a group is killed as a whole (version 2; Kubernetes sets it).
const DIES_AS_ONE: &str = "memory.oom.group";
/// The limit from which on the kernel makes all threads of the group wait (version 2).
const SLOWS: &str = "memory.high";

/// The usage files of the machine and the control group. Opened before the pause, so that the pause
/// only reads them.
#[derive(Debug)]
pub struct MemoryLeft {
    machine: Option<File>,
    /// Control groups with a limit. Any of them may reach its limit first.
    groups: Vec<Group>,
    reserve_bytes: u64,
    /// When it was last looked, and what was left.
    last: Mutex<Option<(Instant, u64)>>,
}

/// A control group with a limit.
#[derive(Debug)]
struct Group {
    /// At this limit the kernel kills; `None` if there is none.
    limit_bytes: Option<u64>,
    /// At this limit all threads of the group wait; `None` if there is none, or if the group was
    /// there already.
    slow_bytes: Option<u64>,
    usage: File,
    stat: File,
    inactive_file: &'static str,
}

impl MemoryLeft {
    /// Opens the files that exist. A system without them sets no bound; an error if it has them, or
    /// may have them, and they cannot be opened now.
    pub fn open() -> io::Result<Self> {
        let folders = folders()?;
        let groups = open_all(&folders)?;
        Ok(Self {
            machine: opened(Path::new("/proc/meminfo"))?,
            reserve_bytes: reserve_bytes(&groups, any_dies_as_one(&folders)?),
            groups,
            last: Mutex::default(),
        })
    }

    /// Bytes left, if they are so few that the application may need them; otherwise `None`.
    pub fn too_little(&self) -> Option<u64> {
        self.too_little_for(0)
    }

    /// Bytes left after `more_bytes` more are taken, if these are too few; otherwise `None`.
    pub fn too_little_for(&self, more_bytes: u64) -> Option<u64> {
        let left = self.bytes()?;
        let least = self.reserve_bytes.saturating_add(more_bytes);
        let least = least.saturating_add(self.foreseen_bytes(left, Instant::now()));
        (left < least).then_some(left)
    }

    /// What may be taken until the next look, and then while the dump gives its memory back, if it
    /// is taken as fast as since the last look.
    fn foreseen_bytes(&self, left: u64, now: Instant) -> u64 {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.replace((now, left)) {
            Some((at, before)) if now.duration_since(at) < RECENT => {
                before.saturating_sub(left).saturating_mul(FORESEEN_LOOKS)
            }
            _ => 0,
        }
    }

    /// Bytes left; `None` if the system does not report them. Makes a few small reads and no
    /// allocation, so the VM thread can call it.
    pub fn bytes(&self) -> Option<u64> {
        let mut buffer = [0; 8192];
        let machine = self.machine.as_ref().and_then(|file| {
            let kibibytes = number_after(read(file, &mut buffer)?, "MemAvailable:")?;
            kibibytes.checked_mul(1024)
        });
        let group = self.groups.iter().filter_map(Group::bytes_left).min();
        [machine, group].into_iter().flatten().min()
    }
}

/// The most memory that this process may use: the least limit of its control groups, or the
/// machine's memory. `None` if the system does not report it.
pub fn most_bytes() -> Option<u64> {
    let mut buffer = [0; 8192];
    let groups = folders().and_then(|folders| open_all(&folders)).ok()?;
    let group = groups.iter().filter_map(|group| group.limit_bytes).min();
    let machine = File::open("/proc/meminfo").ok().and_then(|file| {
        let kibibytes = number_after(read(&file, &mut buffer)?, "MemTotal:")?;
        kibibytes.checked_mul(1024)
    });
    [machine, group].into_iter().flatten().min()
}

/// Bytes of this process's page tables: a fork needs as many at once, and the kernel kills for
/// them. 0 if the system does not count them.
pub fn page_table_bytes() -> io::Result<u64> {
    status_bytes("VmPTE:")
}

/// Whether this process has memory in pages that the system must have set aside before
/// (`-XX:+UseLargePages`). The kernel ends a process that needs a copy of one while none is free
/// (SIGBUS).
pub fn uses_huge_pages() -> bool {
    status_bytes("HugetlbPages:").is_ok_and(|bytes| bytes > 0)
}

fn status_bytes(name: &str) -> io::Result<u64> {
    let status = std::fs::read("/proc/self/status")?;
    let kibibytes = number_after(&String::from_utf8_lossy(&status), name);
    Ok(kibibytes.unwrap_or(0).saturating_mul(1024))
}

/// Whether the kernel kills this process's whole control group when one of its processes must be
/// killed for lack of memory.
pub fn group_dies_as_one() -> bool {
    folders()
        .and_then(|folders| any_dies_as_one(&folders))
        .unwrap_or(false)
}

/// The file; `None` if there is none for this process. An error if there may be one.
fn opened(path: &Path) -> io::Result<Option<File>> {
    /// EINTR, EIO, ENOMEM, ENFILE and EMFILE: they tell nothing about the file.
    const TRANSIENT: [i32; 5] = [4, 5, 12, 23, 24];
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error)
            if error
                .raw_os_error()
                .is_some_and(|it| TRANSIENT.contains(&it)) =>
        {
            let why = format!("{}: {error}", path.display());
            Err(io::Error::new(error.kind(), why))
        }
        Err(_) => Ok(None),
    }
}

/// A group's folder, and the names of its files.
type Folder = (PathBuf, [&'static str; 4]);

/// The folders of this process's group and of all groups that contain it.
fn folders() -> io::Result<Vec<Folder>> {
    let mut buffer = [0; 8192];
    let Some(own) = opened(Path::new("/proc/self/cgroup"))? else {
        return Ok(Vec::new());
    };
    let own = read(&own, &mut buffer).unwrap_or("");
    let mut folders = Vec::new();
    for (root, files) in GROUP_FILES {
        let own = groups_of(own, root, "memory");
        folders.extend(own.into_iter().map(|folder| (folder, files)));
    }
    Ok(folders)
}

/// The folder below `root` of this process's group, by its `/proc/self/cgroup`, and of all groups
/// that contain it; of version 1 if the root is named after the controller.
fn groups_of(own: &str, root: &str, controller: &str) -> Vec<PathBuf> {
    let root = Path::new(root);
    let path = group_path(own, root.ends_with(controller).then_some(controller));
    // Inside a container the path may be the host's, while the root is the group itself.
    let folder = path.map(|path| root.join(path.trim_start_matches('/')));
    folder.map_or_else(Vec::new, |folder| up(&folder, root).collect())
}

/// From a folder up to the root.
fn up<'f>(folder: &'f Path, root: &'f Path) -> impl Iterator<Item = PathBuf> + 'f {
    let folders = folder.ancestors();
    let folders = folders.take_while(move |folder| folder.starts_with(root));
    folders.map(Path::to_path_buf)
}

/// The groups that have a limit.
fn open_all(folders: &[Folder]) -> io::Result<Vec<Group>> {
    let groups = folders
        .iter()
        .map(|(folder, files)| Group::open_in(folder, *files));
    groups.filter_map(Result::transpose).collect()
}

/// Whether any of these groups, with a limit or without one, is killed as a whole.
fn any_dies_as_one(folders: &[Folder]) -> io::Result<bool> {
    let mut buffer = [0; 8192];
    for (folder, _) in folders {
        let file = opened(&folder.join(DIES_AS_ONE))?;
        let answer = file.as_ref().and_then(|file| read(file, &mut buffer));
        if answer.is_some_and(|answer| answer.trim() == "1") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Bytes to leave to the application.
fn reserve_bytes(groups: &[Group], dies_as_one: bool) -> u64 {
    if !dies_as_one {
        return RESERVE_BYTES;
    }
    let limits = groups.iter().filter_map(|group| group.limit_bytes);
    let parts = limits.map(|limit| limit / PART_OF_LIMIT);
    let part = parts.min().unwrap_or(LARGE_RESERVE_BYTES);
    part.clamp(RESERVE_BYTES, LARGE_RESERVE_BYTES)
}

impl Group {
    /// `None` if the group has no limit.
    fn open_in(
        folder: &Path,
        [limit, usage, stat, inactive_file]: [&'static str; 4],
    ) -> io::Result<Option<Self>> {
        let mut buffer = [0; 8192];
        let mut limit_in = |name| {
            let file = opened(&folder.join(name))?;
            let text = file.as_ref().and_then(|file| read(file, &mut buffer));
            // "max" is not a number: the group has no limit.
            io::Result::Ok(text.and_then(|text| text.trim().parse::<u64>().ok()))
        };
        let limit_bytes = limit_in(limit)?.filter(|&limit| limit < NO_LIMIT);
        let slow_bytes = limit_in(SLOWS)?;
        if limit_bytes.or(slow_bytes).is_none() {
            return Ok(None);
        }
        let files = (opened(&folder.join(usage))?, opened(&folder.join(stat))?);
        let (Some(usage), Some(stat)) = files else {
            return Ok(None);
        };
        let mut group = Self {
            limit_bytes,
            slow_bytes: None,
            usage,
            stat,
            inactive_file,
        };
        let Some(used_bytes) = group.used_bytes() else {
            return Ok(None);
        };
        let is_below = |slow: &u64| used_bytes.saturating_add(RESERVE_BYTES) < *slow;
        group.slow_bytes = slow_bytes.filter(is_below);
        Ok(Some(group))
    }

    /// The lower limit minus the usage; `None` if there is no limit.
    fn bytes_left(&self) -> Option<u64> {
        let limits = [self.limit_bytes, self.slow_bytes].into_iter().flatten();
        Some(limits.min()?.saturating_sub(self.used_bytes()?))
    }

    /// The usage, not counting cached files that can be dropped.
    fn used_bytes(&self) -> Option<u64> {
        let mut buffer = [0; 8192];
        let usage: u64 = read(&self.usage, &mut buffer)?.trim().parse().ok()?;
        let droppable = read(&self.stat, &mut buffer)
            .and_then(|stat| number_after(stat, self.inactive_file))
            .unwrap_or(0);
        Some(usage.saturating_sub(droppable))
    }
}

/// The path of the group in `/proc/self/cgroup`: `0::/path` in version 2, `4:memory:/path` of this
/// controller in version 1.
fn group_path<'o>(own: &'o str, controller: Option<&str>) -> Option<&'o str> {
    own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let fits = match controller {
            Some(controller) => controllers.split(',').any(|name| name == controller),
            None => number == "0",
        };
        fits.then_some(path)
    })
}

/// The number after a name at the start of a line, as in files of `/proc`.
pub fn number_after(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some(name) {
            return None;
        }
        words.next()?.parse().ok()
    })
}

/// The start of a file, as far as it fits into the buffer and is text.
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
            group_path("0::/kubepods/pod1\n", None),
            Some("/kubepods/pod1")
        );
        let old = "5:cpu,cpuacct:/a\n4:memory:/b\n0::/c\n";
        assert_eq!(group_path(old, Some("memory")), Some("/b"));
        assert_eq!(group_path(old, None), Some("/c"));
        assert_eq!(group_path("0::/\n", Some("memory")), None);
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
        let group = Group::open_in(folder.path(), files)
            .unwrap()
            .expect("a group");
        assert_eq!(group.bytes_left(), Some(450));
        write("memory.current", "2000\n");
        assert_eq!(group.bytes_left(), Some(0));
        write("memory.current", "700\n");
        let slow_bytes = RESERVE_BYTES + 1000;
        write("memory.high", &format!("{slow_bytes}\n"));
        assert_eq!(group.bytes_left(), Some(450));
        write("memory.max", "1000000000000\n");
        let slowed = Group::open_in(folder.path(), files)
            .unwrap()
            .expect("a group");
        assert_eq!(slowed.bytes_left(), Some(slow_bytes - 550));
        // A group that is there already goes on as before.
        write("memory.high", "800\n");
        let slow = Group::open_in(folder.path(), files)
            .unwrap()
            .expect("a group");
        assert_eq!(slow.bytes_left(), Some(1_000_000_000_000 - 550));
        write("memory.max", "max\n");
        let slow = Group::open_in(folder.path(), files)
            .unwrap()
            .expect("a group");
        assert_eq!((slow.limit_bytes, slow.bytes_left()), (None, None));
        write("memory.high", "max\n");
        assert!(Group::open_in(folder.path(), files).unwrap().is_none());
    }

    #[test]
    fn groups_lie_in_groups() {
        let root = tempfile::tempdir().expect("a folder");
        let own = root.path().join("slice/service/own");
        std::fs::create_dir_all(&own).expect("folders");
        let files = [
            "memory.max",
            "memory.current",
            "memory.stat",
            "inactive_file",
        ];
        let limit = |folder: &Path, limit: &str| {
            for (name, text) in [
                ("memory.max", limit),
                ("memory.current", "100"),
                ("memory.stat", ""),
            ] {
                std::fs::write(folder.join(name), text).expect("written");
            }
        };
        limit(&own, "max");
        limit(root.path(), "9223372036854771712");
        limit(&root.path().join("slice/service"), "4294967296");
        limit(&root.path().join("slice"), "1000000000");
        let folders: Vec<Folder> = up(&own, root.path())
            .map(|folder| (folder, files))
            .collect();
        assert_eq!(folders.len(), 4);
        let groups = open_all(&folders).unwrap();
        let left: Vec<_> = groups.iter().filter_map(Group::bytes_left).collect();
        assert_eq!(left, [4_294_967_196, 999_999_900]);
        assert!(!any_dies_as_one(&folders).unwrap());
        // The setting counts even without a limit.
        for (answer, dies_as_one) in [("0\n", false), ("1\n", true)] {
            std::fs::write(own.join(DIES_AS_ONE), answer).expect("written");
            assert_eq!(any_dies_as_one(&folders).unwrap(), dies_as_one);
        }
        assert_eq!(reserve_bytes(&groups, false), RESERVE_BYTES);
        assert_eq!(reserve_bytes(&groups, true), 1_000_000_000 / 16);
        assert_eq!(reserve_bytes(&groups[..1], true), LARGE_RESERVE_BYTES);
        assert_eq!(reserve_bytes(&[], true), LARGE_RESERVE_BYTES);
    }

    #[test]
    fn what_is_left_is_measured_by_the_reserve() {
        let left = MemoryLeft::open().unwrap();
        assert_eq!(left.too_little(), None);
        assert!(left.too_little_for(u64::MAX).is_some());
    }

    #[test]
    fn what_was_taken_fast_is_foreseen() {
        let left = MemoryLeft::open().unwrap();
        let begin = Instant::now();
        let foreseen =
            |millis, bytes| left.foreseen_bytes(bytes, begin + Duration::from_millis(millis));
        assert_eq!(foreseen(0, 900), 0);
        assert_eq!(foreseen(20, 890), 40);
        assert_eq!(foreseen(40, 895), 0);
        assert_eq!(foreseen(50, 595), 1200);
        assert_eq!(foreseen(1050, 295), 0);
    }

    #[test]
    fn this_machine_has_some() {
        assert!(most_bytes().is_some_and(|most| most > 1 << 20));
        assert!(MemoryLeft::open()
            .unwrap()
            .bytes()
            .is_some_and(|bytes| bytes > 0));
    }
}
