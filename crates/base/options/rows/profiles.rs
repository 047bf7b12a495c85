//! How profiles are made.

use super::row::Row;
use crate::values::{basis_points, bytes, micros, within, yes_no};
use crate::ClassPatterns;

/// More samples cost collections too much.
const MOST_LIVE: usize = 1 << 24;
/// An hour of CPU time.
const MOST_INTERVAL_US: u32 = 3_600_000_000;

/// The options, in the order of the help.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "depth",
        values: "FRAMES",
        default: "all",
        help: "most frames of a stack. By default, all for threads, the 32 innermost for \
               samples of allocations and CPU time, and 4 for `sampling=0` and `cpu=times`",
        set: |said, value| {
            within(value, 0..=u32::MAX, "depth must be decimal and >= 0")
                .map(|frames| said.options.depth_frames = Some(frames))
        },
    },
    // Of the JDK's agent; line numbers cost nothing.
    Row {
        name: "lineno",
        values: "y|n",
        default: "y",
        help: "",
        set: |said, value| yes_no(value).map(|on| said.options.line_numbers = on),
    },
    Row {
        name: "thread",
        values: "y|n",
        default: "n",
        help: "separate traces for each thread; the text report names the threads",
        set: |said, value| yes_no(value).map(|on| said.options.by_thread = on),
    },
    // Of the JDK's agent: the smallest share of a row in a report.
    Row {
        name: "cutoff",
        values: "RATIO",
        default: "0.0001",
        help: "",
        set: |said, value| {
            within(
                value,
                0.0..=f64::INFINITY,
                "cutoff must be decimal and >= 0",
            )
            .map(|ratio| said.options.cutoff = ratio)
        },
    },
    Row {
        name: "sampling",
        values: "BYTES",
        default: "512k",
        help: "average bytes between two sampled allocations; `k` and `m` may follow. 0 counts \
               every allocation, by rewriting classes",
        set: |said, value| {
            bytes(value)
                .ok_or("sampling must be a number of bytes below 2g, as in 512k")
                .map(|interval_bytes| said.sampling.interval_bytes = interval_bytes)
        },
    },
    // Most live sampled objects to remember; beyond that, every second one is dropped and the
    // others count twice. Tests set it.
    Row {
        name: "maxlive",
        values: "N",
        default: "65536",
        help: "",
        set: |said, value| {
            within(value, 16..=MOST_LIVE, "maxlive must be from 16 to 16777216")
                .map(|most| said.sampling.most_live = most)
        },
    },
    // Percent of a thread's time that allocation samples may take; 0: no limit. Tests set it.
    Row {
        name: "maxcost",
        values: "PERCENT",
        default: "0.5",
        help: "",
        set: |said, value| {
            basis_points(value)
                .ok_or("maxcost must be from 0 to 100, as in 0.5, with two decimals at most")
                .map(|points| said.sampling.most_cost_basis_points = points)
        },
    },
    Row {
        name: "interval",
        values: "MS",
        default: "10",
        help: "CPU time of a thread between two samples; `500us` is half a millisecond. Linux \
               checks such timers every 1 to 4 ms; a sample counts for all intervals that have \
               passed",
        set: |said, value| match micros(value) {
            Some(micros @ 1..=MOST_INTERVAL_US) => {
                said.cpu_interval_us = Some(micros);
                Ok(())
            }
            Some(1..) => Err("interval must be at most an hour"),
            _ => Err("interval must be decimal and > 0"),
        },
    },
    Row {
        name: "include",
        values: "PATTERNS",
        default: "all",
        help: "times only the methods of these classes: `com.acme.*;*Service;!com.acme.gen.*`. \
               A star matches any letters, `!` leaves out, `;` or `+` separates",
        set: |said, value| {
            ClassPatterns::parse(value)
                .ok_or("")
                .map(|it| said.options.classes = it)
        },
    },
];
