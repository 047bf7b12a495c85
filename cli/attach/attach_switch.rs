//! Detects a JVM that lets nobody attach (`-XX:+DisableAttachMechanism`): a SIGQUIT would make it
//! print all stacks.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustix::fs::{fstat, FileType, OFlags};

use crate::proc::inside::Inside;
use crate::proc::jvm_options::Places;
use crate::proc::perf_data::lets_attach;
use crate::proc::process::Process;

/// The switch, without its sign.
const SWITCH: &str = "DisableAttachMechanism";
/// Longer files have no options.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Whether the JVM is known to be closed: by its own word, or else by what it was started with.
/// What is hidden is taken as not there.
pub(crate) fn is_closed(
    process: &Process,
    root: &Inside,
    own_pid: &str,
    user: u32,
    maps: Option<&[u8]>,
) -> bool {
    match lets_attach(root, own_pid, user, maps) {
        Some(does) => !does,
        None => {
            let working = process.folder("cwd").map(Inside).ok();
            let read = |path: &Path| match path.is_absolute() {
                true => text(root, path),
                false => text(working.as_ref()?, path),
            };
            places(process, maps).has_switch(SWITCH, &read)
        }
    }
}

fn places(process: &Process, maps: Option<&[u8]>) -> Places {
    let parts = |name| {
        let bytes = process.read(name).unwrap_or_default();
        let parts = bytes.split(|byte| *byte == 0);
        let texts = parts.map(|part| String::from_utf8_lossy(part).into_owned());
        texts.collect::<Vec<_>>()
    };
    Places {
        command: parts("cmdline").into_iter().skip(1).collect(),
        environment: parts("environ"),
        has_files: maps.is_none_or(|maps| !is_java_8(maps)),
    }
}

/// Java 8 has a folder for the processor above that of its library: `lib/amd64/server/libjvm.so`.
pub(crate) fn is_java_8(maps: &[u8]) -> bool {
    let text = String::from_utf8_lossy(maps);
    let library = text
        .lines()
        .find_map(|line| line.strip_suffix("/libjvm.so"));
    let folder = library.and_then(|path| path.rsplit('/').nth(1));
    folder.is_some_and(|folder| folder != "lib")
}

fn text(folder: &Inside, path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = folder.open(path, flags).ok()?;
    if !FileType::from_raw_mode(fstat(&file).ok()?.st_mode).is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let mut file = File::from(file).take(FILE_BYTES_MAX);
    file.read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_8_is_known_by_its_folders() {
        let maps = |path: &str| format!("7f00-7f01 r-xp 00000000 08:01 42 {path}/libjvm.so\n");
        assert!(is_java_8(
            maps("/usr/lib/jvm/8/jre/lib/amd64/server").as_bytes()
        ));
        assert!(!is_java_8(maps("/usr/lib/jvm/17/lib/server").as_bytes()));
        assert!(!is_java_8(b""));
    }
}
