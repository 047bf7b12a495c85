//! The mappings of a process with what of them is in memory (`/proc/PID/smaps`,
//! proc_pid_smaps(5)).

use std::ops::Range;

/// A mapped range of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// Its addresses.
    pub(crate) range: Range<u64>,
    /// `rwxp`: readable, writable, executable, private. Each is a letter or a dash.
    flags: [u8; 4],
    /// The file's path, a word in brackets, or nothing.
    pub(crate) name: String,
    /// Bytes that are in memory.
    pub(crate) resident_bytes: u64,
    /// Whether the kernel does not count it for what it has promised (`MAP_NORESERVE`). HotSpot
    /// has what it uses counted.
    pub(crate) is_uncounted: bool,
}

impl Mapping {
    /// The mappings in address order, as the kernel lists them. Lines of another form are skipped.
    pub(crate) fn all(smaps: &str) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for line in smaps.lines() {
            if let Some(mapping) = Self::parse(line) {
                all.push(mapping);
            } else if let Some(flags) = line.strip_prefix("VmFlags:") {
                if let Some(mapping) = all.last_mut() {
                    mapping.is_uncounted = flags.split(' ').any(|flag| flag == "nr");
                }
            } else if let Some((name, value)) = line.split_once(':') {
                // Huge pages of hugetlbfs are not in Rss.
                let counts = ["Rss", "Private_Hugetlb", "Shared_Hugetlb"].contains(&name);
                let kib = value.trim().strip_suffix(" kB").filter(|_| counts);
                let kib: Option<u64> = kib.and_then(|kib| kib.parse().ok());
                if let (Some(mapping), Some(kib)) = (all.last_mut(), kib) {
                    let bytes = kib.saturating_mul(1 << 10);
                    mapping.resident_bytes = mapping.resident_bytes.saturating_add(bytes);
                }
            }
        }
        all
    }

    /// `7f3b0000-7f3c0000 rw-p 00000000 00:00 0   name`
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let hex = |text| u64::from_str_radix(text, 16).ok();
        let range = hex(start)?..hex(end)?;
        let flags = words.next()?.as_bytes().first_chunk()?;
        Some(Self {
            range,
            flags: *flags,
            name: words.nth(3).unwrap_or_default().trim().to_owned(),
            resident_bytes: 0,
            is_uncounted: false,
        })
    }

    /// Whether it has no file and no name.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.name.is_empty() || self.name.starts_with("[anon")
    }

    /// Whether it is anonymous memory that can be read and written.
    pub(crate) fn is_data(&self) -> bool {
        self.is_anonymous() && self.flags.starts_with(b"rw-")
    }

    /// Whether it is anonymous and only keeps its addresses: nothing can be read.
    pub(crate) fn is_reserve(&self) -> bool {
        self.is_anonymous() && self.flags.starts_with(b"---")
    }

    /// Whether it can be written.
    pub(crate) fn is_writable(&self) -> bool {
        matches!(self.flags, [_, b'w', ..])
    }

    /// Whether it is executable.
    pub(crate) fn is_executable(&self) -> bool {
        matches!(self.flags, [_, _, b'x', _])
    }

    /// Number of addresses.
    pub(crate) fn bytes(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_an_entry_is_read() {
        let smaps = "7f01000-7f02000 r-xp 00001000 fe:01 1234     /usr/lib/two words.so\n\
            Size:                  4 kB\nRss:                   4 kB\nPss:                   1 kB\n\
            7f03000-7f04000 ---p 00000000 00:00 0 \nRss:                   0 kB\n\
            7f04000-7f05000 rw-p 00000000 00:00 0                          [anon: glibc: malloc]\n\
            Rss:                   8 kB\nPrivate_Hugetlb:    2048 kB\nVmFlags: rd wr nr \n";
        let all = Mapping::all(smaps);
        assert_eq!(all.len(), 3);
        assert_eq!(all[0].name, "/usr/lib/two words.so");
        assert_eq!((all[0].bytes(), all[0].resident_bytes), (4096, 4096));
        assert!(all[0].is_executable() && !all[0].is_anonymous());
        assert!(all[1].is_reserve() && !all[1].is_data());
        assert!(all[2].is_data() && all[2].is_uncounted && !all[0].is_uncounted);
        assert_eq!(all[2].resident_bytes, 2056 << 10);
    }

    #[test]
    fn this_process_has_mappings() {
        let smaps = std::fs::read("/proc/self/smaps").unwrap();
        let all = Mapping::all(&String::from_utf8_lossy(&smaps));
        let here = this_process_has_mappings as *const () as u64;
        let code = all.iter().find(|mapping| mapping.range.contains(&here));
        let code = code.unwrap();
        assert!(code.is_executable() && code.resident_bytes > 0);
    }
}
