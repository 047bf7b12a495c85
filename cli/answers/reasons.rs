//! Why a suspect looks like a leak, or does not, in words.

use graph::{Calm, Reason, Suspect};

use crate::answers::sentence::{name, Words};
use crate::output::number::grouped;

/// The JDK's static field of the files to delete when the JVM ends.
const DELETED: (&str, &str) = ("class java.io.DeleteOnExitHook", "files");

impl Words<'_, '_> {
    /// The clauses at the end of a suspect's sentence.
    pub(super) fn reasons(&self, suspect: &Suspect) -> Vec<String> {
        if let Some(calm) = suspect.calm {
            let why = why(calm, suspect.soft_bytes);
            return vec![format!("this does not look like a leak: {why}")];
        }
        let elements = suspect.held.elements.map_or(0, |it| it.objects);
        let sampled = suspect.some.len();
        let reasons = suspect.reasons.iter().map(|reason| {
            let text = self.reason(reason);
            let is_sample = elements > sampled as u64 && *reason != Reason::NotCompleted;
            match is_sample {
                true => format!("by a sample of {}, {text}", grouped(sampled as u64)),
                false => text,
            }
        });
        let field = suspect.main_path().and_then(|path| path.static_field);
        let is_deleted = field
            .is_some_and(|(class, field)| (&*self.object(class), &*self.field(field)) == DELETED);
        let deleted = is_deleted.then(|| "they are files to delete at exit".to_owned());
        deleted.into_iter().chain(reasons).collect()
    }

    fn reason(&self, reason: &Reason) -> String {
        let differ = |field: &Option<String>, what: &str| match field {
            Some(field) if field.is_empty() => format!("they differ only in {what}"),
            Some(field) => format!("they differ only in {what} ({})", name(field)),
            None => format!("their keys differ only in {what}"),
        };
        match reason {
            Reason::EqualKeys => "their keys are equal, but not the same objects".to_owned(),
            Reason::Equal => "they are equal, but not the same objects".to_owned(),
            Reason::Numbered(field) => differ(field, "a number"),
            Reason::Listed(field) => differ(field, "the length of a list"),
            Reason::State(word, true) => format!("they are {word}"),
            Reason::State(word, false) => format!("they are not {word}"),
            Reason::SameReferent(class) => {
                format!("they have the same referent, a {}", self.class(*class))
            }
            Reason::Futures(true) => "their futures are completed".to_owned(),
            Reason::Futures(false) => "their futures are not completed".to_owned(),
            Reason::NotCompleted => "they wait for a future that is not completed".to_owned(),
        }
    }
}

fn why(calm: Calm, soft_bytes: u64) -> String {
    match calm {
        Calm::Little if soft_bytes > 0 => {
            "it is less than 1 MB without what is only softly reachable".to_owned()
        }
        Calm::Little => "it is less than 1 MB".to_owned(),
        Calm::Array => "an array cannot grow".to_owned(),
        Calm::Full(most) => format!("it is full, at most {}", grouped(most)),
        Calm::Fixed => "the collection cannot be changed".to_owned(),
    }
}
