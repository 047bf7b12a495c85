//! Allocation sites and CPU profiles, from records, from the objects of a heap dump and from text.

use reader::{Amount, Opened, Profiles, ReadError, Site};
use sample::*;

fn profiles(file: &[u8]) -> Profiles {
    Profiles::read(Box::new(file), reader::Budget::default()).unwrap()
}

fn amount(bytes: u64, objects: u64) -> Amount {
    Amount { bytes, objects }
}

fn sites(flags: u16, live_bytes: u32, rows: &[(u32, u32)]) -> Record {
    let mut body = bytes().u2(flags).u4(0).u4(live_bytes).u4(1).u8(900).u8(90);
    body = body.u4(rows.len() as u32);
    for (class, live) in rows {
        body = body.u1(0).u4(*class).u4(4).u4(*live).u4(1).u4(*live).u4(1);
    }
    record(0x06, body)
}

fn samples(total: u32, rows: &[(u32, u32)]) -> Record {
    let mut body = bytes().u4(total).u4(rows.len() as u32);
    for (samples, trace) in rows {
        body = body.u4(*samples).u4(*trace);
    }
    record(0x0D, body)
}

#[test]
fn objects_are_counted_by_class_and_trace() {
    let mut dump = Dump::small();
    // Another instance at the same site, two arrays at one trace, and traces without information.
    dump.heap(1).push(instance(0x3000, 4, LEAF, &[0; 17]));
    let mut ints = primitive_array(0x3008, INT, 2, &[0; 8]);
    ints[9..13].copy_from_slice(&3_u32.to_be_bytes());
    dump.heap(1).push(ints);
    dump.heap(1).push(instance(0x3010, 99, BASE, &[0; 9]));
    dump.heap(1).push(instance(0x3018, 0, BASE, &[0; 9]));
    let found = profiles(&dump.bytes());
    assert!(found.recorded.is_none() && found.has_heap);
    let table = found.dumped.unwrap();
    let site = |class: &str, trace, live| Site {
        class: class.into(),
        trace,
        live,
        allocated: None,
    };
    let rows = [
        site("app.Leaf", 4, amount(64, 2)),
        site("int[]", 3, amount(24, 1)),
    ];
    assert_eq!(table.rows, rows);
    assert_eq!(table.live, amount(88, 3));
    assert_eq!(table.stackless, amount(152 + 48, 9));
    let lines = found.stacks.frames(4).map(|frame| frame.line);
    assert!(lines.eq([-1, -3]));
}

#[test]
fn the_last_report_of_sites_counts() {
    let mut dump = without_heap();
    dump.records.push(sites(0, 100, &[(18, 60), (17, 40)]));
    dump.records.push(sites(1, 90, &[(18, 50)]));
    let found = profiles(&dump.bytes());
    let table = found.recorded.unwrap();
    let rows = table.rows.iter();
    let rows: Vec<_> = rows
        .map(|row| (row.class.as_ref(), row.live.bytes))
        .collect();
    assert_eq!(rows, [("app.Leaf", 50), ("app.Base", 40)]);
    assert_eq!(
        table.live,
        amount(90, 2),
        "the rows have two objects, the record says one"
    );
    assert_eq!(table.allocated, Some(amount(900, 90)));
    assert!(found.dumped.is_none());
}

#[test]
fn garbage_is_not_live_where_a_heap_shows_it() {
    let mut dump = Dump::small();
    // The heap has one object of the first site, and none of the second.
    dump.records.push(sites(0, 100, &[(18, 60), (17, 40)]));
    let table = profiles(&dump.bytes()).recorded.unwrap();
    let rows: Vec<_> = table
        .rows
        .iter()
        .map(|row| (&*row.class, row.live, row.allocated))
        .collect();
    let expected = [
        ("app.Leaf", amount(32, 1), Some(amount(60, 1))),
        ("app.Base", amount(0, 0), Some(amount(40, 1))),
    ];
    assert_eq!(rows, expected);
    assert_eq!((table.live, table.carried), (amount(32, 1), amount(32, 1)));
}

