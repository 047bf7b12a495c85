//! The facts about the JVM in a dump's texts. Nothing that the application was given: the command
//! line may hold secrets.

use format::redaction::{Redacted, Redaction};
use hotspot::flags;
use jvm::env::Env;
use options::host::host_name;
use options::Options;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::time::Duration;

/// The collectors by their switches.
const COLLECTORS: [(&str, &str); 7] = [
    ("UseG1GC", "G1"),
    ("UseParallelGC", "Parallel"),
    ("UseSerialGC", "Serial"),
    ("UseZGC", "ZGC"),
    ("UseShenandoahGC", "Shenandoah"),
    ("UseConcMarkSweepGC", "CMS"),
    ("UseEpsilonGC", "Epsilon"),
];

/// The words by their names. Only a dump that is not redacted has those of the host.
pub(in crate::heap) fn jvm_words(
    env: &Env,
    options: &Options,
    engine: &str,
    pause: Duration,
) -> BTreeMap<String, String> {
    let property = |name: &CStr| {
        let value = env.system_property(name).unwrap_or_default();
        String::from_utf8_lossy(&value).into_owned()
    };
    let collector = COLLECTORS
        .iter()
        .find(|(switch, _)| flags::is_on(switch) == Some(true));
    let mut words = vec![
        ("agent", env!("CARGO_PKG_VERSION").to_owned()),
        ("engine", engine.to_owned()),
        ("pause_us", pause.as_micros().to_string()),
        (
            "jvm",
            format!(
                "{} {}",
                property(c"java.vm.name"),
                property(c"java.vm.version")
            ),
        ),
    ];
    words.extend(collector.map(|(_, name)| ("collector", (*name).to_owned())));
    words.extend(redacted(options).map(|word| ("redacted", word.to_owned())));
    if options.redaction.is_nothing() {
        words.extend([
            ("host", host_name()),
            ("pid", std::process::id().to_string()),
        ]);
    }
    let words = words.into_iter();
    words.map(|(name, word)| (name.to_owned(), word)).collect()
}

/// Which values a dump with these options leaves out.
fn redacted(options: &Options) -> Option<&'static str> {
    let by_switch = match (options.primitive_fields, options.primitive_arrays) {
        (false, false) => Redacted::Values,
        (true, false) => Redacted::Arrays,
        (_, true) => Redacted::Nothing,
    };
    let redaction = &options.redaction;
    let what = redaction.what.max(by_switch);
    let all = Redaction {
        what,
        ..Redaction::default()
    };
    options.leaves_out_values().then(|| all.name())
}
