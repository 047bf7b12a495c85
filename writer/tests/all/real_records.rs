//! Real records of the JDK's own agent, parsed and written again by our encoders, must give the
//! same bytes.
//!
//! See `crates/read/text/tests/real/README.md` for their origin. None of these records contains an
//! id, so it does not matter that the old agent's ids have four bytes.

use format::record::{EndThread, Record};
use format::{ClassName, RECORD_HEADER_BYTES};
use tables::profile::{Cost, Costs, Site, SiteOrder, SiteTotals, Sites};
use tables::{ClassId, TraceId};
use writer::profile_record::{alloc_sites, control_settings, cpu_samples, heap_summary};
use writer::record::encode;

/// The body of the record of this name.
fn real(name: &str) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real/records.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let hex = line.and_then(|line| line.strip_prefix(": ")).expect(name);
    hex.as_bytes()
        .chunks(2)
        .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap())
        .collect()
}

/// The body of the record encoded here.
fn ours(record: &Record) -> Vec<u8> {
    let mut out = Vec::new();
    encode(record, &mut out).unwrap();
    out.split_off(RECORD_HEADER_BYTES)
}

fn u4(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u8_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn totals(bytes: u64, objects: u64) -> SiteTotals {
    SiteTotals { bytes, objects }
}

fn small_totals(bytes: &[u8], at: usize) -> SiteTotals {
    totals(u4(bytes, at).into(), u4(bytes, at + 4).into())
}

#[test]
fn settings() {
    for (name, alloc_traces, depth_frames) in [
        ("control_settings sites", true, 0),
        ("control_settings cpu", false, 7),
    ] {
        let settings = control_settings(alloc_traces, !alloc_traces, depth_frames);
        assert_eq!(ours(&settings), real(name));
    }
}

#[test]
fn the_end_of_a_thread() {
    let body = real("end_thread");
    let serial = u4(&body, 0);
    assert_eq!(ours(&Record::EndThread(EndThread { serial })), body);
}

#[test]
fn totals_of_the_heap() {
    let body = real("heap_summary");
    let allocated = totals(u8_at(&body, 8), u8_at(&body, 16));
    let summary = heap_summary(small_totals(&body, 0), allocated);
    assert_eq!(ours(&Record::HeapSummary(summary)), body);
}

#[test]
fn samples() {
    let body = real("cpu_samples");
    let costs: Vec<Cost<'_>> = body[8..]
        .chunks(8)
        .map(|row| Cost {
            trace: TraceId::new(u4(row, 4)).unwrap(),
            top: None,
            count: u4(row, 0).into(),
            own: u4(row, 0).into(),
        })
        .collect();
    let samples = Costs::new(&costs, 0.0);
    assert_eq!(samples.whole(), u64::from(u4(&body, 0)));
    let ours = ours(&cpu_samples(&samples));
    // The old agent sorts traces with equal counts arbitrarily.
    let sorted = |body: &[u8]| {
        let mut rows: Vec<Vec<u8>> = body[8..].chunks(8).map(<[u8]>::to_vec).collect();
        rows.sort();
        (body[..8].to_vec(), rows)
    };
    assert_eq!(sorted(&ours), sorted(&body));
}

const HEAD_BYTES: usize = 34;

#[test]
fn allocation_sites() {
    let mut body = real("alloc_sites");
    // The old agent wrote half of a double: item 11 in its list of faults. The cutoff was 0.02.
    body[2..6].copy_from_slice(&0.02_f32.to_be_bytes());
    let signature = |kind: u8| -> &'static [u8] {
        match kind {
            0 => b"Ljava/lang/String;",
            5 => b"[C",
            8 => b"[B",
            _ => b"[[I",
        }
    };
    let mut sites: Vec<Site<'_>> = body[HEAD_BYTES..]
        .chunks(25)
        .map(|row| Site {
            class: ClassId::new(u4(row, 1)).unwrap(),
            name: ClassName::from_signature(signature(row[0])),
            trace: TraceId::new(u4(row, 5)).unwrap(),
            live: small_totals(row, 9),
            allocated: small_totals(row, 17),
        })
        .collect();
    sites.extend(cut_off(&sites, small_totals(&body, 6)));
    let sites = Sites::new(&sites, SiteOrder::LiveBytes, 0.02);
    let ours = ours(&alloc_sites(&sites));
    assert_eq!(ours, body);
}

/// Sites below the cutoff that complete these totals; each has less than two percent.
fn cut_off(listed: &[Site<'static>], all: SiteTotals) -> Vec<Site<'static>> {
    const SITES: u64 = 64;
    let listed_bytes: u64 = listed.iter().map(|site| site.live.bytes).sum();
    let listed_objects: u64 = listed.iter().map(|site| site.live.objects).sum();
    let part = |rest: u64, place| rest * (place + 1) / SITES - rest * place / SITES;
    (0..SITES)
        .map(|place| {
            let bytes = part(all.bytes - listed_bytes, place);
            let objects = part(all.objects - listed_objects, place);
            Site {
                live: totals(bytes, objects),
                allocated: totals(bytes, objects),
                ..listed[0]
            }
        })
        .collect()
}
