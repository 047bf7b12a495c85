//! Real output of the JDK's own agent, parsed and written again by our encoders, must give the same
//! bytes.
//!
//! `tests/real/README.md` describes the origin of the files. The parser here shares nothing with
//! the encoders.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod heap_dump;

use heap_dump::{put_array, put_class, put_instance, put_root};
use std::path::Path;

use format::ClassName;
use tables::profile::{
    Contention, Contentions, Cost, Costs, Method, Site, SiteOrder, SiteTotals, Sites,
};
use tables::{ClassId, Line, ObjectId, ThreadId, TraceId};
use text::{
    heap_line, thread_end, Activity, Call, CpuSamplesBlock, CpuTimeBlock, Frame, Header, Moment,
    Monitor, MonitorDump, MonitorEvent, MonitorTimeBlock, OldMethod, OldProfile, Owner, SitesBlock,
    ThreadStart, ThreadState, Trace,
};

/// Lines of a file, one after the other.
struct Lines<'a> {
    rest: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    fn of(mut rest: Vec<&'a str>) -> Self {
        rest.reverse();
        Self { rest }
    }

    fn next(&mut self) -> Option<&'a str> {
        self.rest.pop()
    }

    /// The lines before the first that is not wanted.
    fn while_next(&mut self, wanted: impl Fn(&str) -> bool) -> Vec<&'a str> {
        let mut taken = Vec::new();
        while self.rest.last().is_some_and(|line| wanted(line)) {
            taken.extend(self.rest.pop());
        }
        taken
    }

    /// The lines up to and including this one.
    fn until(&mut self, end: &str) -> Vec<&'a str> {
        let taken = self.while_next(|line| line != end);
        assert_eq!(self.next(), Some(end));
        taken
    }
}

/// The text between the first `start` and the next `end`.
fn between<'a>(line: &'a str, start: &str, end: &str) -> &'a str {
    let (_, after) = line.split_once(start).expect(line);
    after.split_once(end).expect(line).0
}

fn number<N: std::str::FromStr>(text: &str) -> N {
    text.trim().parse().ok().expect(text)
}

fn object(hex: &str) -> ObjectId {
    ObjectId::new(u64::from_str_radix(hex.trim(), 16).expect(hex)).unwrap()
}

fn trace(text: &str) -> TraceId {
    TraceId::new(number(text)).unwrap()
}

fn thread(text: &str) -> Option<ThreadId> {
    ThreadId::new(number(text))
}

/// `Tue Jul 24 17:50:46 2018`, counted by years and months.
fn moment(text: &str) -> Moment {
    let words: Vec<&str> = text.split_whitespace().collect();
    let year: i64 = number(words[4]);
    let leap = |year: i64| i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    let lengths = [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = months.find(words[1]).unwrap() / 3;
    let days = (1970..year).map(|year| 365 + leap(year)).sum::<i64>()
        + lengths[..month].iter().sum::<i64>()
        + number::<i64>(words[2])
        - 1;
    let clock: Vec<i64> = words[3].split(':').map(number).collect();
    Moment {
        seconds_since_epoch: days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2],
        utc_offset_seconds: 0,
    }
}

/// `java.lang.String[]` as a signature.
fn signature(source: &str) -> Vec<u8> {
    let element = source.trim_end_matches("[]");
    let dimensions = (source.len() - element.len()) / 2;
    let descriptor = match element {
        "boolean" => "Z".to_owned(),
        "char" => "C".to_owned(),
        "float" => "F".to_owned(),
        "double" => "D".to_owned(),
        "byte" => "B".to_owned(),
        "short" => "S".to_owned(),
        "int" => "I".to_owned(),
        "long" => "J".to_owned(),
        class => format!("L{};", class.replace('.', "/")),
    };
    [vec![b'['; dimensions], descriptor.into_bytes()].concat()
}

/// The signature of the class and the name of `java.lang.Object.wait`.
fn method_parts(text: &str) -> (Vec<u8>, &[u8]) {
    let (class, name) = text.rsplit_once('.').expect(text);
    (signature(class), name.as_bytes())
}

fn method<'a>(class: &'a [u8], name: &'a [u8]) -> Method<'a> {
    let class = ClassName::from_signature(class);
    Method { class, name }
}

