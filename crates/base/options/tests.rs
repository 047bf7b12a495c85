//! Tests of the option table: every row's values and errors, the cross-checks, the help.

use super::parsing::{parse_command_with, parse_with};
use super::rows::rows;
use super::*;
use std::time::Duration;

fn options(text: &str) -> Options {
    match parse_with(text, "") {
        Ok(Parsed::Options(options)) => *options,
        other => panic!("{text}: {other:?}"),
    }
}

fn file(name: &str) -> Destination {
    Destination::File(FileName::parse(name).unwrap())
}

fn refusal(text: &str) -> String {
    match parse_with(text, "") {
        Err(error) => error.to_string(),
        Ok(parsed) => panic!("{text} was accepted: {parsed:?}"),
    }
}

#[test]
fn the_defaults_of_a_heap_dump() {
    let options = options("heap=dump");
    assert_eq!(options.destination, file("java.hprof"));
    assert!(options.dump_on_exit && !options.force && options.verbose && options.line_numbers);
    assert!(!options.is_named);
    assert!(options.primitive_fields && options.primitive_arrays);
    assert_eq!(options.depth_frames, None);
    assert!(options.notes.is_empty());
}

#[test]
fn of_the_environment_a_command_takes_the_limits_alone() {
    let options = |text, environment| match parse_command_with(text, environment) {
        Ok(Parsed::Options(options)) => *options,
        other => panic!("{text} {environment}: {other:?}"),
    };
    let environment = "file=/d/env.hprof,net=h:1,gz=9,stop=y,heap=sites,redact=arrays,drop=A#b";
    let asked = options("heap=dump,file=/d/a.hprof,drop=C#d", environment);
    assert_eq!(asked.destination, file("/d/a.hprof"));
    assert!(asked.is_named && asked.gzip.is_none() && asked.sampling.is_none());
    assert_eq!(asked.stop_the_world, StopTheWorld::IfNeeded);
    assert_eq!(asked.redaction.what, Redacted::Arrays);
    assert!(asked.redaction.drop.matches(b"A", b"b") && asked.redaction.drop.matches(b"C", b"d"));
    let asked = options("heap=dump,redact=strings,keep=A#a", environment);
    assert_eq!(asked.redaction.what, Redacted::Arrays);
    assert!(asked.redaction.keep.is_empty());
    assert!(asked
        .notes
        .iter()
        .any(|note| note.starts_with("keep= does nothing")));
    let asked = options("heap=dump,redact=all", "redact=arrays,keep=A#a");
    assert_eq!(asked.redaction.what, Redacted::All);
    assert!(parse_command_with("heap=dump", "redact=nonsense").is_err());
    assert!(parse_command_with("heap=dump", "nonsense=y").is_ok());
}

#[test]
fn a_command_gets_the_name_that_it_gives() {
    let options = |text| match parse_command_with(text, "") {
        Ok(Parsed::Options(options)) => *options,
        other => panic!("{text}: {other:?}"),
    };
    for (text, is_named) in [
        ("heap=dump", false),
        ("heap=dump,file=a", true),
        ("heap=sites,do=sites,file=a", false),
        ("heap=sites,do=sites=a", true),
    ] {
        assert_eq!(options(text).is_named, is_named, "{text}");
    }
}

#[test]
fn every_built_switch_is_taken() {
    let options = options(
        "heap=dump,format=b,file=a/b.hprof,depth=0,lineno=n,doe=n,force=n,verbose=n,primfields=n,primarrays=n,thread=n,monitor=n",
    );
    assert_eq!(options.destination, file("a/b.hprof"));
    assert_eq!(options.depth_frames, Some(0));
    assert!(!options.line_numbers && !options.dump_on_exit && !options.force && !options.verbose);
    assert!(!options.primitive_fields && !options.primitive_arrays);
}

#[test]
fn help_stands_alone() {
    assert_eq!(parse_with("help", "heap=nonsense"), Ok(Parsed::Help));
    assert_eq!(
        refusal("heap=dump,help"),
        "help: options have the form name=value, separated by commas; help stands alone: -agentpath:…=help"
    );
}

#[test]
fn the_later_word_wins_and_the_environment_is_last() {
    assert_eq!(options("heap=dump,depth=3,depth=5,").depth_frames, Some(5));
    match parse_with("heap=dump,depth=3", "depth=7") {
        Ok(Parsed::Options(options)) => assert_eq!(options.depth_frames, Some(7)),
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        parse_with("", "heap=dump"),
        Ok(Parsed::Options(_))
    ));
}

