//! The bytes of the socket's commands: a tag, a sequence number without meaning, a length, a body.
//! All big-endian.
//!
//! The JDK's agent ignored the length. Here it determines where the next command starts, whatever
//! the tag.

/// Bytes before a body.
const HEAD_BYTES: usize = 9;
/// No command has a body this long.
pub const MOST_BODY_BYTES: usize = 64 << 10;

const FORCE_GC: u8 = 0x01;
const HEAP_DUMP: u8 = 0x02;
const ALLOC_SITES: u8 = 0x03;
const HEAP_SUMMARY: u8 = 0x04;
const EXIT: u8 = 0x05;
const DUMP_TRACES: u8 = 0x06;
const CPU_SAMPLES: u8 = 0x07;
const CONTROL: u8 = 0x08;
/// A lone byte, without sequence number and length.
const NO_MORE: u8 = 0xFF;

/// A command from the peer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Collect garbage.
    ForceGc,
    /// Dump the heap.
    HeapDump,
    /// Report allocation sites.
    AllocSites(SitesWanted),
    /// Report the totals of allocations.
    HeapSummary,
    /// End the process, as the JDK's agent did.
    Exit,
    /// Send all traces.
    DumpTraces,
    /// Report CPU samples.
    CpuSamples {
        /// Least share of a reported row.
        cutoff: f32,
    },
    /// Change what is measured.
    Control(Control),
    /// No more commands follow.
    NoMore,
}

/// Which allocation sites to report, and in which order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SitesWanted {
    /// Only sites that have changed since the last report.
    pub changed_only: bool,
    /// Ordered by allocated, not by live objects.
    pub by_allocated: bool,
    /// Collect garbage first.
    pub force_gc: bool,
    /// Least share of a reported site.
    pub cutoff: f32,
}

/// Changes to what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Allocations: on or off.
    Allocations(bool),
    /// CPU samples: on or off, for one thread or, if it is 0, for all.
    Sampling {
        /// On or off.
        on: bool,
        /// Id of the thread's object, as in the JDK's agent: four bytes, which no id of ours has.
        thread_object: u32,
    },
    /// Reset the costs of methods.
    ClearCpu,
    /// Reset allocations.
    ClearSites,
    /// Most frames of a trace.
    Depth(u16),
}

/// The start of the received bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// An incomplete command: more bytes must arrive.
    Unfinished,
    /// A command.
    Command {
        /// The command.
        command: Command,
        /// Its length in bytes.
        bytes: usize,
    },
    /// A command that cannot be executed: its tag is unknown, or its body is invalid. It can be
    /// skipped.
    Bad {
        /// The tag.
        tag: u8,
        /// Length of its body.
        body_bytes: usize,
        /// The reason, as the end of a sentence.
        why: &'static str,
        /// Its length in bytes.
        bytes: usize,
    },
    /// A command with a body so long that the peer cannot be sending commands.
    TooLong {
        /// The tag.
        tag: u8,
        /// Length of its body.
        body_bytes: usize,
    },
}

/// The next command. Ignores the bytes after it.
pub fn next(input: &[u8]) -> Next {
    let Some(&tag) = input.first() else {
        return Next::Unfinished;
    };
    if tag == NO_MORE {
        return Next::Command {
            command: Command::NoMore,
            bytes: 1,
        };
    }
    let Some(&[_, _, _, _, _, a, b, c, d]) = input.get(..HEAD_BYTES) else {
        return Next::Unfinished;
    };
    let length = u32::from_be_bytes([a, b, c, d]);
    let body_bytes = usize::try_from(length).unwrap_or(usize::MAX);
    if body_bytes > MOST_BODY_BYTES {
        return Next::TooLong { tag, body_bytes };
    }
    let bytes = HEAD_BYTES + body_bytes;
    let Some(body) = input.get(HEAD_BYTES..bytes) else {
        return Next::Unfinished;
    };
    match command(tag, body) {
        Ok(command) => Next::Command { command, bytes },
        Err(why) => Next::Bad {
            tag,
            body_bytes,
            why,
            bytes,
        },
    }
}

fn command(tag: u8, body: &[u8]) -> Result<Command, &'static str> {
    match (tag, body) {
        (FORCE_GC, []) => Ok(Command::ForceGc),
        (HEAP_DUMP, []) => Ok(Command::HeapDump),
        (HEAP_SUMMARY, []) => Ok(Command::HeapSummary),
        (EXIT, []) => Ok(Command::Exit),
        (DUMP_TRACES, []) => Ok(Command::DumpTraces),
        (ALLOC_SITES, &[f, flags, a, b, c, d]) => {
            let flags = u16::from_be_bytes([f, flags]);
            Ok(Command::AllocSites(SitesWanted {
                changed_only: flags & 1 != 0,
                by_allocated: flags & 2 != 0,
                force_gc: flags & 4 != 0,
                cutoff: ratio([a, b, c, d])?,
            }))
        }
        (CPU_SAMPLES, &[_, _, a, b, c, d]) => Ok(Command::CpuSamples {
            cutoff: ratio([a, b, c, d])?,
        }),
        (CONTROL, &[a, b, ref rest @ ..]) => control(u16::from_be_bytes([a, b]), rest),
        (FORCE_GC..=CONTROL, _) => Err("its length is not that of this command"),
        _ => Err("there is no such command"),
    }
}

fn control(code: u16, body: &[u8]) -> Result<Command, &'static str> {
    let control = match (code, body) {
        (1 | 2, []) => Control::Allocations(code == 1),
        (3 | 4, &[a, b, c, d]) => Control::Sampling {
            on: code == 3,
            thread_object: u32::from_be_bytes([a, b, c, d]),
        },
        (5, []) => Control::ClearCpu,
        (6, []) => Control::ClearSites,
        (7, &[a, b]) => Control::Depth(u16::from_be_bytes([a, b])),
        (1..=7, _) => return Err("its length is not that of this control"),
        _ => return Err("there is no such control"),
    };
    Ok(Command::Control(control))
}

