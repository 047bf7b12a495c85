//! `hprof --help`: the commands in groups, one line each.

use clap::Command;

/// The groups, each with its first command.
const GROUPS: [(&str, &str); 3] = [
    ("list", "Make a dump"),
    ("leaks", "What keeps memory"),
    ("check", "Files"),
];

/// The command with a help of its own, which `hprof help` prints, too.
pub(crate) fn in_groups(command: Command) -> Command {
    let template = format!(
        "{about}\n\n{{usage-heading}} {{usage}}\n{groups}\nhprof help COMMAND lists its options; hprof --manual DIR writes manual pages and completions.{{after-help}}\n",
        about = command.get_about().cloned().unwrap_or_default(),
        groups = groups(&command),
    );
    command.help_template(template)
}

fn groups(command: &Command) -> String {
    let mut text = String::new();
    for one in command.get_subcommands() {
        let (name, about) = (one.get_name(), one.get_about());
        if let Some((_, title)) = GROUPS.iter().find(|(first, _)| *first == name) {
            text.push_str(&format!("\n{title}:\n"));
        }
        let about = about.map(ToString::to_string).unwrap_or_default();
        text.push_str(&format!("  {name:<8} {about}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Arguments;

    #[test]
    fn each_command_stands_in_a_group_in_a_line_of_80_columns() {
        let text = groups(&Arguments::command());
        for (_, title) in GROUPS {
            assert!(text.contains(&format!("\n{title}:\n")), "{text}");
        }
        assert!(text.starts_with('\n'), "{text}");
        for line in text.lines() {
            assert!(line.len() <= 80, "{line}");
        }
    }
}