/// The sample without its heap.
fn without_heap() -> Dump {
    let mut dump = Dump::small();
    dump.records
        .retain(|record| !matches!(record.tag, 0x1C | 0x2C));
    dump
}

#[test]
fn sites_of_a_text_have_their_stacks() {
    let text = "JAVA PROFILE 1.0.1, created Sat Nov 21 20:49:18 2026\n\n\
        TRACE 300001:\n\tapp.Store.put(Store.java:7)\n\tapp.Main.main(Main.java:3)\n\
        SITES BEGIN (ordered by live bytes) Sat Nov 21 20:49:19 2026\n\
        \x20         percent          live          alloc'ed  stack class\n\
        \x20rank   self  accum     bytes objs     bytes  objs trace name\n\
        \x20   1 60.00% 60.00%      160    2       320     4 300001 byte[]\n\
        SITES END\n";
    let found = profiles(text.as_bytes());
    let byte_arrays = Site {
        class: "byte[]".into(),
        trace: 300_001,
        live: amount(160, 2),
        allocated: Some(amount(320, 4)),
    };
    let table = found.recorded.unwrap();
    assert_eq!(table.rows, [byte_arrays]);
    assert_eq!(
        (table.live, table.allocated),
        (amount(160, 2), Some(amount(320, 4)))
    );
    let lines = found.stacks.frames(300_001).map(|frame| frame.line);
    assert!(lines.eq([7, 3]));
    assert_eq!((found.damaged, found.has_heap), (0, false));
}

#[test]
fn samples_of_all_reports_add_up() {
    let mut dump = Dump::small();
    dump.records.push(samples(7, &[(4, 2), (2, 3)]));
    dump.records.push(samples(5, &[(3, 3)]));
    let found = profiles(&dump.bytes());
    let table = found.samples.unwrap();
    let rows: Vec<_> = table.rows.iter().map(|row| (row.trace, row.cost)).collect();
    assert_eq!((rows, table.total), (vec![(3, 5), (2, 4)], 12));
    assert!(found.times.is_none());
    assert!(profiles(&Dump::small().bytes()).samples.is_none());
}

#[test]
fn frames_of_samples_have_names() {
    let mut dump = Dump::small();
    dump.records.push(samples(7, &[(7, 2)]));
    let found = profiles(&dump.bytes());
    let frames: Vec<_> = found.stacks.frames(2).collect();
    assert_eq!(frames.len(), 2);
    assert_eq!(
        (frames[0].class.as_ref(), frames[0].method.as_ref()),
        ("app.Leaf", "run")
    );
    assert_eq!(frames[0].source.as_deref(), Some("Leaf.java"));
}

#[test]
fn text_is_told_from_binary() {
    let text = b"JAVA PROFILE 1.0.1, created Sat Nov 21 20:49:18 2026\n";
    assert!(matches!(
        Opened::new(Box::new(&text[..])),
        Ok(Opened::Text(_))
    ));
    let binary = Dump::small().bytes();
    let opened = Opened::new(Box::new(binary.as_slice()));
    assert!(matches!(opened, Ok(Opened::Binary(_))));
    for neither in [
        &b""[..],
        b"JAVA",
        b"JAVA PROFILE 1.0.1",
        b"PK\x03\x04 and so on and on",
    ] {
        let opened = Opened::new(Box::new(neither));
        assert!(matches!(opened, Err(ReadError::NotHprof)));
    }
    let found = profiles(text);
    assert!(found.recorded.is_none() && !found.has_heap);
}

#[test]
fn damage_is_counted_and_the_rest_is_read() {
    let mut dump = Dump::small();
    dump.records.insert(0, record(0x0E, bytes().u4(0)));
    dump.records.push(samples(1, &[(1, 2)]));
    let file = dump.bytes();
    assert_eq!(profiles(&file).damaged, 1);
    assert_eq!(profiles(&file).samples.unwrap().total, 1);
    assert_eq!(profiles(&file).damaged, 1);
}
