//! Stacks in which the frames of libraries take one line.

use std::ops::Range;

use crate::output::screen::aside;

/// Packages whose frames show how something was allocated, but not why: those of the JDK's own
/// loaders, and of languages.
const PLUMBING: [&str; 12] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "netscape.javascript.",
    "org.ietf.jgss.",
    "org.jcp.xml.dsig.",
    "org.w3c.dom.",
    "org.xml.sax.",
    "kotlin.",
    "scala.",
];

/// Whether the class is one of the JDK or of a language.
pub(crate) fn is_library(class: &str) -> bool {
    PLUMBING.iter().any(|package| class.starts_with(package))
}

/// The frames in their order, as ranges: one frame, or several of libraries. The first frame says
/// what the thread does, so it stands alone. With `full`, all do.
pub(crate) fn folded(
    frames: usize,
    full: bool,
    is_library: impl Fn(usize) -> bool,
) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    for place in 0..frames {
        let goes_on = |last: &&mut Range<usize>| {
            let (first, before) = (last.start, place.saturating_sub(1));
            first > 0 && !full && is_library(place) && is_library(before)
        };
        match lines.last_mut().filter(goes_on) {
            Some(last) => last.end = place + 1,
            None => lines.push(place..place + 1),
        }
    }
    lines
}

/// `... 7 frames of libraries`.
pub(crate) fn fold(frames: usize) -> String {
    aside(&format!("... {frames} frames of libraries")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_libraries_take_one_line_below_the_first() {
        let stack = [
            "java.lang.Thread",
            "jdk.internal.A",
            "java.util.B",
            "shop.Web",
            "java.util.C",
            "shop.Web",
            "javax.D",
            "sun.E",
        ];
        let lines = |full| folded(stack.len(), full, |place| is_library(stack[place]));
        assert_eq!(lines(false), [0..1, 1..3, 3..4, 4..5, 5..6, 6..8]);
        assert_eq!(lines(true).len(), stack.len());
        assert_eq!(folded(0, false, |_| true), []);
    }

    #[test]
    fn what_the_jdks_loaders_have_is_a_library() {
        for (class, expected) in [
            ("com.sun.org.apache.xerces.internal.dom.NodeImpl", true),
            ("com.sun.net.httpserver.HttpServer", true),
            ("com.sun.jndi.ldap.LdapCtx", true),
            ("org.w3c.dom.Node", true),
            ("org.xml.sax.helpers.DefaultHandler", true),
            ("org.ietf.jgss.Oid", true),
            ("org.apache.xerces.dom.NodeImpl", false),
            ("com.sunrise.Shop", false),
            ("org.w3c.tidy.Tidy", false),
        ] {
            assert_eq!(is_library(class), expected, "{class}");
        }
    }
}
