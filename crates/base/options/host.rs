//! The name of this host, which a file's name may have.

/// The name of this host, or "localhost" if it has none.
pub fn host_name() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    if name.is_empty() {
        return "localhost".to_owned();
    }
    name.into_owned()
}

/// The same in letters that mean nothing to a shell, in a path or as an option: letters, digits,
/// `.`, `-` and `_`, of which `_` stands for any other, and for a `.` or `-` at the start. A name
/// in a container may have any byte.
pub fn plain_host_name() -> String {
    plain(&host_name())
}

fn plain(name: &str) -> String {
    let is_plain = |(at, letter): (usize, char)| match letter {
        '.' | '-' => at > 0,
        _ => letter.is_ascii_alphanumeric(),
    };
    let letters = name.chars().enumerate();
    letters
        .map(|it| if is_plain(it) { it.1 } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_nothing_to_a_shell_or_in_a_path() {
        for (name, expected) in [
            ("web-1.example.org", "web-1.example.org"),
            ("a_b", "a_b"),
            ("..", "_."),
            ("-rf", "_rf"),
            ("/../etc/x", "_.._etc_x"),
            ("a;touch b&&`c`$(d)|e>f\n'\"", "a_touch_b___c___d__e_f___"),
            ("b\u{fc}ro,gz=1%p", "b_ro_gz_1_p"),
        ] {
            assert_eq!(plain(name), expected);
        }
        let found = plain_host_name();
        assert_eq!(plain(&found), found);
    }

    #[test]
    fn the_host_has_a_name() {
        assert!(!host_name().is_empty());
    }
}
