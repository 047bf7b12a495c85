//! The commands that arrive by attach: what each is answered, and on which thread it is obeyed.
//!
//! The JVM serves attach commands on one thread, one after the other: `jcmd`, tools that ask
//! whether it lives. What this thread waits for, they wait for. Where the client itself takes the
//! dump, at its own speed, a thread of the agent's makes it. The JVM's thread answers at once, and
//! the file of the answer has the code at its end.

use crate::agent_threads;
use crate::message::{answer_to, say, tell_client, tell_of_panics};
use crate::order::Order;
use crate::session::{listen_for_the_end, Session};
use format::answer::{ENDED_WITH, UNDER_WAY};
use jvm::env::Vm;
use jvm::jni::Jni;
use jvm::os::owner;
use options::{self, Destination, Does, Options, Parsed};
use parking_lot::Mutex;
use std::io::Write;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;

/// Answer: success, or the file of the answer will have another one.
const DONE: i32 = 0;
/// Answer: invalid options.
const BAD_OPTIONS: i32 = 100;
/// Answer: valid options, but no dump was made.
const NOT_DONE: i32 = 200;
/// Name of the thread in thread dumps and in the heap dump itself.
const THREAD_NAME: &str = "HPROF command";

/// Held while a command is obeyed: one at a time.
static COMMAND: Mutex<()> = Mutex::new(());

/// `Agent_OnAttach`: each call is a command; `heap=dump,file=…` dumps now. The caller sees the
/// answer.
pub(crate) fn attach(vm: Vm, jni: &mut Jni<'_>, text: &str) -> i32 {
    tell_of_panics();
    // Before the options are parsed, because their errors belong to the answer, too.
    let file = answer_file(text);
    let has_file = file.is_some();
    answer_to(file);
    let code = match checked(vm, text) {
        Ok((session, options)) => match options.destination {
            Destination::Socket(..) if has_file => begin(session, jni, options, text),
            _ => obey(session, jni, &options),
        },
        Err(code) => code,
    };
    answer_to(None);
    code
}

/// The file that the client reads; `None` if it has none.
fn answer_file(text: &str) -> Option<Box<dyn Write>> {
    let mut pairs = text.split(',');
    let path = pairs.find_map(|pair| pair.strip_prefix("send=answer:"))?;
    writer::open_answer(Path::new(path), owner::check)
}

/// The session and the options of a command, if an attached agent can obey it; else the answer.
fn checked(vm: Vm, text: &str) -> Result<(&'static Session, Options), i32> {
    let options = match options::parse_command(text) {
        Ok(Parsed::Options(options)) => *options,
        Ok(Parsed::Help) => {
            say(&options::help());
            return Err(DONE);
        }
        Err(error) => {
            say(&error.to_string());
            return Err(BAD_OPTIONS);
        }
    };
    if let Some(cpu) = options.cpu {
        say(&format!(
            "cpu={} needs the start of the JVM: give it in -agentpath, then jcmd PID JVMTI.data_dump writes a report",
            cpu.name()
        ));
        return Err(BAD_OPTIONS);
    }
    for note in &options.notes {
        say(note);
    }
    if options.on.is_some() {
        say("on=: conditions are watched from the start of the JVM only, by -agentpath:…=on=…");
        return Err(BAD_OPTIONS);
    }
    if let Destination::Net(peer) = &options.destination {
        say(&format!(
            "net={peer}: an attached agent has no connection; write to a file instead: file=NAME"
        ));
        return Err(BAD_OPTIONS);
    }
    let watches_monitors = Session::get().is_some_and(|it| it.profiles.monitors.is_some());
    if options.monitors && !watches_monitors {
        say("monitor=y: monitors are watched from the start of the JVM only, by -agentpath:…=monitor=y");
        return Err(BAD_OPTIONS);
    }
    if let Err(error) = listen_for_the_end(vm, &options) {
        say(&format!("the agent cannot start: {error}"));
        return Err(NOT_DONE);
    }
    let session = Session::get().ok_or(NOT_DONE)?;
    let is_dump = options.heap_dump && options.does == Does::Dump;
    let wants_sites = is_dump && options.sampling.is_some();
    if wants_sites && session.profiles.allocations.is_none() {
        say("the dump will have no allocation sites: they are kept from the start of the JVM only, by -agentpath:…=heap=all");
    }
    Ok((session, options))
}

/// Has a thread of the agent's obey the command. The answer is that it has begun.
fn begin(session: &'static Session, jni: &mut Jni<'_>, options: Options, text: &str) -> i32 {
    // Starting a thread runs Java code.
    let Some(_inside) = session.gate.enter() else {
        return ending();
    };
    tell_client(UNDER_WAY);
    let (wanted, text) = (options.clone(), text.to_owned());
    let body = move |jni: &mut Jni<'_>| {
        answer_to(answer_file(&text));
        finish(session, jni, &wanted);
        answer_to(None);
    };
    match agent_threads::start(&session.env, jni, THREAD_NAME, body) {
        Ok(()) => DONE,
        Err(why) => {
            say(&format!(
                "no thread can be started, so other attach commands wait until this one has its dump: {why}"
            ));
            finish(session, jni, &options)
        }
    }
}

/// Obeys a command that has begun, and sends the client the answer. Without an answer the client
/// waits for the JVM's end.
fn finish(session: &Session, jni: &mut Jni<'_>, options: &Options) -> i32 {
    let obeyed = catch_unwind(AssertUnwindSafe(|| obey(session, jni, options)));
    let code = obeyed.unwrap_or(NOT_DONE);
    tell_client(&format!("{}{code}", ENDED_WITH));
    code
}

/// Makes what the command asks for.
fn obey(session: &Session, jni: &mut Jni<'_>, options: &Options) -> i32 {
    let _alone = COMMAND.lock();
    let Some(_inside) = session.gate.enter() else {
        return ending();
    };
    match session.make(jni, &Order::of_command(options)) {
        true => DONE,
        false => NOT_DONE,
    }
}

fn ending() -> i32 {
    say("no dump: the JVM is ending");
    NOT_DONE
}
