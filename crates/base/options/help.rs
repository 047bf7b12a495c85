//! The options as text, for the terminal and for docs/options.md.

use super::parsing::ENVIRONMENT;
use super::rows::{Group, Row, GROUPS};

/// Columns in a line of the help.
const WIDTH: usize = 100;
const INDENT: &str = "      ";

/// The help: every public option with its values, default and meaning.
pub fn help() -> String {
    let mut text = String::from(
        "hprof-rs: heap dumps, allocation sites and CPU profiles of a running JVM in HPROF format\n\n\
         usage: java -agentpath:libhprof_rs.so=name=value,name=value… -jar app.jar\n",
    );
    for group in &GROUPS {
        text.push_str(&format!("\n{}\n", group.title));
        for row in public(group) {
            let default = row.default;
            text.push_str(&format!(
                "  {}={}  [default: {default}]\n",
                row.name, row.values
            ));
            wrap(&row.help.replace('`', ""), &mut text);
        }
    }
    text.push_str(&format!(
        "\nThe agent writes a dump when the JVM ends, on SIGQUIT (kill -QUIT PID, Ctrl-\\), on jcmd PID JVMTI.data_dump,\n\
         and on jcmd PID JVMTI.agent_load /path/to/libhprof_rs.so '\"heap=dump,file=/path/to/out.hprof\"'.\n\
         A second dump of the same JVM gets a number: out.1.hprof. net=HOST:PORT sends all dumps through one connection.\n\
         Options of the environment variable {ENVIRONMENT} follow those given here. An attached\n\
         agent takes only redact=, keep= and drop= from it, and only to leave out more.\n\
         Example: java -agentpath:./libhprof_rs.so=heap=dump,file=out.%p.hprof -jar app.jar\n"
    ));
    text
}

fn public(group: &Group) -> impl Iterator<Item = &'static Row> {
    group.rows.iter().filter(|row| row.is_public())
}

/// Adds the words in lines of at most [`WIDTH`] columns.
fn wrap(words: &str, text: &mut String) {
    let mut line = String::from(INDENT);
    for word in words.split(' ') {
        if line.trim_end().chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(line.trim_end());
            text.push('\n');
            line.truncate(INDENT.len());
        }
        line.push_str(word);
        line.push(' ');
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The tables of docs/options.md.
    fn tables() -> String {
        let mut text = String::new();
        for group in &GROUPS {
            let title = group.title;
            text.push_str(&format!(
                "\n## {title}\n\n| option | default | meaning |\n|---|---|---|\n"
            ));
            for row in public(group) {
                let values = row.values.replace('|', "\\|");
                let meaning = row.help.replace('|', "\\|");
                let (name, default) = (row.name, row.default);
                text.push_str(&format!("| `{name}={values}` | {default} | {meaning} |\n"));
            }
        }
        text
    }

    /// `BLESS=1 cargo test -p hprof-options` rewrites the tables of the page.
    #[test]
    fn the_page_of_options_is_made_from_the_rows() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/options.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let start = page.find("\n## ").unwrap_or(page.len());
        let (before, old) = page.split_at(start);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, format!("{before}{}", tables())).unwrap();
        } else {
            assert_eq!(
                old,
                tables(),
                "BLESS=1 rewrites the tables of docs/options.md"
            );
        }
    }

    #[test]
    fn the_help_fits_a_terminal() {
        let help = help();
        let options = help.split("\nThe agent writes").next().unwrap();
        for line in options.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        assert!(!options.contains('`'));
    }
}
