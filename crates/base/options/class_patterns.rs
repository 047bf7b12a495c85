//! Which classes to measure: patterns of names to include and to exclude.

use format::name_pattern::fits;

/// Patterns of class names like `com.acme.*`. A star matches any letters, at the end or anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassPatterns {
    /// Patterns of included classes; without any, all are included.
    pub include: Vec<String>,
    /// Patterns of classes that are excluded from those.
    pub exclude: Vec<String>,
}

impl ClassPatterns {
    /// Patterns separated by `;` or `+`, those to exclude after a `!`; `None` if one of them is
    /// empty.
    pub fn parse(value: &str) -> Option<Self> {
        let mut patterns = Self::default();
        for pattern in value.split([';', '+']) {
            let (pattern, list) = match pattern.strip_prefix('!') {
                Some(pattern) => (pattern, &mut patterns.exclude),
                None => (pattern, &mut patterns.include),
            };
            list.push(Some(pattern).filter(|it| !it.is_empty())?.to_owned());
        }
        Some(patterns)
    }

    /// Whether the class is included. The name is as in class files, `java/lang/String`.
    pub fn matches(&self, class: &[u8]) -> bool {
        let is_any = |patterns: &[String]| {
            patterns
                .iter()
                .any(|pattern| fits(pattern.as_bytes(), class))
        };
        (self.include.is_empty() || is_any(&self.include)) && !is_any(&self.exclude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(text: &str) -> ClassPatterns {
        ClassPatterns::parse(text).unwrap()
    }

    #[test]
    fn without_patterns_to_include_all_classes_are() {
        assert!(ClassPatterns::default().matches(b"java/lang/String"));
        assert!(!patterns("!java.*").matches(b"java/lang/String"));
        assert!(patterns("!java.*").matches(b"javax/A"));
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        let some = patterns("com.acme.*;*Service+!com.acme.gen.*;Main");
        for (class, is_meant) in [
            ("com/acme/Order", true),
            ("com/acme/gen/Parser", false),
            ("org/MailService", true),
            ("org/MailServices", false),
            ("Main", true),
            ("Main$Inner", false),
            ("com/acmeOrder", false),
        ] {
            assert_eq!(some.matches(class.as_bytes()), is_meant, "{class}");
        }
    }

    #[test]
    fn an_empty_pattern_is_none() {
        assert_eq!(ClassPatterns::parse("a;;b"), None);
        assert_eq!(ClassPatterns::parse(""), None);
        assert_eq!(ClassPatterns::parse("a;!"), None);
    }
}
