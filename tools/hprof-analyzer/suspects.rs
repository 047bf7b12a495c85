//! Prints what hprof-analyzer says of the leaks in a dump, as Markdown.

use hprof_analyzer::{
    analyze_to_report_with_retained, render_report_section, AnalyzeOptions, HprofSource,
};

fn main() -> std::io::Result<()> {
    let file = std::env::args().nth(1).expect("usage: leak-suspects FILE");
    let source = HprofSource::from(file);
    let (report, _) = analyze_to_report_with_retained(&source, &AnalyzeOptions::default())?;
    // In the order of its report.
    for section in ["triage", "leaks"] {
        println!("{}", render_report_section(&report, section));
    }
    Ok(())
}
