//! Broken frames, traces and threads.

use super::*;

broken! {
    frame_twice, ["duplicate-frame"], |dump| {
        let at = dump.at(0x04, 0);
        let again = dump.records[at].clone();
        dump.records.insert(at, again);
    };
    frame_id_left_out, ["frame-id-gap"], |dump| insert_frame(dump, 5, 1);
    frame_behind_its_trace, ["frame-late"], |dump| {
        let at = dump.at(0x04, 0);
        let late = dump.records.remove(at);
        let at = dump.at(0x1C, 0);
        dump.records.insert(at, late);
    };
    trace_with_a_missing_frame, ["frame-missing"], |dump| {
        let at = dump.at(0x05, 3);
        dump.records[at] = trace(4, 0, &[99]);
    };
    line_zero, ["line-number"], |dump| insert_frame(dump, 4, 0);
    line_minus_four, ["line-number"], |dump| insert_frame(dump, 4, -4);
    trace_twice, ["duplicate-trace"], |dump| {
        let at = dump.at(0x05, 3);
        dump.records.insert(at, trace(4, 0, &[1]));
    };
    trace_serial_left_out, ["trace-serial-gap"], |dump| {
        let at = dump.at(0x1C, 0);
        dump.records.insert(at, trace(6, 0, &[]));
    };
    trace_behind_its_use, ["trace-late"], |dump| {
        let at = dump.at(0x05, 3);
        let late = dump.records.remove(at);
        dump.records.push(late);
    };
    trace_nowhere, ["trace-missing"], |dump| dump.heap(1).push(instance(0x3000, 88, OBJECT, &[]));
    object_with_trace_zero, ["trace-zero"], |dump| dump.heap(1).push(instance(0x3000, 0, OBJECT, &[]));
    no_empty_trace, ["empty-trace-missing", "trace-serial-gap"], |dump| {
        let at = dump.at(0x05, 0);
        dump.records.remove(at);
    };
    trace_1_with_frames, ["empty-trace-missing"], |dump| {
        let at = dump.at(0x05, 0);
        dump.records[at] = trace(1, 0, &[1]);
    };
    alloc_trace_with_the_serial_of_a_live_thread, ["thread-trace-shared"], |dump| {
        let at = dump.at(0x05, 3);
        dump.records[at] = trace(4, 1, &[2, 3]);
    };
    trace_of_an_unknown_thread, ["thread-missing"], |dump| {
        let at = dump.at(0x05, 3);
        dump.records[at] = trace(4, 9, &[2, 3]);
    };
    thread_root_twice, ["duplicate-thread"], |dump| dump.heap(0).push(thread_root(MAIN, 1, 2));
    thread_serial_left_out, ["thread-serial-gap"], |dump| dump.heap(0).push(thread_root(BASE_OBJECT, 9, 1));
    frame_root_before_its_thread, ["thread-late"], |dump| {
        let at = dump.place(0, 0x08, WORKER);
        let late = dump.heap(0).remove(at);
        dump.heap(0).push(late);
    };
    frame_root_with_thread_zero, ["thread-missing"], |dump| dump.heap(0).push(frame_root(ARRAY, 0, 0));
    frame_root_of_an_unknown_thread, ["thread-missing"], |dump| dump.heap(0).push(frame_root(ARRAY, 9, 0));
    thread_with_anothers_trace, ["thread-trace-mismatch", "frame-number"], |dump| {
        let at = dump.place(0, 0x08, MAIN);
        dump.heap(0)[at] = thread_root(MAIN, 1, 3);
    };
    thread_without_stack, [], |dump| dump.heap(0).push(thread_root(BASE_OBJECT, 3, 1));
    frame_number_below_the_stack, ["frame-number"], |dump| dump.heap(0).push(frame_root(ARRAY, 1, 2));
    end_of_an_unknown_thread, ["thread-missing"], |dump| dump.records.push(record(0x0B, bytes().u4(9)));
    samples_of_a_missing_trace, ["trace-missing"], |dump| {
        dump.records.push(record(0x0D, bytes().u4(1).u4(1).u4(1).u4(99)));
    };
}
