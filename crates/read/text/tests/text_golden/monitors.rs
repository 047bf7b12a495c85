//! Monitors: waits, owners, contention.

use super::*;
use tables::profile::*;
use text::{
    monitor_dump, monitor_time, monitor_wait, monitor_waited, Activity, Monitor, Owner, ThreadState,
};

#[test]
fn contention() {
    let row = |serial, signature, count, nanos| Contention {
        trace: trace(serial),
        signature,
        count,
        nanos,
    };
    let rows = [
        row(3, STRING, 1, 128_000_000),
        row(2, b"Ljava/lang/Object;", 12, 512_000_000),
    ];
    let contentions = Contentions::new(&rows, 0.0001);
    check("monitor_time", |out| monitor_time(&contentions, AT, out));
    let none = Contentions::new(&[], 0.0001);
    check("monitor_time_none", |out| monitor_time(&none, AT, out));
}

#[test]
fn states() {
    let state = |serial, activity| ThreadState {
        thread: thread(serial),
        trace: trace(serial + 10),
        activity,
        suspended: false,
        interrupted: false,
        in_native: false,
    };
    let threads = [
        state(1, Activity::Waiting),
        ThreadState {
            suspended: true,
            interrupted: true,
            in_native: true,
            ..state(2, Activity::Runnable)
        },
        state(3, Activity::Entering),
        state(4, Activity::Sleeping),
        state(5, Activity::NotStarted),
        state(6, Activity::Ended),
        state(7, Activity::Unknown),
    ];
    let owner = |owner, entry_count| {
        Some(Owner {
            thread: owner,
            entry_count,
        })
    };
    let monitors = [
        Monitor {
            signature: b"Ljava/lang/Object;",
            owner: owner(Some(thread(4)), 1),
            waiting_to_enter: &[Some(thread(5)), Some(thread(6)), None],
            waiting_to_be_notified: &[],
        },
        Monitor {
            signature: b"[I",
            owner: None,
            waiting_to_enter: &[],
            waiting_to_be_notified: &[Some(thread(1))],
        },
        Monitor {
            signature: MAIN,
            owner: owner(None, 3),
            waiting_to_enter: &[],
            waiting_to_be_notified: &[],
        },
    ];
    check("monitor_dump", |out| monitor_dump(&threads, &monitors, out));
}

#[test]
fn monitor_events() {
    let signature = b"Ljava/lang/Object;";
    check("monitor_events", |out| {
        monitor_wait(signature, 0, Some(thread(3)), out)?;
        monitor_waited(signature, 512, Some(thread(3)), out)?;
        monitor_wait(b"[I", 5_000_000_000, None, out)?;
        monitor_waited(b"[I", 5_000_000_000, None, out)
    });
}