type Out = Vec<u8>;

fn put_head(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let created = moment(line.split_once("created ").unwrap().1);
    let mut head = Vec::new();
    Header { created }.encode(&mut head).unwrap();
    let head = String::from_utf8(head).unwrap();
    let (first, rest) = head.split_once('\n').unwrap();
    assert!(rest.starts_with('\n') && rest.ends_with("\n\n--------\n\n"));
    lines.until("--------");
    lines.next();
    out.extend_from_slice(format!("{first}\n\n--------\n\n").as_bytes());
}

fn put_thread(line: &str, out: &mut Out) {
    if line.starts_with("THREAD END") {
        return thread_end(thread(between(line, "id = ", ")")).unwrap(), out).unwrap();
    }
    ThreadStart {
        thread: thread(between(line, "id = ", ",")).unwrap(),
        object: Some(object(between(line, "obj=", ","))),
        name: between(line, "name=\"", "\"").as_bytes(),
        group: between(line, "group=\"", "\"").as_bytes(),
    }
    .encode(out)
    .unwrap();
}

fn put_trace(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let frames: Vec<_> = lines
        .while_next(|line| line.starts_with('\t'))
        .into_iter()
        .filter(|line| *line != "\t<empty>")
        .map(|line| {
            let (called, place) = line.trim().rsplit_once('(').unwrap();
            let (source, place) = place.trim_end_matches(')').rsplit_once(':').unwrap();
            let line = match place {
                "Unknown line" => Line::Unknown,
                place => Line::Number(number(place)),
            };
            (method_parts(called), source.as_bytes(), line)
        })
        .collect();
    let frames: Vec<Frame<'_>> = frames
        .iter()
        .map(|((class, name), source, line)| Frame {
            method: method(class, name),
            source,
            line: *line,
        })
        .collect();
    Trace {
        serial: trace(between(line, "TRACE ", ":")),
        thread: line
            .contains("thread=")
            .then(|| thread(between(line, "thread=", ")")).unwrap()),
        phase: None,
        frames: &frames,
    }
    .encode(out)
    .unwrap();
}

fn put_sites(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let rows = lines.until("SITES END");
    let names: Vec<Vec<u8>> = rows[2..]
        .iter()
        .map(|row| signature(row.split_whitespace().nth(8).unwrap()))
        .collect();
    let totals = |columns: &[&str]| SiteTotals {
        bytes: number(columns[0]),
        objects: number(columns[1]),
    };
    // The old agent sorts rows with equal weight arbitrarily: here the class's number decides.
    let sites: Vec<Site<'_>> = (1..)
        .zip(rows[2..].iter().zip(&names))
        .map(|(place, (row, signature))| {
            let columns: Vec<&str> = row.split_whitespace().collect();
            Site {
                class: ClassId::new(place).unwrap(),
                name: ClassName::from_signature(signature),
                trace: trace(columns[7]),
                live: totals(&columns[3..]),
                allocated: totals(&columns[5..]),
            }
        })
        .collect();
    let sites = Sites::new(&sites, SiteOrder::LiveBytes, 0.0);
    let at = moment(line.split_once(") ").unwrap().1);
    SitesBlock { sites: &sites, at }.encode(out).unwrap();
}

fn put_cpu(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let samples = line.starts_with("CPU SAMPLES");
    let title = if samples {
        "CPU SAMPLES"
    } else {
        "CPU TIME (ms)"
    };
    let rows = lines.until(&format!("{title} END"));
    let total: u64 = number(between(line, "total = ", ")"));
    let names: Vec<_> = rows[1..]
        .iter()
        .map(|row| method_parts(row.split_whitespace().nth(5).unwrap()))
        .collect();
    let costs: Vec<Cost<'_>> = rows[1..]
        .iter()
        .zip(&names)
        .map(|(row, (class, name))| {
            let columns: Vec<&str> = row.split_whitespace().collect();
            let count = number(columns[3]);
            // If the total is below 5,000 ms, a percentage with two decimals matches one number of
            // ms.
            let hundredths: u64 = number(&columns[1].replace(['.', '%'], ""));
            let millis = (hundredths * total + 5_000) / 10_000;
            Cost {
                trace: trace(columns[4]),
                top: Some(method(class, name)),
                count,
                own: if samples { count } else { millis * 1_000_000 },
            }
        })
        .collect();
    let costs = Costs::new(&costs, 0.0);
    let at = moment(line.rsplit_once(") ").unwrap().1);
    if samples {
        let samples = &costs;
        return CpuSamplesBlock { samples, at }.encode(out).unwrap();
    }
    let times = &costs;
    CpuTimeBlock { times, at }.encode(out).unwrap();
}