/// A cutoff: an IEEE number of 0 or more.
fn ratio(bytes: [u8; 4]) -> Result<f32, &'static str> {
    let cutoff = f32::from_be_bytes(bytes);
    if cutoff.is_finite() && cutoff >= 0.0 {
        Ok(cutoff)
    } else {
        Err("its cutoff is not a ratio")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A command as the peer sends it, with a sequence number that is ignored.
    fn sent(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag, 9, 8, 7, 6];
        bytes.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
        bytes.extend(body);
        bytes
    }

    fn parsed(tag: u8, body: &[u8]) -> Command {
        let input = sent(tag, body);
        match next(&input) {
            Next::Command { command, bytes } => {
                assert_eq!(bytes, input.len());
                command
            }
            other => panic!("{tag}: {other:?}"),
        }
    }

    fn why(tag: u8, body: &[u8]) -> &'static str {
        let input = sent(tag, body);
        match next(&input) {
            Next::Bad { why, bytes, .. } => {
                assert_eq!(bytes, input.len());
                why
            }
            other => panic!("{tag}: {other:?}"),
        }
    }

    #[test]
    fn every_command_is_known() {
        assert_eq!(parsed(1, &[]), Command::ForceGc);
        assert_eq!(parsed(2, &[]), Command::HeapDump);
        assert_eq!(parsed(4, &[]), Command::HeapSummary);
        assert_eq!(parsed(5, &[]), Command::Exit);
        assert_eq!(parsed(6, &[]), Command::DumpTraces);
        for flags in 0..8_u8 {
            let wanted = SitesWanted {
                changed_only: [1, 3, 5, 7].contains(&flags),
                by_allocated: [2, 3, 6, 7].contains(&flags),
                force_gc: [4, 5, 6, 7].contains(&flags),
                cutoff: 0.5,
            };
            // IEEE 754: 0.5 is 0x3F000000.
            let body = [0, flags, 0x3F, 0, 0, 0];
            assert_eq!(parsed(3, &body), Command::AllocSites(wanted));
        }
        assert_eq!(
            parsed(7, &[0, 0, 0x3F, 0, 0, 0]),
            Command::CpuSamples { cutoff: 0.5 }
        );
        assert_eq!(
            next(&[0xFF, 1]),
            Next::Command {
                command: Command::NoMore,
                bytes: 1
            }
        );
    }

    #[test]
    fn numbers_are_big_endian() {
        for (body, control) in [
            (&[0, 1][..], Control::Allocations(true)),
            (&[0, 2], Control::Allocations(false)),
            (
                &[0, 3, 1, 2, 3, 4],
                Control::Sampling {
                    on: true,
                    thread_object: 0x0102_0304,
                },
            ),
            (
                &[0, 4, 0, 0, 0, 0],
                Control::Sampling {
                    on: false,
                    thread_object: 0,
                },
            ),
            (&[0, 5], Control::ClearCpu),
            (&[0, 6], Control::ClearSites),
            (&[0, 7, 1, 2], Control::Depth(0x0102)),
        ] {
            assert_eq!(parsed(8, body), Command::Control(control));
        }
    }

    #[test]
    fn what_is_wrong_can_be_left_out() {
        assert_eq!(why(0, &[]), "there is no such command");
        assert_eq!(why(9, &[1, 2, 3]), "there is no such command");
        assert_eq!(why(0xFE, &[]), "there is no such command");
        assert_eq!(why(1, &[0]), "its length is not that of this command");
        assert_eq!(why(3, &[0, 6]), "its length is not that of this command");
        assert_eq!(why(8, &[0]), "its length is not that of this command");
        assert_eq!(why(8, &[0, 7, 1]), "its length is not that of this control");
        assert_eq!(why(8, &[0, 8]), "there is no such control");
        assert_eq!(why(8, &[7, 0]), "there is no such control");
        // Not a number, and a negative number.
        assert_eq!(
            why(3, &[0, 0, 0x7F, 0xC0, 0, 0]),
            "its cutoff is not a ratio"
        );
        assert_eq!(why(3, &[0, 0, 0xBF, 0, 0, 0]), "its cutoff is not a ratio");
    }

    #[test]
    fn a_body_beyond_the_bound_is_told_before_it_comes() {
        let mut input = sent(0x77, &[]);
        input[5..9].copy_from_slice(&(64_u32 << 10).to_be_bytes());
        assert_eq!(next(&input), Next::Unfinished);
        input[5..9].copy_from_slice(&((64_u32 << 10) + 1).to_be_bytes());
        assert_eq!(
            next(&input),
            Next::TooLong {
                tag: 0x77,
                body_bytes: 65_537
            }
        );
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_every_step_goes_on(input: Vec<u8>) {
            let mut rest = &input[..];
            while let Next::Command { bytes, .. } | Next::Bad { bytes, .. } = next(rest) {
                prop_assert!(bytes > 0 && bytes <= rest.len());
                rest = &rest[bytes..];
            }
        }

        #[test]
        fn a_command_in_pieces_is_the_same_command(tag in 0_u8..0xFF, body: Vec<u8>, next_tag: u8) {
            let whole = sent(tag, &body);
            for end in 0..whole.len() {
                prop_assert_eq!(next(&whole[..end]), Next::Unfinished);
            }
            let mut more = whole.clone();
            more.push(next_tag);
            prop_assert_eq!(format!("{:?}", next(&more)), format!("{:?}", next(&whole)));
        }
    }
}
