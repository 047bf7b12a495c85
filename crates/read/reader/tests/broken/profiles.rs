//! Broken records of profiles.

use super::*;

// Profiles.
broken! {
    site_of_an_array_of_nothing, ["site-type"], |dump| {
        let mut odd = site(18, 4, [1; 4]);
        odd[0] = 12;
        dump.records.push(sites(1, &[odd]));
    };
    site_twice, ["duplicate-site"], |dump| {
        dump.records.push(sites(2, &[site(18, 4, [1; 4]), site(18, 4, [1; 4])]));
    };
    sites_of_one_class_or_one_trace, [], |dump| {
        dump.records.push(sites(9, &[site(18, 4, [1; 4]), site(18, 1, [2; 4]), site(17, 4, [1; 4])]));
    };
    sites_beyond_their_totals, ["site-totals"], |dump| {
        dump.records.push(sites(2, &[site(18, 4, [1; 4]), site(17, 4, [2; 4])]));
    };
    sites_beyond_a_number_at_its_end, [], |dump| {
        let rows = [site(18, 4, [u32::MAX; 4]), site(17, 4, [u32::MAX; 4])].concat();
        let totals = bytes().u2(0).u4(0).u4(u32::MAX).u4(u32::MAX).u8(1 << 33).u8(1 << 33);
        dump.records.push(record(0x06, totals.u4(2).all(&rows)));
    };
    site_with_more_alive_than_allocated, [], |dump| {
        dump.records.push(sites(9, &[site(18, 4, [9, 2, 8, 2])]));
    };
    sites_with_more_alive_than_allocated, ["live-not-allocated"], |dump| {
        let totals = bytes().u2(0).u4(0).u4(9).u4(2).u8(8).u8(2);
        dump.records.push(record(0x06, totals.u4(1).all(&site(18, 4, [8, 2, 8, 2]))));
    };
    summary_with_more_alive_than_allocated, ["live-not-allocated", "heap-summary-in-dump"], |dump| {
        dump.records.insert(0, record(0x07, bytes().u4(1).u4(2).u8(1).u8(1)));
    };
    site_of_a_missing_trace, ["trace-missing"], |dump| dump.records.push(sites(1, &[site(18, 99, [1; 4])]));
    site_of_a_missing_class, ["class-serial-missing"], |dump| dump.records.push(sites(1, &[site(99, 4, [1; 4])]));
    site_with_the_cutoff_of_the_jdk, ["site-cutoff"], |dump| {
        let totals = bytes().u2(0).u4(0xEB1C_432D).u4(0).u4(0).u8(0).u8(0);
        dump.records.push(record(0x06, totals.u4(0)));
    };
    samples_twice_for_one_trace, ["duplicate-sample"], |dump| {
        dump.records.push(record(0x0D, bytes().u4(2).u4(2).u4(1).u4(4).u4(1).u4(4)));
    };
    samples_beyond_their_total, ["sample-total"], |dump| {
        dump.records.push(record(0x0D, bytes().u4(2).u4(2).u4(1).u4(4).u4(2).u4(2)));
    };
    control_flag_that_is_none, ["control-flags"], |dump| dump.records.push(record(0x0E, bytes().u4(4).u2(4)));
}
