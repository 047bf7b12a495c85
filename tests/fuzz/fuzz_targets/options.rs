//! Fuzzes the agent's option strings, as the JVM's start and a command give them.
#![no_main]

use options::{parse, parse_command, Destination, OptionError, Options, Parsed};

/// What is accepted, and a refusal of one line.
fn accepted(parsed: Result<Parsed, OptionError>) -> Option<Box<Options>> {
    match parsed {
        Ok(Parsed::Options(options)) => Some(options),
        Ok(Parsed::Help) => None,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let at_start = accepted(parse(&text));
    let Some(by_command) = accepted(parse_command(&text)) else {
        // Without an environment, a command may ask for what a start may ask for.
        assert!(at_start.is_none());
        return;
    };
    assert_eq!(at_start.as_ref(), Some(&by_command));
    // A dump of a pattern is found again by it, where the pattern says its folder.
    if let Destination::File(name) = &by_command.destination {
        let path = name.first();
        let file = path.to_str().and_then(|path| path.rsplit('/').next());
        if let (Some(file), Some(_)) = (file, name.folder()) {
            assert!(name.fits(file), "{name:?} {path:?}");
        }
    }
});
