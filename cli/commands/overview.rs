//! `hprof --help`: the commands in groups, one line each.

use clap::Command;

/// The groups and their commands.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Make a dump", &["list", "dump"]),
    (
        "What keeps memory",
        &[
            "leaks", "report", "view", "histo", "show", "threads", "diff", "waste", "memory", "mcp",
        ],
    ),
    ("Files", &["check", "sites", "convert"]),
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
    for (title, names) in GROUPS {
        text.push_str(&format!("\n{title}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {name:<8} {about}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Arguments;

    #[test]
    fn each_command_stands_once_in_a_line_of_80_columns() {
        let command = Arguments::command();
        for it in command.get_subcommands() {
            let listed = GROUPS.iter().flat_map(|(_, names)| *names);
            let count = listed.filter(|name| **name == it.get_name()).count();
            assert_eq!(count, 1, "{}", it.get_name());
        }
        for line in groups(&command).lines() {
            assert!(line.len() <= 80, "{line}");
        }
    }
}
