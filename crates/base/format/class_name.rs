//! The name of a class: how JVMTI, a dump and Java source spell it.

use std::borrow::Cow;
use std::fmt::{self, Formatter};

use crate::mutf8::to_text;
use crate::name::{plain, write_word};
use crate::BasicType;

/// Shown in place of the name of a class that has none.
const UNKNOWN_CLASS: &str = "Unknown_class";

/// A class's name; shown in the form of Java source, `java.lang.String` and `byte[][]`.
///
/// The bytes are modified or true UTF-8. A hidden class keeps the slash before its number, as in
/// `Class.getName`: `Main$$Lambda/0x7f`. Blanks and control characters are shown as `\u` and four
/// digits, so that a name is always one word. An invalid signature and an empty name are shown as
/// `Unknown_class`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassName<'a> {
    bytes: &'a [u8],
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    /// `Ljava/lang/String;`, `[I`, `I`
    Signature,
    /// `java/lang/String`, `[I`
    Dump,
    /// `java.lang.String`, `int[]`
    Java,
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

    /// The class with this name in a dump: `java/lang/String`, `[I`; `I` is a class called I. Names
    /// in another form stay as they are: the JDK's agent and Android write `java.lang.String` and
    /// `int[]`.
    pub fn from_dump(name: &'a [u8]) -> Self {
        Self {
            bytes: name,
            form: Form::Dump,
        }
    }

    /// The class of arrays of this type; for references `java.lang.Object[]`.
    pub fn array_of(element: BasicType) -> ClassName<'static> {
        ClassName::from_dump(element.array_name().as_bytes())
    }

    /// The class with this name in Java source, as returned by [`ClassName::to_java`].
    pub fn from_java(name: &'a str) -> Self {
        Self {
            bytes: name.as_bytes(),
            form: Form::Java,
        }
    }

    /// The name in the form of Java source, without escapes; empty if there is none.
    pub fn to_java(&self) -> String {
        if self.bytes.is_empty() {
            return String::new();
        }
        let (dimensions, element) = self.split();
        let mut name = match element {
            Element::Word(word) => word.to_owned(),
            Element::Class(name) => self.spelled(&to_text(name)),
        };
        name.extend((0..dimensions).map(|_| "[]"));
        name
    }

    /// The name in the form of HotSpot's own dumps: `java/lang/String`, `[I`,
    /// `[Ljava/lang/String;`. Only for signatures.
    ///
    /// JVMTI writes a hidden class as `a/B.0x12`, HotSpot's dumps as `a/B+0x12`. The name in a
    /// class file contains no dot.
    pub fn to_dump(&self) -> Cow<'a, [u8]> {
        let name = match self.bytes {
            [b'L', name @ .., b';'] => name,
            other => other,
        };
        if !name.contains(&b'.') {
            return Cow::Borrowed(name);
        }
        let plus = |&byte: &u8| if byte == b'.' { b'+' } else { byte };
        Cow::Owned(name.iter().map(plus).collect())
    }

    /// The kind of array as ALLOC SITES numbers it (format text): 0 for a class that is no array,
    /// the element type for an array of primitive values, 2 for an array of references or of
    /// arrays.
    pub fn array_kind(&self) -> u8 {
        let element = match (self.form, self.bytes) {
            (Form::Signature | Form::Dump, [b'[', element, ..]) => *element,
            _ => return 0,
        };
        BasicType::from_descriptor(element).map_or(0, BasicType::code)
    }

    /// The number of array dimensions, 0 for a class that is no array, and the type of the
    /// innermost elements.
    fn split(&self) -> (usize, Element<'a>) {
        let dimensions = self.bytes.iter().take_while(|&&b| b == b'[').count();
        let element = || Element::of(self.bytes.get(dimensions..).unwrap_or_default());
        match self.form {
            Form::Signature => (
                dimensions,
                element().unwrap_or(Element::Word(UNKNOWN_CLASS)),
            ),
            _ if self.bytes.is_empty() => (0, Element::Word(UNKNOWN_CLASS)),
            Form::Dump if dimensions > 0 => match element() {
                Some(element) => (dimensions, element),
                None => (0, Element::Class(self.bytes)),
            },
            Form::Dump | Form::Java => (0, Element::Class(self.bytes)),
        }
    }

    /// Writes packages with dots and the number of a hidden class after a slash. JVMTI separates
    /// that number by a dot, HotSpot by a plus.
    fn spelled(&self, name: &str) -> String {
        match self.form {
            Form::Java => name.to_owned(),
            Form::Signature => {
                let swapped = |character| match character {
                    '/' => '.',
                    '.' => '/',
                    other => other,
                };
                name.chars().map(swapped).collect()
            }
            Form::Dump => {
                let mut dotted = name.replace('/', ".");
                if let Some(plus) = dotted.rfind("+0x") {
                    dotted.replace_range(plus..=plus, "/");
                }
                dotted
            }
        }
    }
}