#[test]
fn files_have_the_mode_that_is_said() {
    let dump = |text| options(text).target("a.hprof".into(), Existing::Keep).mode;
    assert_eq!(dump("heap=dump"), None);
    assert_eq!(dump("heap=dump,mode=0640"), FileMode::parse("640"));
    assert_eq!(
        refusal("mode=0750"),
        "mode=0750: mode must be octal from 0600 to 0666, as in 0640, and nothing executable"
    );
    assert_eq!(refusal("signal=QUIT"), "signal=QUIT: signal takes y|n");
}

#[test]
fn wrong_values_name_the_option_the_value_and_what_is_allowed() {
    for (text, line) in [
        ("heap=foo", "heap=foo: heap takes dump|sites|all"),
        ("cpu=foo", "cpu=foo: cpu takes samples|times|old"),
        ("monitor=maybe", "monitor=maybe: monitor takes y|n"),
        ("format=c", "format=c: format takes a|b"),
        ("heap=dump,file=", "file=: file takes NAME"),
        ("net=host", "net=host: net takes HOST:PORT"),
        ("net=host:0", "net=host:0: net takes HOST:PORT"),
        ("depth=-1", "depth=-1: depth must be decimal and >= 0"),
        ("interval=0", "interval=0: interval must be decimal and > 0"),
        (
            "interval=us",
            "interval=us: interval must be decimal and > 0",
        ),
        (
            "interval=3600001",
            "interval=3600001: interval must be at most an hour",
        ),
        (
            "cpu=samples,depth=0",
            "depth=0: cpu=samples needs at least the running method; use depth=1 or more",
        ),
        ("cutoff=x", "cutoff=x: cutoff must be decimal and >= 0"),
        (
            "sampling=2g",
            "sampling=2g: sampling must be a number of bytes below 2g, as in 512k",
        ),
        (
            "maxlive=0",
            "maxlive=0: maxlive must be from 16 to 16777216",
        ),
        (
            "maxcost=100.01",
            "maxcost=100.01: maxcost must be from 0 to 100, as in 0.5, with two decimals at most",
        ),
        ("lineno=Y", "lineno=Y: lineno takes y|n"),
        ("thread=1", "thread=1: thread takes y|n"),
        ("doe=no", "doe=no: doe takes y|n"),
        ("msa=x", "msa=x: msa takes y|n"),
        ("force=", "force=: force takes y|n"),
        ("verbose=2", "verbose=2: verbose takes y|n"),
        ("gc_okay=x", "gc_okay=x: gc_okay takes y|n"),
        ("primfields=x", "primfields=x: primfields takes y|n"),
        ("primarrays=x", "primarrays=x: primarrays takes y|n"),
        (
            "redact=nothing",
            "redact=nothing: redact takes strings|arrays|values|all",
        ),
        ("drop=a.B", "drop=a.B: drop takes CLASS#FIELD"),
        ("exec=", "exec=: exec takes COMMAND"),
        (
            "exec=a %x",
            "exec=a %x: %x is unknown; there are %p %t %n %h %%",
        ),
    ] {
        assert_eq!(refusal(text), line);
    }
}

#[test]
fn a_name_that_is_mistyped_gets_a_hint() {
    assert_eq!(
        refusal("heep=dump"),
        "heep=dump: there is no option heep; did you mean heap?"
    );
    assert_eq!(
        refusal("foo=1"),
        "foo=1: there is no option foo; docs/options.md lists them"
    );
}

#[test]
fn what_cannot_be_redacted_is_refused() {
    let redaction = options("heap=dump,redact=values,keep=a.B#c").redaction;
    assert!(redaction.what == Redacted::Values && !redaction.is_nothing());
    assert!(!options("heap=dump,drop=a.B#c").redaction.is_nothing());
    assert!(options("redact=all").hides_names() && !options("redact=values").hides_names());
    assert!(refusal("keep=a.B#c").starts_with("keep= has no effect without redact="));
    for redacted in [
        "redact=strings",
        "drop=a.B#c",
        "primfields=n",
        "primarrays=n",
    ] {
        let refused = refusal(&format!("heap=dump,{redacted},stop=always"));
        assert!(refused.starts_with("stop=always cannot be redacted: "));
    }
}