fn old_method<'a>(((class, name), descriptor): &'a OldParts<'a>) -> OldMethod<'a> {
    let method = method(class, name);
    OldMethod { method, descriptor }
}

/// Signature and name of a method, and its descriptor.
type OldParts<'a> = ((Vec<u8>, &'a [u8]), &'a [u8]);

fn old_parts(text: &str) -> Option<OldParts<'_>> {
    let (called, descriptor) = text.split_at(text.find('(')?);
    Some((method_parts(called), descriptor.as_bytes()))
}

fn put_old(lines: &mut Lines<'_>, out: &mut Out) {
    let rows: Vec<String> = lines
        .while_next(|_| true)
        .iter()
        .map(|row| row.replace("<unknown caller>", "<unknown>"))
        .collect();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            let columns: Vec<&str> = row.split(' ').collect();
            let (callee, caller) = (old_parts(columns[1]), old_parts(columns[2]));
            (
                number(columns[0]),
                callee,
                caller,
                number::<u64>(columns[3]),
            )
        })
        .collect();
    let calls: Vec<Call<'_>> = rows
        .iter()
        .map(|(count, callee, caller, millis)| Call {
            callee: callee.as_ref().map(old_method),
            caller: caller.as_ref().map(old_method),
            count: *count,
            nanos: millis * 1_000_000,
        })
        .collect();
    OldProfile { calls: &calls }.encode(out).unwrap();
}

fn put_event(line: &str, out: &mut Out) {
    let signature = between(line, "MONITOR ", ",").as_bytes();
    let thread = thread(line.rsplit_once("thread ").unwrap().1);
    let event = if line.starts_with("WAIT:") {
        let timeout_millis = number(between(line, "timeout=", ","));
        MonitorEvent::Wait {
            signature,
            timeout_millis,
            thread,
        }
    } else {
        let waited_millis = number(between(line, "time_waited=", ","));
        MonitorEvent::Waited {
            signature,
            waited_millis,
            thread,
        }
    };
    event.encode(out).unwrap();
}

fn put_monitor_dump(lines: &mut Lines<'_>, out: &mut Out) {
    let mut lines = Lines::of(lines.until("MONITOR DUMP END"));
    let threads: Vec<ThreadState> = lines
        .while_next(|line| line.starts_with("    THREAD"))
        .into_iter()
        .map(|line| ThreadState {
            thread: thread(between(line, "THREAD ", ",")).unwrap(),
            trace: trace(between(line, "trace ", ",")),
            activity: match line.rsplit_once(' ').unwrap().1 {
                "ZO" => Activity::Ended,
                "SL" => Activity::Sleeping,
                "MW" => Activity::Entering,
                "CW" => Activity::Waiting,
                "R" => Activity::Runnable,
                other => panic!("{other}"),
            },
            suspended: false,
            interrupted: false,
            in_native: false,
        })
        .collect();
    let waiters = |line: &str| -> Vec<Option<ThreadId>> {
        let list = line.split_once(':').unwrap().1;
        let names = list.split(',').filter(|name| !name.is_empty());
        names
            .map(|name| thread(&name[" thread ".len()..]))
            .collect()
    };
    let mut rows = Vec::new();
    while let Some(head) = lines.next() {
        let owner = lines.next().unwrap();
        let owner = Owner {
            thread: thread(between(owner, "owner: thread ", ",")),
            entry_count: number(owner.rsplit_once(' ').unwrap().1),
        };
        let (enter, notify) = (lines.next().unwrap(), lines.next().unwrap());
        let signature = head.trim().split_once(' ').unwrap().1;
        rows.push((signature, owner, waiters(enter), waiters(notify)));
    }
    let monitors: Vec<Monitor<'_>> = rows
        .iter()
        .map(|(signature, owner, enter, notify)| Monitor {
            signature: signature.as_bytes(),
            owner: Some(*owner),
            waiting_to_enter: enter,
            waiting_to_be_notified: notify,
        })
        .collect();
    MonitorDump {
        threads: &threads,
        monitors: &monitors,
    }
    .encode(out)
    .unwrap();
}