/// Whether `said` is a spelling of this name in the form of Java source: one of a dump, of JVMTI or
/// of another tool. They differ before the number of a hidden class and between packages:
/// `a.B/0x1`, `a.B+0x1`, `a/B+0x1`, `La/B.0x1;`, and with `[` of their arrays.
pub fn is_spelling(name: &str, said: &str) -> bool {
    let is_descriptor = said.starts_with('[') || (said.starts_with('L') && said.ends_with(';'));
    let java = match is_descriptor {
        true => Cow::Owned(ClassName::from_signature(said.as_bytes()).to_java()),
        false => Cow::Borrowed(said),
    };
    let is_separator = |byte: u8| matches!(byte, b'.' | b'/' | b'+');
    let is_same = |(one, other): (u8, u8)| one == other || is_separator(one) && is_separator(other);
    name.len() == java.len() && name.bytes().zip(java.bytes()).all(is_same)
}

enum Element<'a> {
    Class(&'a [u8]),
    Word(&'static str),
}

impl<'a> Element<'a> {
    /// `None`: no type has this descriptor.
    fn of(descriptor: &'a [u8]) -> Option<Self> {
        match descriptor {
            [b'L', name @ .., b';'] if !name.is_empty() => Some(Self::Class(name)),
            [letter] => primitive(*letter).map(Self::Word),
            _ => None,
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
                Some(name) if self.form == Form::Java => out.write_str(name)?,
                Some(name) if !name.contains(['.', '+']) => write_dotted(name, out)?,
                _ => write_word(&self.spelled(&to_text(name)), out)?,
            },
        }
        (0..dimensions).try_for_each(|_| out.write_str("[]"))
    }
}

