//! Names of VM-anonymous classes (lambdas and lambda forms up to JDK 14), without the suffix that
//! JVMTI appends.

use jvm::env::Env;
use jvm::object::Object;

/// Removes the slash and the class object's hash that follow the name. HotSpot's own dumps do not
/// have them, so classes made from one class file share one name.
pub fn without_hash(env: &Env, class: &Object<'_>, signature: &[u8]) -> Vec<u8> {
    match split(signature) {
        // A class file's name may also end in a number.
        Some((name, hash)) if env.hash(class).ok() == Some(hash) => [name, b";"].concat(),
        _ => signature.to_vec(),
    }
}

/// The part before the last slash, and the number after it.
fn split(signature: &[u8]) -> Option<(&[u8], i32)> {
    let name = signature.strip_prefix(b"L")?.strip_suffix(b";")?;
    let slash = name.iter().rposition(|&byte| byte == b'/')?;
    let digits = std::str::from_utf8(name.get(slash + 1..)?).ok()?;
    let hash = digits.parse().ok().filter(|_| !digits.starts_with('+'))?;
    Some((signature.get(..slash + 1)?, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_behind_a_slash_can_be_a_hash() {
        let name = &b"Lapp/Main$$Lambda$1"[..];
        assert_eq!(
            split(b"Lapp/Main$$Lambda$1/1234567;"),
            Some((name, 1_234_567))
        );
        for other in [
            "Lapp/Main;",
            "LMain;",
            "[I",
            "Lapp/1a;",
            "Lapp/+1;",
            "L/;",
            "",
        ] {
            assert_eq!(split(other.as_bytes()), None, "{other}");
        }
    }
}