fn put_monitor_time(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let rows = lines.until("MONITOR TIME END");
    assert_eq!(rows.len(), 2, "the share of a single row is known");
    let columns: Vec<&str> = rows[1].split_whitespace().collect();
    let row = Contention {
        trace: trace(columns[4]),
        signature: &signature(columns[5]),
        count: number(columns[3]),
        nanos: number::<u64>(between(line, "total = ", " ms")) * 1_000_000,
    };
    let rows = [row];
    let contentions = &Contentions::new(&rows, 0.0);
    let at = moment(line.rsplit_once(") ").unwrap().1);
    MonitorTimeBlock { contentions, at }.encode(out).unwrap();
}

/// The same text, written from its contents.
fn rewritten(text: &str) -> String {
    let (mut lines, mut out) = (Lines::of(text.lines().collect()), Vec::new());
    while let Some(line) = lines.next() {
        match line.split([' ', ':']).next().unwrap() {
            "JAVA" => put_head(line, &mut lines, &mut out),
            "THREAD" => put_thread(line, &mut out),
            "TRACE" => put_trace(line, &mut lines, &mut out),
            "SITES" => put_sites(line, &mut lines, &mut out),
            "CPU" => put_cpu(line, &mut lines, &mut out),
            "count" => put_old(&mut lines, &mut out),
            "WAIT" | "WAITED" => put_event(line, &mut out),
            "MONITOR" if line.starts_with("MONITOR TIME") => {
                put_monitor_time(line, &mut lines, &mut out);
            }
            "MONITOR" => put_monitor_dump(&mut lines, &mut out),
            "HEAP" if line.ends_with("END") => heap_line::end(&mut out).unwrap(),
            "HEAP" => {
                let objects = number(between(line, "(", " "));
                let bytes = number(between(line, "objects, ", " "));
                let at = moment(line.split_once(") ").unwrap().1);
                heap_line::begin(objects, bytes, at, &mut out).unwrap();
            }
            "ROOT" => put_root(line, &mut out),
            "OBJ" => put_instance(line, &mut lines, &mut out),
            "ARR" => put_array(line, &mut lines, &mut out),
            "CLS" => put_class(line, &mut lines, &mut out),
            other => panic!("{other}: {line}"),
        }
    }
    String::from_utf8(out).unwrap()
}

/// Compares line by line; rows with equal share may be in another order, because the old sort is
/// not stable.
fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/real/{name}.txt"));
    let real = std::fs::read_to_string(&path).expect(name);
    let ours = rewritten(&real);
    assert_eq!(ours.lines().count(), real.lines().count(), "{name}");
    let mut swapped: Vec<(String, String)> = Vec::new();
    for (ours, real) in ours.lines().zip(real.lines()) {
        if ours != real {
            let (our_share, our_rest) = row_parts(ours);
            let (real_share, real_rest) = row_parts(real);
            assert_eq!(our_share, real_share, "{name}: {ours}");
            swapped.push((our_rest.to_owned(), real_rest.to_owned()));
        }
    }
    let (mut ours, mut real): (Vec<_>, Vec<_>) = swapped.into_iter().unzip();
    ours.sort();
    real.sort();
    assert_eq!(ours, real, "{name}");
}

/// Rank and shares of a ranked row, and the rest.
fn row_parts(line: &str) -> (&str, &str) {
    match line.rfind('%') {
        Some(end) => line.split_at(end + 1),
        None => (line.split(' ').next().unwrap(), line),
    }
}

#[test]
fn sites_are_as_they_were() {
    check("sites");
}

#[test]
fn samples_and_times_are_as_they_were() {
    check("samples");
    check("times");
}

#[test]
fn the_old_profile_is_as_it_was() {
    check("old");
}

#[test]
fn monitors_are_as_they_were() {
    check("monitors");
}

#[test]
fn a_heap_dump_is_as_it_was() {
    check("heap_dump");
}
