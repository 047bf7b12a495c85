//! Prints each reachable object of a dump as hprof-analyzer computes it: id and retained bytes.

use std::io::{self, BufWriter, Write};

use hprof_analyzer::{
    analyze_to_report_with_retained, build_exploration, AnalyzeOptions, HprofSource,
};

fn main() -> io::Result<()> {
    let file = std::env::args().nth(1).expect("usage: retained-sizes FILE");
    let source = HprofSource::from(file);
    let (_, retained) = analyze_to_report_with_retained(&source, &AnalyzeOptions::default())?;
    let heap = build_exploration(&source, &retained)?;
    let mut to = BufWriter::new(io::stdout().lock());
    for object in 0..heap.n {
        // Unreachable objects have no number in the search order.
        if heap.dense_to_pre[object] != u32::MAX {
            writeln!(to, "{:#x} {}", heap.addrs[object], heap.retained[object])?;
        }
    }
    to.flush()
}
