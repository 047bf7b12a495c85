//! Fuzzes the facts about the JVM in a dump's texts: parsed facts can be written again, and secrets
//! lie within the text.
#![no_main]

use format::JvmFacts;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut facts = JvmFacts::default();
    for text in bytes.split(|byte| *byte == 0) {
        let text = match text.split_first() {
            Some((b'f', lines)) => [b"hprof-rs/facts 1\n", lines].concat(),
            Some((b's', sizes)) => [b"hprof-rs/sizes 1\n", sizes].concat(),
            _ => text.to_vec(),
        };
        let secrets = JvmFacts::secrets(&text);
        let mut end = 0;
        for secret in secrets.iter().flatten() {
            assert!(end <= secret.start && secret.start <= secret.end && secret.end <= text.len());
            end = secret.end;
        }
        facts.take(&text);
    }
    let mut again = JvmFacts::default();
    facts.texts().iter().for_each(|text| assert!(again.take(text.as_bytes())));
    assert!(again.classes == facts.classes && again.sizes == facts.sizes);
});
