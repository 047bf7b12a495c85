//! The processor time that the control groups of this process may take.

use super::{groups_of, opened, read};
use std::fs::File;
use std::path::Path;

/// Where quotas stand: version 2, then version 1.
const ROOTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu"];

/// How many processors this process and all others of its control groups may use at a time: 1.5 if
/// they get 150 ms of each 100 ms. What takes more waits. `None` without a quota.
pub fn processor_quota() -> Option<f64> {
    let mut buffer = [0; 8192];
    let own = File::open("/proc/self/cgroup").ok()?;
    let own = read(&own, &mut buffer)?;
    let groups = ROOTS.iter().flat_map(|root| groups_of(own, root, "cpu"));
    groups.filter_map(|group| quota_in(&group)).reduce(f64::min)
}

fn quota_in(group: &Path) -> Option<f64> {
    let text = |name| {
        let mut buffer = [0; 8192];
        let file = opened(&group.join(name)).ok()??;
        read(&file, &mut buffer).map(str::to_owned)
    };
    let both = text("cpu.max").or_else(|| {
        let quota = text("cpu.cfs_quota_us")?;
        Some(quota + " " + &text("cpu.cfs_period_us")?)
    })?;
    // Without a quota it is "max", or -1.
    let mut words = both.split_ascii_whitespace().map(str::parse::<u32>);
    match (words.next()?, words.next()?) {
        (Ok(quota), Ok(period)) if period > 0 => Some(f64::from(quota) / f64::from(period)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_have_quotas() {
        let folder = tempfile::tempdir().expect("a folder");
        let quota = |files: &[(&str, &str)]| {
            let group = tempfile::tempdir_in(&folder).expect("a folder");
            for (name, text) in files {
                std::fs::write(group.path().join(name), text).expect("a file");
            }
            quota_in(group.path())
        };
        assert_eq!(quota(&[("cpu.max", "150000 100000\n")]), Some(1.5));
        assert_eq!(quota(&[("cpu.max", "max 100000\n")]), None);
        let version_1 = |quota_us| {
            quota(&[
                ("cpu.cfs_quota_us", quota_us),
                ("cpu.cfs_period_us", "50000\n"),
            ])
        };
        assert_eq!(version_1("25000\n"), Some(0.5));
        assert_eq!(version_1("-1\n"), None);
        assert_eq!(quota(&[("cpu.cfs_quota_us", "25000\n")]), None);
        assert_eq!(quota(&[]), None);
    }
}
