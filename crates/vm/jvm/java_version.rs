//! The version of Java that runs.

use crate::env::Env;

/// The number of the Java version, such as 17; 0 for 8, or if the JVM does not report it.
pub fn java_version(env: &Env) -> u32 {
    let java = env.system_property(c"java.vm.specification.version");
    java.map_or(0, |java| number(&java))
}

/// The number of a Java version ("17"); 0 for "1.8", and for text that is not a number.
fn number(java: &[u8]) -> u32 {
    let number = std::str::from_utf8(java)
        .ok()
        .and_then(|it| it.parse().ok());
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_number() {
        let versions: [&[u8]; 6] = [b"1.8", b"11", b"17", b"101", b"", b"new"];
        assert_eq!(versions.map(number), [0, 11, 17, 101, 0, 0]);
    }
}
