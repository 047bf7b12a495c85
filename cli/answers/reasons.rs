//! Why a suspect looks like a leak, or does not, in words.

use graph::{Calm, Reason, Suspect, Who};

use crate::answers::sentence::{name, Words};
use crate::output::number::grouped;

impl Words<'_, '_> {
    /// The clauses at the end of a suspect's sentence.
    pub(super) fn reasons(&self, suspect: &Suspect) -> Vec<String> {
        if let Some(calm) = &suspect.calm {
            let why = why(calm, suspect.soft_bytes);
            return vec![format!("this does not look like a leak: {why}")];
        }
        let held = &suspect.held;
        let elements = held.elements.or(held.below.first().copied());
        let most = suspect.holds.first().map_or(0, |it| it.objects);
        let elements = match suspect.who {
            Who::Class { objects, .. } if suspect.copied_classes > 0 => objects,
            _ => elements.map_or(most, |it| it.objects),
        };
        let sampled = suspect.some.len();
        let is_known = |reason: &&Reason| {
            matches!(
                reason,
                Reason::NotCompleted | Reason::Filled(..) | Reason::Deleted | Reason::Registered(_)
            )
        };
        let (known, seen): (Vec<&Reason>, Vec<&Reason>) =
            suspect.reasons.iter().partition(is_known);
        let mut seen: Vec<String> = seen.into_iter().map(|it| self.reason(it)).collect();
        if let Some(first) = seen.first_mut().filter(|_| elements > sampled as u64) {
            *first = format!("by a sample of {}, {first}", grouped(sampled as u64));
        }
        let seen = Some(seen.join(", and ")).filter(|it| !it.is_empty());
        let known = known.into_iter().map(|it| self.reason(it));
        let open = "a second dump shows whether it grows (hprof diff)";
        let open = suspect.is_open.then(|| open.to_owned());
        known.chain(seen).chain(open).collect()
    }

    fn reason(&self, reason: &Reason) -> String {
        let differ = |field: &Option<String>, what: &str| match field {
            Some(field) if field.is_empty() => format!("they differ only in {what}"),
            Some(field) => format!("they differ only in {what} ({})", name(field)),
            None => format!("their keys differ only in {what}"),
        };
        match reason {
            Reason::EqualKeys => "their keys are equal, but not the same objects".to_owned(),
            Reason::AlikeKeys => {
                "the texts, numbers and classes in their keys are equal".to_owned()
            }
            Reason::Equal => "they are equal, but not the same objects".to_owned(),
            Reason::Numbered(field) => differ(field, "a number"),
            Reason::Listed(field) => differ(field, "the length of a list"),
            Reason::State(word, is_end, part) => {
                let part = part.as_deref().map(|part| match part {
                    _ if part.starts_with("this$") => "outer object".to_owned(),
                    _ if part.starts_with("arg$") => "captured object".to_owned(),
                    _ => name(part.trim_start_matches("val$")),
                });
                let subject = part.map_or("they are".to_owned(), |it| format!("their {it} is"));
                let not = if *is_end { "" } else { "not " };
                format!("{subject} {not}{word}")
            }
            Reason::Cleared => "their referents are gone".to_owned(),
            Reason::SameValues => "their own texts and numbers are equal".to_owned(),
            Reason::Tag(tag) => format!("the tag {} has another value in each", name(tag)),
            Reason::OneOf(count, tag) => {
                let tag = tag.as_ref().map_or_else(|| "one".to_owned(), |it| name(it));
                format!("of {count} texts in each only {tag} differs")
            }
            Reason::SameReferent(class) => {
                format!("they have the same referent, a {}", self.class(*class))
            }
            Reason::Futures(true) => "their futures are completed".to_owned(),
            Reason::Futures(false) => "their futures are not completed".to_owned(),
            Reason::Filled(used, length, field) => {
                let (used, length) = (grouped(*used), grouped(*length));
                format!(
                    "it is used to {used} of {length} ({}), so it may grow",
                    name(field)
                )
            }
            Reason::Deleted => "they are files to delete at exit".to_owned(),
            Reason::Registered(words) => format!("they are registered as {}", name(words)),
            Reason::Unused(used, length, field) => {
                let (used, length) = (grouped(*used), grouped(*length));
                let field = name(field);
                format!("they use little of their arrays, as {used} of {length} ({field})")
            }
            Reason::OwnWeakKey => "each value holds its own weak key".to_owned(),
            Reason::NotCompleted => "they wait for a future that is not completed".to_owned(),
        }
    }
}

fn why(calm: &Calm, soft_bytes: u64) -> String {
    match calm {
        Calm::Little if soft_bytes > 0 => {
            "it is less than 1 MB without what is only softly reachable".to_owned()
        }
        Calm::Little => "it is less than 1 MB".to_owned(),
        Calm::Small => "it is less than 4 MB, and nothing shows that it grows".to_owned(),
        Calm::Array => "an array cannot grow, and no field counts what is used of it".to_owned(),
        Calm::Full(most, None) => format!("it is full, at most {}", grouped(*most)),
        Calm::Full(most, Some(field)) => {
            format!("it is full, at most {} ({})", grouped(*most), name(field))
        }
        Calm::Fixed => "the collection cannot be changed".to_owned(),
        Calm::Stale => {
            "their keys are gone, and the weak map drops them when it is used next".to_owned()
        }
    }
}
