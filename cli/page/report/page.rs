//! The page itself: one file with its style, its script and its data.
//!
//! Nothing from the heap can execute in it: the data is in a block that is not a script and
//! contains no character that could end it, the script only displays the data as text, and a
//! security policy allows the browser only this one script and no loading.

use serde_json::Value;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of a server, which its script asks for more.
const VIEW_STYLE: &str = include_str!("../view/view.css");
const VIEW_SCRIPT: &str = include_str!("../view/view.js");

/// The page with these data, as a file.
pub(crate) fn page(data: &Value) -> String {
    filled(data, STYLE, SCRIPT, "")
}

/// The page with these data for [`view`](crate::page::view): its script may ask where the page
/// comes from.
pub(crate) fn served(data: &Value) -> String {
    let (style, script) = ([STYLE, VIEW_STYLE].concat(), [SCRIPT, VIEW_SCRIPT].concat());
    filled(data, &style, &script, "; connect-src 'self'")
}

fn filled(data: &Value, style: &str, script: &str, more_policy: &str) -> String {
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'{more_policy}",
        hash(style),
        hash(script)
    );
    // In page order, so that no part is searched for the marks of another one.
    let parts = [
        ("%POLICY%", policy.as_str()),
        ("%STYLE%", style),
        ("%DATA%", &escaped(&data.to_string())),
        ("%SCRIPT%", script),
    ];
    let mut page = String::new();
    let mut rest = PAGE;
    for (mark, part) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        page.extend([before, part]);
        rest = after;
    }
    page + rest
}

/// JSON without characters that have a meaning in HTML, or that end a line of a script.
pub(crate) fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// SHA-256 of a text in base 64, for a content security policy.
fn hash(text: &str) -> String {
    base_64(&Sha256::digest(text.as_bytes()))
}

fn base_64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS.get((bits >> (18 - 6 * place) & 63) as usize);
            let letter = letter.filter(|_| place <= chunk.len());
            text.push(char::from(letter.copied().unwrap_or(b'=')));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn data_cannot_end_their_block() {
        let hostile = "</script><script>alert(1)</script><!--&\u{2028}\u{2029}%SCRIPT%";
        let page = page(&json!({ "file": hostile }));
        assert_eq!(page.matches("</script").count(), 2);
        assert_eq!(page.matches(SCRIPT).count(), 1);
        let escaped = escaped(&json!(hostile).to_string());
        assert!(!escaped.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
        let back: String = serde_json::from_str(&escaped).unwrap_or_default();
        assert_eq!(back, hostile);
    }

    #[test]
    fn the_page_names_nothing_outside_of_it() {
        let page = page(&json!({}));
        for word in [
            "src=",
            "href=",
            "@import",
            "url(",
            "fetch(",
            "innerHTML",
            "eval(",
        ] {
            assert!(!page.contains(word), "{word}");
        }
        for mark in ["%POLICY%", "%STYLE%", "%DATA%", "%SCRIPT%"] {
            assert!(!page.contains(mark), "{mark}");
        }
    }

    #[test]
    fn base_64_is_that_of_the_standard() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (text, expected) in cases {
            assert_eq!(base_64(text.as_bytes()), expected);
        }
        assert_eq!(hash("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }
}