/// Writes the name with dots between packages, without a copy.
fn write_dotted(internal: &str, out: &mut Formatter<'_>) -> fmt::Result {
    let mut parts = internal.split('/');
    out.write_str(parts.next().unwrap_or_default())?;
    parts.try_for_each(|part| {
        out.write_str(".")?;
        out.write_str(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_signature(signature: &str) -> String {
        ClassName::from_signature(signature.as_bytes()).to_string()
    }

    fn of_dump(name: &str) -> String {
        ClassName::from_dump(name.as_bytes()).to_string()
    }

    #[test]
    fn signatures_become_source() {
        for (signature, source) in [
            ("Ljava/lang/String;", "java.lang.String"),
            ("[B", "byte[]"),
            ("[[Ljava/util/Map$Entry;", "java.util.Map$Entry[][]"),
            ("Z", "boolean"),
            ("C", "char"),
            ("F", "float"),
            ("D", "double"),
            ("[S", "short[]"),
            ("[J", "long[]"),
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
    fn names_of_dumps_become_source() {
        for (name, source) in [
            ("java/lang/String", "java.lang.String"),
            ("[Ljava/lang/String;", "java.lang.String[]"),
            ("[[Ljava/lang/Object;", "java.lang.Object[][]"),
            ("demo/Main$$Lambda+0x7f01", "demo.Main$$Lambda/0x7f01"),
            ("[La/B+0x1;", "a.B/0x1[]"),
            ("[I", "int[]"),
            ("I", "I"),
            ("a+b/C", "a+b.C"),
            // Those of the JDK's agent and of Android.
            ("java.lang.String", "java.lang.String"),
            ("int[]", "int[]"),
            // None of Java's.
            ("[", "["),
            ("[X", "[X"),
        ] {
            assert_eq!(of_dump(name), source);
            assert_eq!(ClassName::from_dump(name.as_bytes()).to_java(), source);
        }
    }

    #[test]
    fn source_keeps_what_a_word_must_not_hold() {
        let name = ClassName::from_dump(b"two words");
        assert_eq!(name.to_java(), "two words");
        assert_eq!(name.to_string(), "two\\u0020words");
        let java = "a.B/0x1[]";
        assert_eq!(ClassName::from_java(java).to_string(), java);
        assert_eq!(ClassName::from_java("a b").to_string(), "a\\u0020b");
        assert_eq!(ClassName::from_java("B/0x1").to_string(), "B/0x1");
    }

    /// HotSpot's dumps of 17 to 26, its `getName`, its descriptors of 8 and of 11 to 26, arrays.
    #[test]
    fn all_spellings_are_known() {
        let lambda = "app.Main$$Lambda$14/0x0000000800066840";
        for said in [
            lambda,
            "app.Main$$Lambda$14+0x0000000800066840",
            "app/Main$$Lambda$14+0x0000000800066840",
            "app/Main$$Lambda$14/0x0000000800066840",
            "Lapp/Main$$Lambda$14.0x0000000800066840;",
            "Lapp/Main$$Lambda$14/0x0000000800066840;",
        ] {
            assert!(is_spelling(lambda, said), "{said}");
            let array = format!("{lambda}[]");
            assert!(!is_spelling(&array, said), "{said}");
            if said.ends_with(';') {
                assert!(is_spelling(&array, &format!("[{said}")), "{said}");
            }
        }
        assert!(is_spelling(
            "app.Main$$Lambda$1.250421012",
            "app/Main$$Lambda$1/250421012"
        ));
        assert!(is_spelling("int[][]", "[[I"));
        assert!(is_spelling("java.lang.String", "java/lang/String"));
        for other in [
            "app.Main$$Lambda$14",
            "app.Main$$Lambda$14/0x0000000800066841",
            "",
            "L;",
            "[",
        ] {
            assert!(!is_spelling(lambda, other), "{other}");
        }
    }

    #[test]
    fn what_is_no_name_is_unknown() {
        for broken in ["", "L;", "Ljava/lang", "Q", "IL"] {
            assert_eq!(of_signature(broken), "Unknown_class");
        }
        assert_eq!(of_signature("["), "Unknown_class[]");
        assert_eq!(of_dump(""), "Unknown_class");
        assert_eq!(ClassName::from_java("").to_string(), "Unknown_class");
        assert_eq!(ClassName::UNKNOWN.to_string(), "Unknown_class");
        assert_eq!(ClassName::UNKNOWN.to_java(), "");
    }

    #[test]
    fn signatures_become_names_of_dumps() {
        for (signature, name) in [
            ("Ljava/lang/String;", "java/lang/String"),
            ("[I", "[I"),
            ("[[Ljava/lang/String;", "[[Ljava/lang/String;"),
            ("Lapp/Main$$Lambda.0x7f12;", "app/Main$$Lambda+0x7f12"),
            ("LDefault;", "Default"),
        ] {
            let found = ClassName::from_signature(signature.as_bytes()).to_dump();
            assert_eq!(*found, *name.as_bytes());
        }
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
        assert_eq!(ClassName::from_dump(b"I").array_kind(), 0);
    }
}
