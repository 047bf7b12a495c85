//! The options of a JVM, from all places that HotSpot (`arguments.cpp`) and the launcher (`java.c`,
//! `args.c`) read, in the order in which they take effect.

use std::path::Path;

/// Most files that are read for one JVM.
const FILES_MAX: usize = 100;

/// Options of the launcher that have their value in the next word.
pub(crate) const WITH_VALUE: [&str; 17] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--patch-module",
    "--enable-native-access",
    "--enable-final-field-mutation",
    "--describe-module",
    "-d",
    "--source",
];

/// Where the options stand.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The words of the command, without the program.
    pub(crate) command: Vec<String>,
    /// The environment, `NAME=VALUE` each.
    pub(crate) environment: Vec<String>,
    /// Whether the launcher reads files and `JDK_JAVA_OPTIONS`, as since Java 9.
    pub(crate) has_files: bool,
}

impl Places {
    /// Whether this switch is on at last: `-XX:+NAME` or `-XX:-NAME`. `read` gives the text of a
    /// file, if there is one.
    pub(crate) fn has_switch(&self, name: &str, read: &dyn Fn(&Path) -> Option<String>) -> bool {
        let files = Files {
            read,
            left: FILES_MAX,
        };
        let told = self.told(files);
        let state = |option: &String| match option.strip_prefix("-XX:")?.split_at_checked(1)? {
            ("+", switch) if switch == name => Some(true),
            ("-", switch) if switch == name => Some(false),
            _ => None,
        };
        told.iter().rev().find_map(state).unwrap_or(false)
    }

    /// All options, the last one counts.
    fn told(&self, mut files: Files<'_>) -> Vec<String> {
        let mut launcher = Vec::new();
        if self.has_files {
            let more = words(self.variable("JDK_JAVA_OPTIONS"), Words::Variable);
            launcher = files.expanded(&more, false);
        }
        launcher.extend(files.expanded(&self.command, true));
        let variable = |name| words(self.variable(name), Words::Variable);
        let mut told = files.with_vm_files(variable("JAVA_TOOL_OPTIONS"));
        told.extend(files.with_vm_files(launcher));
        told.extend(files.with_vm_files(variable("_JAVA_OPTIONS")));
        // Read before all others, wherever it is named.
        let named = told.iter().rev();
        let settings = named.filter_map(|it| it.strip_prefix("-XX:Flags=")).next();
        let settings = settings.and_then(|name| files.text(name));
        let settings = words(&settings.unwrap_or_default(), Words::File).into_iter();
        let mut all: Vec<String> = settings.map(|flag| format!("-XX:{flag}")).collect();
        all.append(&mut told);
        all
    }

    fn variable(&self, name: &str) -> &str {
        let mut all = self.environment.iter();
        all.find_map(|it| it.strip_prefix(name)?.strip_prefix('='))
            .unwrap_or_default()
    }
}

/// The files that options name.
struct Files<'r> {
    read: &'r dyn Fn(&Path) -> Option<String>,
    left: usize,
}

impl Files<'_> {
    fn text(&mut self, name: &str) -> Option<String> {
        self.left = self.left.checked_sub(1)?;
        (self.read)(Path::new(name))
    }

    /// The words that the launcher passes on as options, with those of `@FILE` in its place. In a
    /// command that has a main class they end before it.
    fn expanded(&mut self, given: &[String], is_command: bool) -> Vec<String> {
        let (mut options, mut is_value, mut expands) = (Vec::new(), false, true);
        // The next one is the last here. Words of a file are not expanded again.
        let given = given.iter().rev();
        let mut left: Vec<(String, bool)> = given.map(|word| (word.clone(), true)).collect();
        while let Some((word, may_expand)) = left.pop() {
            let file = word.strip_prefix('@').filter(|_| expands && may_expand);
            if let Some(name) = file.filter(|name| !name.starts_with('@')) {
                let more = words(&self.text(name).unwrap_or_default(), Words::Arguments);
                left.extend(more.into_iter().rev().map(|word| (word, false)));
                continue;
            }
            if !word.starts_with('-') && !is_value && is_command {
                break;
            }
            is_value = WITH_VALUE.contains(&word.as_str());
            expands &= word != "--disable-@files";
            options.push(word);
        }
        options
    }

    /// The options, with those of `-XX:VMOptionsFile` in its place.
    fn with_vm_files(&mut self, options: Vec<String>) -> Vec<String> {
        let mut all = Vec::new();
        for option in options {
            let text = option.strip_prefix("-XX:VMOptionsFile=");
            match text.and_then(|name| self.text(name)) {
                Some(text) => all.extend(words(&text, Words::Variable)),
                None => all.push(option),
            }
        }
        all
    }
}

/// How a text is divided.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    /// A variable, and a file for `-XX:VMOptionsFile`: by spaces outside of quotes.
    Variable,
    /// A file for `-XX:Flags`: with comments.
    File,
    /// A file of the launcher: with comments, and in quotes with a backslash before what stands for
    /// itself.
    Arguments,
}