#[test]
fn a_dump_is_sent_as_it_is_made() {
    let sent = options("send=dump:/tmp/socket");
    let is_stream = matches!(sent.destination, Destination::Socket(Product::Dump, _));
    assert!(is_stream && sent.heap_dump && sent.format == Format::Binary);
    assert!(refusal("send=dump:/s,gz=1").starts_with("gz=: a compressed dump cannot be sent"));
    assert!(refusal("send=dump:/s,format=a").starts_with("format=a: a text dump cannot be sent"));
    assert!(refusal("send=dump:/s,file=a").ends_with("should only appear once"));
}

#[test]
fn what_is_not_built_is_refused_by_name() {
    assert!(refusal("heap=dump,logflags=4").contains("debugged the JDK's own agent"));
    assert!(refusal("heap=dump,precrash=y").contains("-XX:OnError"));
}

#[test]
fn sites_are_text_unless_they_share_a_file_with_a_dump_or_its_name() {
    let sites = options("heap=sites");
    assert!(!sites.heap_dump && sites.format == Format::Text);
    assert_eq!(sites.destination, file("java.hprof.txt"));
    let sampling = Sampling {
        interval_bytes: 524_288,
        most_live: 65_536,
        most_cost_basis_points: 50,
    };
    assert_eq!(sites.sampling, Some(sampling));
    assert_eq!(options("heap=sites,file=x.hprof").format, Format::Binary);
    assert_eq!(
        options("heap=sites,file=x.hprof,format=a").format,
        Format::Text
    );
    assert_eq!(
        options("heap=sites,format=b").destination,
        file("java.hprof")
    );
    for both in ["", "heap=all", "heap=dump,heap=sites"] {
        let both = options(both);
        assert!(both.heap_dump && both.sampling.is_some() && both.format == Format::Binary);
    }
    assert_eq!(options("heap=dump").sampling, None);
}

#[test]
fn a_heap_dump_is_text_if_it_is_told_so() {
    for text in ["format=a", "heap=dump,format=a", "heap=all,format=a"] {
        let options = options(text);
        assert!(options.heap_dump && options.format == Format::Text);
        assert_eq!(options.destination, file("java.hprof.txt"));
    }
    let compressed = options("heap=dump,format=a,file=%p.txt.gz");
    assert_eq!(compressed.gzip, GzipLevel::new(1));
    assert_eq!(options("heap=dump,file=x.txt").format, Format::Binary);
    assert_eq!(
        options("heap=dump,format=a,file=x.hprof").format,
        Format::Text
    );
}

#[test]
fn monitors_alone_are_text_and_switch_nothing_else_on() {
    let monitors = options("monitor=y");
    assert!(monitors.monitors && !monitors.heap_dump && monitors.sampling.is_none());
    assert_eq!(monitors.format, Format::Text);
    assert_eq!(monitors.destination, file("java.hprof.txt"));
    let both = options("heap=sites,monitor=y");
    assert!(both.monitors && both.sampling.is_some() && both.format == Format::Text);
    assert!(!options("heap=dump").monitors && !options("").monitors);
}

#[test]
fn what_is_text_only_makes_a_heap_dump_text() {
    for text in [
        "heap=dump,monitor=y",
        "monitor=y,heap=all",
        "heap=dump,cpu=times",
        "heap=all,cpu=old",
        "heap=all,cpu=times,monitor=y",
        "heap=dump,cpu=samples,cpu=times",
    ] {
        let together = options(text);
        assert!(together.heap_dump, "{text}");
        assert_eq!(together.format, Format::Text, "{text}");
        assert_eq!(together.destination, file("java.hprof.txt"), "{text}");
    }
    assert_eq!(options("heap=dump,monitor=n").format, Format::Binary);
}

#[test]
fn what_is_text_only_is_refused_in_a_file_whose_name_is_binary() {
    for (text, named) in [
        ("monitor=y,file=x.hprof", "file=x.hprof,monitor=y: "),
        (
            "heap=dump,cpu=times,file=x.hprof",
            "file=x.hprof,cpu=times: ",
        ),
        ("cpu=old,file=x.hprof.gz", "file=x.hprof.gz,cpu=old: "),
    ] {
        let line = refusal(text);
        assert!(
            line.starts_with(named) && line.contains("format=a"),
            "{line}"
        );
    }
    let told = options("monitor=y,file=x.hprof,format=a");
    assert_eq!(told.format, Format::Text);
}

