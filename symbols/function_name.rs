//! The name of a native function for a frame: a linker symbol, demangled and shortened to one word.

use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};
use std::fmt::{self, Write};
use std::panic::catch_unwind;

/// Longest symbol to demangle, and longest result, in bytes. A short symbol may expand without
/// bound.
const MOST_BYTES: usize = 2000;
/// Deepest nesting of a symbol's parts.
const MOST_NESTED: u32 = 96;
/// Operators whose characters otherwise open or close something, the longer ones first.
const OPERATORS: [&str; 13] = [
    "()", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">", "[]",
];
/// The compiler's name for an unnamed namespace.
const ANONYMOUS: &str = "(anonymous namespace)";

/// The name: `JavaThread::run` from `_ZN10JavaThread3runEv`, `deflate` from `deflate.part.0`. It
/// contains no parameters of functions or templates, no spaces, and no dots, because readers expect
/// a class before a dot.
pub fn function_name(symbol: &[u8]) -> String {
    // A compiler's variants of a function have a suffix after a dot; a linker appends a version
    // after an @.
    let end = symbol
        .iter()
        .skip(1)
        .position(|&b| matches!(b, b'.' | b'@'));
    let end = end.map_or(symbol.len(), |at| at + 1).min(MOST_BYTES);
    let symbol = symbol.get(..end).unwrap_or(symbol);
    // Symbols are foreign data. One that makes the demangler panic must not end the sampling.
    let demangled = catch_unwind(|| demangled(symbol)).ok().flatten();
    let name = demangled.and_then(|name| without_parameters(&name));
    let name = name.unwrap_or_else(|| String::from_utf8_lossy(symbol).into_owned());
    name.replace(|it: char| it == '.' || it.is_whitespace(), "_")
}

/// A C++ symbol in source form; `None` if it is not one, or cannot be demangled.
fn demangled(symbol: &[u8]) -> Option<String> {
    if !symbol.starts_with(b"_Z") || symbol.len() >= MOST_BYTES {
        return None;
    }
    let options = ParseOptions::default().recursion_limit(MOST_NESTED);
    let (symbol, _) = BorrowedSymbol::with_tail_and_options(symbol, &options).ok()?;
    let options = DemangleOptions::new().no_params().no_return_type();
    let mut out = Bounded::default();
    let options = options.recursion_limit(MOST_NESTED);
    symbol.structured_demangle(&mut out, &options).ok()?;
    Some(out.0)
}

/// Text of bounded length.
#[derive(Debug, Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MOST_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Removes the text in angle brackets and parentheses; `None` if they do not match.
fn without_parameters(name: &str) -> Option<String> {
    let mut out = String::new();
    let mut open: Vec<char> = Vec::new();
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let taken = match operator(&out, rest) {
            Some(operator) if open.is_empty() => {
                out.push_str(operator);
                operator.len()
            }
            _ if rest.starts_with(ANONYMOUS) => {
                if open.is_empty() {
                    out.push_str("{anonymous}");
                }
                ANONYMOUS.len()
            }
            _ if rest.starts_with("->") => 2,
            _ => {
                match next {
                    '<' | '(' => open.push(next),
                    '>' if open.pop() != Some('<') => return None,
                    ')' if open.pop() != Some('(') => return None,
                    '>' | ')' => {}
                    plain if open.is_empty() => out.push(plain),
                    _ => {}
                }
                next.len_utf8()
            }
        };
        rest = rest.get(taken..)?;
    }
    // A space separates the operator `<` from its template arguments.
    let name = out.trim_end();
    (open.is_empty() && !name.is_empty()).then(|| name.to_owned())
}

/// The operator at the start of `rest`, if `before` ends with the keyword `operator`.
fn operator(before: &str, rest: &str) -> Option<&'static str> {
    let before = before.strip_suffix("operator")?;
    let is_word = before.ends_with(|it: char| it.is_alphanumeric() || it == '_');
    let found = OPERATORS.iter().find(|it| rest.starts_with(**it));
    found.copied().filter(|_| !is_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, proptest};

    fn name(symbol: &str) -> String {
        function_name(symbol.as_bytes())
    }

    #[test]
    fn names_of_cpp_are_those_of_its_source() {
        for (symbol, source) in [
            ("_ZN10JavaThread3runEv", "JavaThread::run"),
            ("_ZN10JavaThread3runEv.part.0", "JavaThread::run"),
            ("_ZN12_GLOBAL__N_13fooEi", "{anonymous}::foo"),
            ("_ZN3FooIiLi3EE3barIcEEvT_", "Foo::bar"),
            ("_Znwm", "operator_new"),
            ("_ZN3FoolsEi", "Foo::operator<<"),
            ("_ZN3FooltIiEEbT_", "Foo::operator<"),
            ("_ZN3FooclEv", "Foo::operator()"),
            ("_ZN3FooptEv", "Foo::operator->"),
        ] {
            assert_eq!(name(symbol), source, "{symbol}");
        }
    }

    #[test]
    fn other_names_stay_as_they_are() {
        assert_eq!(name("deflate"), "deflate");
        assert_eq!(name("longest_match.constprop.0"), "longest_match");
        assert_eq!(name("memcpy@@GLIBC_2.14"), "memcpy");
        assert_eq!(name(".L12"), "_L12");
        assert_eq!(name("two words"), "two_words");
        assert_eq!(name("_Zbroken"), "_Zbroken");
    }

    #[test]
    fn a_name_has_an_end() {
        assert!(name(&"x".repeat(1 << 20)).len() <= MOST_BYTES);
        // Each pair contains the previous one twice.
        let pairs = ["", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "A"];
        let pairs = pairs.map(|of| format!("St4pairIS{of}_S{of}_E")).concat();
        let symbol = format!("_Z1fISt4pairIiiE{pairs}EvT_");
        assert!(name(&symbol).len() <= MOST_BYTES);
        let deep = format!("_Z1f{}i", "P".repeat(1500));
        assert!(!name(&deep).is_empty());
    }

    proptest! {
        #[test]
        fn any_symbol_has_one_word_for_a_name(mangled: bool, rest in proptest::collection::vec(any::<u8>(), 1..80)) {
            let start: &[u8] = if mangled { b"_ZN" } else { b"" };
            let name = function_name(&[start, &rest].concat());
            prop_assert!(!name.is_empty());
            prop_assert!(!name.contains(|it: char| it.is_whitespace() || it == '.'));
        }
    }

    #[test]
    fn brackets_that_do_not_match_are_no_name() {
        for broken in ["a<b", "a>b", "a(b", "a)b", "a<(b>)", "<a>"] {
            assert_eq!(without_parameters(broken), None, "{broken}");
        }
        assert_eq!(
            without_parameters("my_operator<int>::f").unwrap(),
            "my_operator::f"
        );
    }

    #[test]
    fn what_stands_in_brackets_goes() {
        for (name, plain) in [
            ("a(b)::c", Some("a::c")),
            ("a<b(c)>::d", Some("a::d")),
            ("f<decltype (a->b)>::g", Some("f::g")),
            ("operator(a+b)", Some("operator")),
            ("a<b)", None),
            ("a(b>", None),
        ] {
            assert_eq!(without_parameters(name).as_deref(), plain, "{name}");
        }
    }

    #[test]
    fn a_text_has_a_longest_length() {
        let mut out = Bounded::default();
        assert!(out.write_str(&"a".repeat(MOST_BYTES - 1)).is_ok());
        assert!(out.write_str("bc").is_err());
        assert!(out.write_str("d").is_ok());
        assert!(out.write_str("e").is_err());
        assert_eq!(out.0.len(), MOST_BYTES);
    }
}
