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
    /// Patterns separated by `;` or `+`; `None` if one of them is empty.
    pub fn parse(value: &str) -> Option<Vec<String>> {
        let patterns = value.split([';', '+']).map(str::to_owned);
        let patterns: Vec<String> = patterns.collect();
        let is_whole = patterns.iter().all(|pattern| !pattern.is_empty());
        is_whole.then_some(patterns)
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

    fn patterns(include: &str, exclude: &str) -> ClassPatterns {
        let parse = |text: &str| match text {
            "" => Vec::new(),
            text => ClassPatterns::parse(text).unwrap(),
        };
        ClassPatterns {
            include: parse(include),
            exclude: parse(exclude),
        }
    }

    #[test]
    fn no_pattern_means_all_classes() {
        assert!(patterns("", "").matches(b"java/lang/String"));
        assert!(!patterns("", "java.*").matches(b"java/lang/String"));
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        let some = patterns("com.acme.*;*Service+Main", "com.acme.gen.*");
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
    }
}
