//! Class names as the JVM has them, shown as Java source has them.

use std::fmt::{self, Formatter};

use format::BasicType;

use crate::text::{plain, utf8, write_word};

/// What is shown for a class that has no name.
const UNKNOWN_CLASS: &str = "Unknown_class";

/// A class's name; shown in the form of Java source, `java.lang.String` and `byte[][]`.
///
/// Bytes are modified UTF-8. A hidden class keeps the slash before its number, as `Class.getName`
/// has it: `Main$$Lambda/0x7f`. Blanks and control characters become `\u` and four digits, so that a
/// name is always one word. What is no name is shown as `Unknown_class`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassName<'a> {
    bytes: &'a [u8],
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    /// `Ljava/lang/String;`, `[I`, `I`
    Signature,
    /// `java/lang/String`
    Plain,
}

impl<'a> ClassName<'a> {
    /// A class whose name is not known.
    pub const UNKNOWN: Self = Self {
        bytes: b"",
        form: Form::Signature,
    };

    /// The class with this signature, as JVMTI gives it: `Ljava/lang/String;`, `[I`; `I` is `int`.
    pub fn from_signature(signature: &'a [u8]) -> Self {
        Self {
            bytes: signature,
            form: Form::Signature,
        }
    }

    /// The class with this name in HotSpot's form: `java/lang/String`, `[I`; `I` is a class called I.
    pub fn from_name(name: &'a [u8]) -> Self {
        let form = match name {
            [] | [b'[', ..] => Form::Signature,
            _ => Form::Plain,
        };
        Self { bytes: name, form }
    }

    /// The kind of array as ALLOC SITES numbers it (format text): 0 for what is no array, the type of
    /// the elements for an array of primitive values, 2 for an array of references or of arrays.
    pub fn array_kind(&self) -> u8 {
        let element = match (self.form, self.bytes) {
            (Form::Signature, [b'[', element, ..]) => *element,
            _ => return 0,
        };
        BasicType::from_descriptor(element).map_or(0, BasicType::code)
    }

    /// How many arrays are nested in it, 0 for a class that is none, and what they hold in the end.
    fn split(&self) -> (usize, Element<'a>) {
        if self.form == Form::Plain {
            return (0, Element::Class(self.bytes));
        }
        let dimensions = self.bytes.iter().take_while(|&&b| b == b'[').count();
        let element = self.bytes.get(dimensions..).unwrap_or_default();
        (dimensions, Element::of(element))
    }
}

enum Element<'a> {
    Class(&'a [u8]),
    Word(&'static str),
}

impl<'a> Element<'a> {
    fn of(descriptor: &'a [u8]) -> Self {
        match descriptor {
            [b'L', name @ .., b';'] if !name.is_empty() => Self::Class(name),
            [letter] => Self::Word(primitive(*letter).unwrap_or(UNKNOWN_CLASS)),
            _ => Self::Word(UNKNOWN_CLASS),
        }
    }
}

fn primitive(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'Z' => "boolean",
        b'C' => "char",
        b'F' => "float",
        b'D' => "double",
        b'B' => "byte",
        b'S' => "short",
        b'I' => "int",
        b'J' => "long",
        b'V' => "void",
        _ => return None,
    })
}

impl fmt::Display for ClassName<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (dimensions, element) = self.split();
        match element {
            Element::Word(word) => out.write_str(word)?,
            Element::Class(name) => match plain(name) {
                Some(name) if !name.contains(['.', '+']) => write_dotted(name, out)?,
                _ => write_word(&dotted(&utf8(name)), out)?,
            },
        }
        (0..dimensions).try_for_each(|_| out.write_str("[]"))
    }
}

/// Packages by dots, without a copy.
fn write_dotted(internal: &str, out: &mut Formatter<'_>) -> fmt::Result {
    let mut parts = internal.split('/');
    out.write_str(parts.next().unwrap_or_default())?;
    parts.try_for_each(|part| {
        out.write_str(".")?;
        out.write_str(part)
    })
}

/// Packages by dots, the number of a hidden class by a slash: JVMTI sets it off by a dot, HotSpot by a plus.
fn dotted(internal: &str) -> String {
    let swapped = |character| match character {
        '/' => '.',
        '.' => '/',
        other => other,
    };
    match internal.rfind("+0x").map(|plus| internal.split_at(plus)) {
        Some((class, number)) => {
            let class: String = class.chars().map(swapped).collect();
            format!("{class}/{}", number.trim_start_matches('+'))
        }
        None => internal.chars().map(swapped).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_signature(signature: &str) -> String {
        ClassName::from_signature(signature.as_bytes()).to_string()
    }

    #[test]
    fn signatures_become_source() {
        for (signature, source) in [
            ("Ljava/lang/String;", "java.lang.String"),
            ("[B", "byte[]"),
            ("[[Ljava/util/Map$Entry;", "java.util.Map$Entry[][]"),
            ("I", "int"),
            ("V", "void"),
            ("LMain;", "Main"),
            ("Ldemo/Main$$Lambda.0x7f01;", "demo.Main$$Lambda/0x7f01"),
            ("Ltwo words;", "two\\u0020words"),
        ] {
            assert_eq!(of_signature(signature), source);
        }
    }

    #[test]
    fn names_become_source() {
        for (name, source) in [
            ("java/lang/String", "java.lang.String"),
            ("[Ljava/lang/String;", "java.lang.String[]"),
            ("demo/Main$$Lambda+0x7f01", "demo.Main$$Lambda/0x7f01"),
            ("[I", "int[]"),
            ("I", "I"),
            ("", "Unknown_class"),
        ] {
            assert_eq!(ClassName::from_name(name.as_bytes()).to_string(), source);
        }
    }

    #[test]
    fn what_is_no_name_is_unknown() {
        for broken in ["", "L;", "Ljava/lang", "Q", "IL"] {
            assert_eq!(of_signature(broken), "Unknown_class");
        }
        assert_eq!(of_signature("["), "Unknown_class[]");
        assert_eq!(ClassName::UNKNOWN.to_string(), "Unknown_class");
    }

    #[test]
    fn arrays_have_the_kind_of_the_format() {
        let kind = |signature: &str| ClassName::from_signature(signature.as_bytes()).array_kind();
        assert_eq!(kind("Ljava/lang/String;"), 0);
        assert_eq!(kind("I"), 0);
        assert_eq!(kind("[I"), 10);
        assert_eq!(kind("[Z"), 4);
        assert_eq!(kind("[[I"), 2);
        assert_eq!(kind("[Ljava/lang/String;"), 2);
        assert_eq!(ClassName::from_name(b"I").array_kind(), 0);
    }
}