/// The words of a text, without their quotes.
fn words(text: &str, kind: Words) -> Vec<String> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('#', None) if kind != Words::Variable && word.is_none() => {
                letters.by_ref().find(|letter| *letter == '\n');
            }
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, Some(end)) if end == letter => quote = None,
            ('\\', Some(_)) if kind == Words::Arguments => {
                word.get_or_insert_default().extend(letters.next());
            }
            (_, None) if letter.is_ascii_whitespace() => all.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    all.extend(word);
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const ON: &str = "-XX:+Closed";
    const OFF: &str = "-XX:-Closed";

    fn is_on(command: &str, environment: &[&str], files: &[(&str, &str)]) -> bool {
        let places = Places {
            command: command.split(' ').map(str::to_owned).collect(),
            environment: environment.iter().map(|it| (*it).to_owned()).collect(),
            has_files: true,
        };
        places.has_switch("Closed", &|path| {
            let mut files = files.iter();
            let found = files.find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    /// Words of the command, the environment, files with their texts, and whether the switch is on.
    type Start<'s> = (&'s str, &'s [&'s str], &'s [(&'s str, &'s str)], bool);

    const STARTS: &[Start<'_>] = &[
        ("-XX:+Closed Main", &[], &[], true),
        ("-XX:+Closed -XX:-Closed Main", &[], &[], false),
        ("-XX:+ClosedMore -XX:Closed -Xmx1g Main", &[], &[], false),
        ("Main -XX:+Closed", &[], &[], false),
        ("-cp x -XX:+Closed Main", &[], &[], true),
        ("-jar -XX:+Closed a.jar -XX:-Closed", &[], &[], true),
        ("-m mod/Main -XX:+Closed", &[], &[], false),
        ("--module-path m -XX:+Closed -m mod", &[], &[], true),
        (
            "Main",
            &["JAVA_TOOL_OPTIONS=-Dx='a b' -XX:+Closed"],
            &[],
            true,
        ),
        (
            "Main",
            &["JAVA_TOOL_OPTIONS='-Dx=-XX:+Closed -XX:+Closed'"],
            &[],
            false,
        ),
        (
            "-XX:-Closed Main",
            &["JAVA_TOOL_OPTIONS=-XX:+Closed"],
            &[],
            false,
        ),
        (
            "-XX:-Closed Main",
            &["_JAVA_OPTIONS=-XX:+Closed"],
            &[],
            true,
        ),
        (
            "-XX:-Closed Main",
            &["JDK_JAVA_OPTIONS=-XX:+Closed"],
            &[],
            false,
        ),
        ("Main", &["JDK_JAVA_OPTIONS=@a"], &[("a", ON)], true),
        (
            "@a @b Main",
            &[],
            &[("a", ON), ("b", "#-XX:-Closed\n -cp\n x")],
            true,
        ),
        (
            "@a Main",
            &[],
            &[("a", "\"-XX:\\+Closed\""), ("b", OFF)],
            true,
        ),
        ("@a Main", &[], &[("a", "@b"), ("b", ON)], false),
        ("@a -XX:+Closed", &[], &[("a", "Main")], false),
        ("--disable-@files @a Main", &[], &[("a", ON)], false),
        ("-Dx=1 @@a -XX:+Closed", &[], &[("a", ON)], false),
        ("Main @a", &[], &[("a", ON)], false),
        ("-XX:VMOptionsFile=f -Xmx1g Main", &[], &[("f", ON)], true),
        (
            "-XX:VMOptionsFile=f -XX:-Closed Main",
            &[],
            &[("f", ON)],
            false,
        ),
        (
            "-XX:-Closed -XX:VMOptionsFile=f Main",
            &[],
            &[("f", ON)],
            true,
        ),
        (
            "-XX:Flags=f Main",
            &[],
            &[("f", "# -Closed\n-Xmx +Closed")],
            true,
        ),
        (
            "-XX:-Closed -XX:Flags=f Main",
            &[],
            &[("f", "+Closed")],
            false,
        ),
        (
            "-XX:Flags=f -XX:Flags=g Main",
            &[],
            &[("f", "+Closed"), ("g", "")],
            false,
        ),
        (
            "Main",
            &["JAVA_TOOL_OPTIONS=-XX:Flags=f"],
            &[("f", "+Closed")],
            true,
        ),
        ("@none -XX:Flags=none -XX:+Closed Main", &[], &[], true),
    ];

    #[test]
    fn the_last_of_all_places_counts() {
        for (command, environment, files, expected) in STARTS {
            let found = is_on(command, environment, files);
            assert_eq!(found, *expected, "{command} {environment:?} {files:?}");
        }
    }

    #[test]
    fn files_are_for_java_9_and_later() {
        let old = Places {
            environment: vec![format!("JDK_JAVA_OPTIONS={ON}")],
            ..Places::default()
        };
        assert!(!old.has_switch("Closed", &|_| None));
    }

    #[test]
    fn a_file_that_names_itself_ends() {
        assert!(!is_on(
            "-XX:VMOptionsFile=f @f Main",
            &[],
            &[("f", "@f -XX:VMOptionsFile=f")]
        ));
    }
}