#[test]
fn cpu_samples_do_not_switch_the_heap_on() {
    for (text, interval_us) in [
        ("cpu=samples", 10_000),
        ("cpu=y,interval=2", 2000),
        ("cpu=samples,interval=500us,thread=y", 500),
    ] {
        let options = options(text);
        let samples = Cpu {
            samples_us: Some(interval_us),
            times: None,
        };
        assert_eq!(options.cpu, Some(samples));
        assert!(!options.heap_dump && options.sampling.is_none());
        assert_eq!(options.format, Format::Text);
        assert_eq!(options.destination, file("java.hprof.txt"));
        assert_eq!(options.trace_depth_frames(), 32);
    }
    let both = options("heap=dump,cpu=samples");
    assert!(both.heap_dump && both.cpu.is_some() && both.format == Format::Binary);
    assert_eq!(options("cpu=samples,file=x.hprof").format, Format::Binary);
    let alone = options("heap=dump,interval=10");
    assert_eq!(alone.cpu, None);
    assert!(alone.notes.iter().any(|it| it.contains("cpu=samples")));
}

#[test]
fn samples_and_times_can_be_had_together() {
    for (text, layout, depth) in [
        ("cpu=samples,cpu=times,interval=2", TimesLayout::Stacks, 4),
        ("cpu=old,interval=2,cpu=y", TimesLayout::Old, 2),
    ] {
        let both = options(text);
        let cpu = Cpu {
            samples_us: Some(2000),
            times: Some(layout),
        };
        assert_eq!(both.cpu, Some(cpu), "{text}");
        assert_eq!(both.trace_depth_frames(), depth, "{text}");
        assert_eq!((both.format, both.notes.len()), (Format::Text, 0));
    }
    assert!(refusal("cpu=samples,cpu=times,format=b").starts_with("format=b: cpu=times|old"));
}

#[test]
fn only_who_asks_for_nothing_gets_sites_by_default() {
    assert!(options("").sites_by_default && options("doe=n").sites_by_default);
    for text in ["heap=all", "heap=sites", "cpu=samples", "monitor=y"] {
        assert!(!options(text).sites_by_default, "{text}");
    }
}

#[test]
fn bytes_may_be_counted_in_k_and_m() {
    for (text, bytes) in [("4096", 4096), ("64k", 65_536), ("1M", 1 << 20)] {
        let sampling = options(&format!("heap=sites,sampling={text}")).sampling;
        assert_eq!(sampling.map(|s| s.interval_bytes), Some(bytes));
    }
}

#[test]
fn the_most_cost_has_up_to_two_decimals() {
    let points = |text: &str| {
        let sampling = options(&format!("heap=sites,maxcost={text}")).sampling;
        sampling.map(|s| s.most_cost_basis_points)
    };
    for (text, most) in [("0", 0), ("1", 100), ("0.5", 50), ("2.05", 205)] {
        assert_eq!(points(text), Some(most));
    }
    for text in ["", ".", ".5", "1.", "0.125", "-1", "101", "700"] {
        assert!(refusal(&format!("heap=sites,maxcost={text}")).contains("from 0 to 100"));
    }
}

#[test]
fn the_old_cross_checks_hold() {
    assert!(refusal("cpu=times,format=b").ends_with("cpu=times|old is not supported with format=b"));
    assert!(refusal("format=b,cpu=old").ends_with("cpu=times|old is not supported with format=b"));
    assert!(refusal("monitor=y,format=b").ends_with("monitor=y is not supported with format=b"));
    assert!(
        refusal("heap=dump,file=a,file=b").ends_with("file or net options should only appear once")
    );
    assert!(refusal("file=a,net=h:1").ends_with("file or net options should only appear once"));
}

#[test]
fn a_peer_takes_the_place_of_the_file() {
    let peer = |text| Destination::Net(Peer::parse(text).unwrap());
    let dump = options("heap=dump,net=localhost:9000,gz=2");
    assert_eq!(dump.destination, peer("localhost:9000"));
    assert_eq!(
        (dump.format, dump.gzip),
        (Format::Binary, GzipLevel::new(2))
    );
    let sites = options("heap=sites,net=[::1]:9000");
    assert_eq!(sites.destination, peer("[::1]:9000"));
    assert_eq!((sites.format, sites.gzip), (Format::Text, None));
    assert_eq!(options("cpu=times,net=h:1").format, Format::Text);
    // A host is not a file name.
    assert_eq!(options("heap=dump,net=x.gz:1").gzip, None);
    assert!(refusal("net=h:1,net=h:2").ends_with("should only appear once"));
    assert!(refusal("net=h:65536").ends_with("net takes HOST:PORT"));
}

