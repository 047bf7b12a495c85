//! Processes that this one has started.

use std::mem::MaybeUninit;

/// Whether one has ended, and this process has waited for it (`getrusage`).
pub fn has_one_ended() -> bool {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the system fills the structure, which consists of numbers: zeroes are valid, too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    // A process that has run has loaded at least a page.
    usage.ru_minflt > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_command_that_has_ended_is_seen() {
        Command::new("true").status().expect("a command");
        assert!(has_one_ended());
    }
}
