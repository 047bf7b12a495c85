//! Huge pages that the system has set aside (hugetlb), as opposed to transparent ones.

/// Whether this process has memory in pages that the system must have set aside before
/// (`-XX:+UseLargePages`). The kernel ends a process that needs a copy of one while none is free
/// (SIGBUS).
pub fn are_used() -> bool {
    let status = std::fs::read_to_string("/proc/self/status");
    status.is_ok_and(|status| huge_kib(&status) > 0)
}

fn huge_kib(status: &str) -> u64 {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("HugetlbPages:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_tells_of_huge_pages() {
        assert_eq!(huge_kib("VmPTE:\t 96 kB\nHugetlbPages:\t  4096 kB\n"), 4096);
        assert_eq!(huge_kib("VmPTE:\t 96 kB\n"), 0);
    }
}