#[test]
fn options_that_do_nothing_say_so() {
    let options = options("heap=dump,msa=y,gc_okay=n");
    assert_eq!(options.notes.len(), 2);
    assert!(options
        .notes
        .iter()
        .all(|note| note.contains("does nothing")));
}

#[test]
fn help_names_every_public_option_and_no_other() {
    let help = help();
    for row in rows() {
        let shown = help.contains(&format!("  {}={}", row.name, row.values));
        assert_eq!(shown, row.is_public(), "{}", row.name);
    }
}

#[test]
fn a_name_that_ends_in_gz_asks_for_compression() {
    assert_eq!(options("heap=dump").gzip, None);
    assert_eq!(options("heap=dump,file=x.hprof.gz").gzip, GzipLevel::new(1));
    assert_eq!(
        options("heap=dump,file=x.hprof.gz,gz=6").gzip,
        GzipLevel::new(6)
    );
    assert_eq!(options("heap=dump,gz=3").gzip, GzipLevel::new(3));
    assert!(refusal("heap=dump,gz=0").contains("gz takes 1..9"));
}

#[test]
fn the_ways_to_a_heap_are_chosen_by_name() {
    let options = options("heap=dump,stop=always,threads=3,timeout=9,maxpause=250");
    assert_eq!(options.stop_the_world, StopTheWorld::Always);
    assert_eq!((options.threads, options.timeout_s), (Some(3), 9));
    assert_eq!(options.max_pause, Some(Duration::from_millis(250)));
    assert!(refusal("heap=dump,stop=fast").contains("stop takes auto|y|n|always"));
    assert!(refusal("heap=dump,threads=0").contains("from 1 to 256"));
    assert!(refusal("heap=dump,maxpause=0").contains("from 1 to 86400000"));
}

#[test]
fn samples_have_no_limit_and_names_of_their_own() {
    let asked = options("heap=dump,on=every=1m,do=histo");
    assert_eq!(asked.on.expect("conditions").limits.most, None);
    assert_eq!(
        asked.does,
        Does::Histo(FileName::parse("java.histo.jsonl").unwrap())
    );
    let of = |text: &str| options(text).on.expect("conditions");
    assert_eq!(of("on=every=1m,do=histo,count=7").limits.most, Some(7));
    assert_eq!(of("on=every=1m").limits.most, Some(10));
    assert_eq!(of("on=every=1m,count=0").limits.most, None);
    assert!(refusal("on=oom+every=1m,do=histo").starts_with("on=oom makes a dump and nothing"));
    assert!(refusal("on=every=1m,do=both").contains("do takes dump|histo|sites|leaks|memory"));
}

#[test]
fn sites_and_leaks_need_what_they_are_made_of() {
    let sites = options("heap=sites,on=every=1m,do=sites=%p.txt");
    assert_eq!(sites.does, Does::Sites(FileName::parse("%p.txt").unwrap()));
    let leaks = Leaks {
        question: "leaks",
        file: FileName::parse("java.leaks.txt").unwrap(),
        command: Some("/bin/hprof".into()),
    };
    let asked = options("heap=dump,on=every=1m,do=leaks,hprof=/bin/hprof");
    let most = asked.on.expect("conditions").limits.most;
    assert_eq!((asked.does, most), (Does::Leaks(leaks), Some(10)));
    assert_eq!(options("heap=dump,do=leaks").on, None);
    let Does::Leaks(asked) = options("heap=dump,do=memory").does else {
        panic!("a question to the command");
    };
    let file = FileName::parse("java.memory.txt").unwrap();
    assert_eq!((asked.question, asked.file), ("memory", file));
    assert!(refusal("heap=dump,on=every=1m,do=sites").contains("add heap=sites or heap=all"));
    for wrong in ["hprof=a", "do=sites,hprof=a"] {
        assert!(refusal(wrong).contains("is about do=leaks"), "{wrong}");
    }
    for wrong in ["do=dump=a", "do=leaks="] {
        assert!(
            refusal(wrong).contains("do takes dump|histo|sites|leaks|memory"),
            "{wrong}"
        );
    }
    assert!(refusal("heap=sites,on=oom,do=sites").starts_with("on=oom makes a dump and nothing"));
}
