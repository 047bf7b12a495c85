//! What a class is to a developer: something of the program, a value, or structure between them.
//!
//! A developer knows the objects of the program and puts them into collections. Arrays are
//! structure by their form, and so are hash tables. Whether another instance is structure is a
//! question of its class's package: the shape of a list's node and that of a program's object that
//! has one field are the same.

use crate::heap::Heap;
use crate::own_maps::own_maps;

/// What a class is to a developer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A class of the program.
    Own,
    /// A collection, its nodes and arrays, a reference object, a thread, a loader, a class.
    Structure,
    /// A string, a number, an array of primitive values, and what else of the JDK has a content.
    Value,
}

/// Packages of the JDK.
const JDK: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// Packages and classes of the JDK that hold other objects but are no content themselves.
const JDK_STRUCTURE: [&str; 8] = [
    "java.util.",
    "java.lang.ref.",
    "java.lang.invoke.",
    "java.lang.Thread",
    "java.lang.InheritableThreadLocal",
    "java.lang.ClassLoader",
    "jdk.internal.",
    "sun.misc.",
];

/// Parts of them that are contents nevertheless.
const JDK_VALUES: [&str; 21] = [
    "java.util.BitSet",
    "java.util.Calendar",
    "java.util.Currency",
    "java.util.Date",
    "java.util.Formatter",
    "java.util.GregorianCalendar",
    "java.util.Locale",
    "java.util.Random",
    "java.util.Scanner",
    "java.util.SimpleTimeZone",
    "java.util.SplittableRandom",
    "java.util.StringJoiner",
    "java.util.TimeZone",
    "java.util.UUID",
    "java.util.jar.",
    "java.util.logging.",
    "java.util.prefs.",
    "java.util.regex.",
    "java.util.zip.",
    "jdk.internal.foreign.",
    "jdk.internal.net.",
];

/// Packages of libraries whose classes are collections and parts of them.
const COLLECTIONS: [&str; 17] = [
    "clojure.lang.",
    "com.carrotsearch.hppc.",
    "com.github.benmanes.caffeine.",
    "com.google.common.",
    "com.googlecode.concurrentlinkedhashmap.",
    "gnu.trove.",
    "io.netty.util.",
    "io.vavr.",
    "it.unimi.dsi.fastutil.",
    "kotlin.",
    "kotlinx.collections.",
    "kotlinx.coroutines.",
    "org.agrona.",
    "org.apache.commons.collections",
    "org.eclipse.collections.",
    "org.jctools.",
    "scala.",
];

/// Part of the names of the classes of lambdas.
const LAMBDA: &str = "$$Lambda";

/// Starts of the names of the JDK's work that waits, is done, or has a result.
const WORK: [&str; 4] = [
    "java.util.concurrent.CompletableFuture",
    "java.util.concurrent.Executors$RunnableAdapter",
    "java.util.concurrent.FutureTask",
    "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask",
];

/// What objects are that stay with a holder until they are removed from it.
pub(crate) const ROLES: [&str; 7] = [
    "callback",
    "handler",
    "hook",
    "listener",
    "observer",
    "subscriber",
    "watcher",
];

/// What else is registered in the place of another object.
const CARRIERS: [&str; 3] = ["adapter", "registration", "subscription"];

/// What is known of a class.
#[derive(Clone, Copy, Debug)]
struct Row {
    part: Part,
    is_collection: bool,
    is_nested: bool,
    carries: bool,
    is_wrapper: bool,
    is_loader: bool,
    is_one_of_many: bool,
}

/// What each class is, by its number.
#[derive(Debug)]
pub(crate) struct Structure(Vec<Row>);

impl Structure {
    /// That of a heap.
    pub(crate) fn of(heap: &Heap<'_>) -> Self {
        let threads = heap.extending("java/lang/Thread").into_iter();
        let loaders = heap.extending("java/lang/ClassLoader");
        let names = (0..heap.classes()).map(|class| heap.class_name(class));
        let names: Vec<String> = names.collect();
        let is_own = |class: u32| {
            let is_loader = loaders.get(class as usize) == Some(&true);
            let name = names.get(class as usize);
            !is_loader && name.is_some_and(|name| part(name) == Part::Own)
        };
        let maps = own_maps(heap, &names, is_own);
        let row = |((class, name), (is_thread, is_loader)): ((u32, &String), (bool, bool))| {
            let part = match is_loader || maps.contains(&class) {
                true => Part::Structure,
                false => part(name),
            };
            Row {
                part,
                is_collection: !is_loader && part == Part::Structure && is_collection(name),
                is_nested: name.contains('$'),
                carries: name.contains(LAMBDA) || WORK.iter().any(|start| name.starts_with(start)),
                is_wrapper: is_wrapper(name, part),
                is_loader,
                is_one_of_many: is_thread || is_loader,
            }
        };
        let rows = (0..).zip(&names).zip(threads.zip(loaders.iter().copied()));
        Self(rows.map(row).collect())
    }

    fn is(&self, class: u32, what: impl Fn(&Row) -> bool) -> bool {
        self.0.get(class as usize).is_some_and(what)
    }

