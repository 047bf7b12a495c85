//! Text profiles line by line.

use super::*;
use crate::sites::Site;

const PROFILE: &str = "\
JAVA PROFILE 1.0.1, created Sat Nov 21 20:49:18 2026

TRACE           represents a Java stack trace
SITES           is a sorted list
--------
THREAD START (obj=50000233, id = 200001, name=\"main\", group=\"main\")
TRACE 300000:
\t<empty>
TRACE 300142: (thread=200001) (from primordial phase of JVM)
\tdemo.Main.<init>(Main.java:79)
\tjava.lang.Object.wait(Object.java:Unknown line)
\tlambda(<Unknown Source>:Native method)
SITES BEGIN (ordered by live bytes) Tue Jul 24 17:50:46 2018
          percent          live          alloc'ed  stack class
 rank   self  accum     bytes objs     bytes  objs trace name
    1 25.98% 25.98%    273264 3016    273264  3016 300000 char[]
   12  0.74% 48.10%      8192  256      9984   312 300142 demo.Node
SITES END
CPU SAMPLES BEGIN (total = 35) Tue Jan  3 07:36:39 2017
rank   self  accum   count trace method
   1 45.71% 45.71%      16 300142 demo.Main.work
CPU SAMPLES END
CPU TIME (ms) BEGIN (total = 11279) Thu Nov  2 17:11:21 2017
rank   self  accum   count trace method
   1 57.82% 57.82%      30 300142 demo.Main.work
CPU TIME (ms) END
";

fn events(text: &str) -> (Vec<TextEvent>, u64) {
    let mut reader = TextReader::new(Box::new(text.as_bytes()));
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        events.push(event);
    }
    (events, reader.damaged())
}

fn frame(class: &str, method: &str, source: Option<&str>, line: i32) -> StackFrame {
    StackFrame {
        class: class.into(),
        method: method.into(),
        source: source.map(Into::into),
        line,
    }
}

#[test]
fn traces_and_sections_are_found() {
    let (events, damaged) = events(PROFILE);
    assert_eq!((events.len(), damaged), (5, 0));
    assert_eq!(events[0], TextEvent::Trace(300_000, vec![]));
    let frames = vec![
        frame("demo.Main", "<init>", Some("Main.java"), 79),
        frame("java.lang.Object", "wait", Some("Object.java"), -1),
        frame("", "lambda", None, -3),
    ];
    assert_eq!(events[1], TextEvent::Trace(300_142, frames));
}

#[test]
fn rows_have_their_numbers() {
    let (events, _) = events(PROFILE);
    let TextEvent::Sites(sites) = &events[2] else {
        panic!("{events:?}")
    };
    let amount = |bytes, objects| Amount { bytes, objects };
    let node = Site {
        class: "demo.Node".into(),
        trace: 300_142,
        live: amount(8192, 256),
        allocated: Some(amount(9984, 312)),
    };
    assert_eq!(sites.rows[1], node);
    assert_eq!(sites.live, amount(273_264 + 8192, 3272));
    let costs = |event: &TextEvent| match event {
        TextEvent::Cpu(kind, table) => (*kind, table.total, table.rows[0].cost),
        other => panic!("{other:?}"),
    };
    assert_eq!(costs(&events[3]), (CpuKind::Samples, 35, 16));
    // 57.82 % of 11279 ms.
    assert_eq!(costs(&events[4]), (CpuKind::Times, 11_279, 6_522));
}

#[test]
fn windows_line_ends_change_nothing() {
    assert_eq!(events(&PROFILE.replace('\n', "\r\n")), events(PROFILE));
}

#[test]
fn lines_that_do_not_fit_are_counted() {
    for (from, to, expected) in [
        ("SITES END\n", "", 1),
        ("  273264  3016 300000", "  much", 1),
        ("CPU TIME (ms) END\n", "", 1),
        ("45.71% 45.71%", "-nan% -nan%", 0),
        ("    273264 3016 ", "    -1 3016 ", 0),
    ] {
        let text = PROFILE.replace(from, to);
        assert_ne!(text, PROFILE, "{from}");
        assert_eq!(events(&text).1, expected, "{from}");
    }
}

#[test]
fn numbers_that_wrapped_are_mended() {
    assert_eq!(rows::unsigned("-1"), Some(u64::from(u32::MAX)));
    assert_eq!(rows::unsigned("4294967296"), Some(1 << 32));
    assert_eq!(rows::unsigned("-4294967296"), None);
    assert_eq!(rows::unsigned("x"), None);
}
