//! What elements are to their holder, by the name of its field: none of them was removed.

use crate::finder::Finder;
use crate::structure::ROLES;
use crate::suspect::{Reason, Suspect};

/// The JDK's static field of the files to delete when the JVM ends.
const DELETED: (&str, &str) = ("java.io.DeleteOnExitHook", "files");

impl Finder<'_, '_> {
    /// What a suspect's elements are registered as.
    pub(crate) fn registered(&self, suspect: &Suspect) -> Option<Reason> {
        let heap = self.heap;
        let text = |field: u64| heap.directory().strings.text(field).unwrap_or_default();
        let field = suspect.main_path().and_then(|path| path.static_field);
        let is_deleted = field.is_some_and(|(object, field)| {
            let class = heap.class_of_object(object).map(|it| heap.class_name(it));
            class.as_deref() == Some(DELETED.0) && text(field) == DELETED.1
        });
        if is_deleted {
            return Some(Reason::Deleted);
        }
        let (_, field) = suspect.way.owner.or(field)?;
        let words = words(&text(field));
        let role = words.last()?.strip_suffix('s')?;
        let is_role = ROLES.contains(&role) && suspect.held.elements.is_some();
        is_role.then(|| Reason::Registered(words.join(" ")))
    }
}

/// The words of a name as `shutdownHooks` or `SHUTDOWN_HOOKS`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let is_constant = !name.contains(|it: char| it.is_lowercase());
    let mut words = vec![String::new()];
    for letter in name.chars() {
        let is_new = letter == '_' || (letter.is_uppercase() && !is_constant);
        if is_new && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter != '_') {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields_have_words() {
        for (name, expected) in [
            ("shutdownHooks", "shutdown hooks"),
            ("_listeners", "listeners"),
            ("ON_CLOSE_CALLBACKS", "on close callbacks"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), expected);
        }
    }
}