    /// The part of a class.
    #[inline]
    pub(crate) fn part(&self, class: u32) -> Part {
        let row = self.0.get(class as usize);
        row.map_or(Part::Value, |row| row.part)
    }

    /// Whether the instances of a class are collections or parts of them: structure that is neither
    /// an array nor what the JVM has beside collections.
    pub(crate) fn is_collection(&self, class: u32) -> bool {
        self.is(class, |row| row.is_collection)
    }

    /// Whether a class is in another one: of collections, such are mostly views, nodes and entries.
    pub(crate) fn is_nested(&self, class: u32) -> bool {
        self.is(class, |row| row.is_nested)
    }

    /// Whether the instances of a class are lambdas or work: they count as objects of the program
    /// if what they carry does not.
    pub(crate) fn carries(&self, class: u32) -> bool {
        self.is(class, |row| row.carries)
    }

    /// Whether the instances of a class are values of the JDK, or of a class without a name, that
    /// may hold objects of the program.
    pub(crate) fn is_wrapper(&self, class: u32) -> bool {
        self.is(class, |row| row.is_wrapper)
    }

    /// Whether the instances of a class are loaders.
    pub(crate) fn is_loader(&self, class: u32) -> bool {
        self.is(class, |row| row.is_loader)
    }

    /// Whether the instances of a class are threads or loaders: a pool has many, and what one of
    /// them retains is no fact of its own if others retain as much.
    pub(crate) fn is_one_of_many(&self, class: u32) -> bool {
        self.is(class, |row| row.is_one_of_many)
    }
}

fn part(name: &str) -> Part {
    let begins = |all: &[&str]| all.iter().any(|start| name.starts_with(start));
    if let Some(element) = name.strip_suffix("[]") {
        let is_primitive = !element.contains(['.', '[']) && is_primitive(element);
        return if is_primitive {
            Part::Value
        } else {
            Part::Structure
        };
    }
    if begins(&JDK) {
        let is_throwable = name.ends_with("Exception") || name.ends_with("Error");
        let is_structure = name == "java.lang.Class" || begins(&JDK_STRUCTURE);
        return match is_structure && !is_throwable && !begins(&JDK_VALUES) {
            true => Part::Structure,
            false => Part::Value,
        };
    }
    if begins(&COLLECTIONS) || name.contains(LAMBDA) {
        return Part::Structure;
    }
    Part::Own
}

/// Whether structure is a collection.
fn is_collection(name: &str) -> bool {
    /// Ends of the names of what has a queue, but is none.
    const WORKERS: [&str; 3] = ["Executor", "Service", "Timer"];
    const OTHERS: [&str; 5] = [
        "java.lang.",
        "java.util.concurrent.atomic.",
        "clojure.lang.Atom",
        "clojure.lang.Ref",
        "clojure.lang.Var",
    ];
    let is_other = OTHERS.iter().any(|start| name.starts_with(start));
    let works = WORKERS.iter().any(|end| name.ends_with(end));
    !is_other && !works && !name.ends_with("[]") && !name.contains(LAMBDA)
}

/// Whether a value of the JDK is neither an array nor a text, or a class of the program has no
/// name, or that of what is registered for another object.
fn is_wrapper(name: &str, part: Part) -> bool {
    let inner = name.rsplit_once('$').map_or("", |(_, inner)| inner);
    let has_no_name = !inner.is_empty() && inner.bytes().all(|it| it.is_ascii_digit());
    match part {
        Part::Own => has_no_name || has_role(name),
        Part::Value => !name.ends_with("[]") && name != "java.lang.String",
        Part::Structure => false,
    }
}

/// Whether a class is one of objects that are registered, by the end of its name.
fn has_role(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut ends = ROLES.iter().chain(&CARRIERS);
    ends.any(|end| name.ends_with(end))
}

fn is_primitive(name: &str) -> bool {
    const KINDS: [&str; 8] = [
        "boolean", "byte", "char", "double", "float", "int", "long", "short",
    ];
    KINDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_and_form_tell_the_part() {
        use Part::{Own, Structure, Value};
        for (name, expected) in [
            ("shop.Basket", Own),
            ("shop.Basket[]", Structure),
            ("int", Own),
            ("int[]", Value),
            ("int[][]", Structure),
            ("shop.int[]", Structure),
            ("java.lang.String", Value),
            ("java.lang.Object", Value),
            ("java.util.HashMap$Node", Structure),
            ("java.util.UUID", Value),
            ("java.util.NoSuchElementException", Value),
            ("java.util.concurrent.CompletableFuture", Structure),
            ("java.lang.ThreadLocal$ThreadLocalMap$Entry", Structure),
            ("java.lang.ref.SoftReference", Structure),
            ("java.time.Instant", Value),
            ("javax.swing.JFrame", Value),
            ("scala.collection.mutable.HashMap$Node", Structure),
            ("org.apache.catalina.session.StandardSession", Own),
            ("shop.Web$$Lambda/0x0000000100003450", Structure),
        ] {
            assert_eq!(part(name), expected, "{name}");
        }
    }
}
