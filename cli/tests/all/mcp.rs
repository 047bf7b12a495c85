//! `hprof mcp` as a process: what comes in, whatever it is, is answered or refused, and the end of
//! the input ends it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use sample::Dump;
use serde_json::{json, Value};
use tempfile::TempDir;

/// What the server says to these bytes; `more` are further words of the command.
fn server(folder: &TempDir, more: &[&str], input: &[u8]) -> Output {
    let dump = folder.path().join("a.hprof");
    std::fs::write(&dump, Dump::small().bytes()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_hprof"))
        .arg("mcp")
        .arg(dump)
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let bytes = input.to_vec();
    let writing = std::thread::spawn(move || drop(to.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    output
}

fn request(id: u32, method: &str, params: &Value) -> String {
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    format!("{message}\n")
}

fn call(id: u32, tool: &str, arguments: &Value) -> String {
    request(
        id,
        "tools/call",
        &json!({ "name": tool, "arguments": arguments }),
    )
}

fn answers(output: &Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lines = output.stdout.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

#[test]
fn every_tool_answers_from_one_heap() {
    let folder = TempDir::new().unwrap();
    let list = request(0, "tools/list", &json!({}));
    let tools = answers(&server(&folder, &[], list.as_bytes()));
    let tools = tools[0]["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["overview", "leaks", "top", "histo", "show", "threads", "memory", "waste"]
    );
    let id = object(&folder);
    let input: String = (0..)
        .zip(&names)
        .map(|(number, name)| {
            let arguments = match *name {
                "show" => json!({ "of": id }),
                _ => json!({}),
            };
            call(number, name, &arguments)
        })
        .collect();
    let answers = answers(&server(&folder, &[], input.as_bytes()));
    assert_eq!(answers.len(), names.len());
    for (name, answer) in names.iter().zip(&answers) {
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(result["isError"], false, "{name}: {text}");
        assert!(serde_json::from_str::<Value>(text).unwrap().is_object());
    }
}

/// The id of some object.
fn object(folder: &TempDir) -> String {
    let top = call(0, "top", &json!({ "limit": 1 }));
    let answers = answers(&server(folder, &[], top.as_bytes()));
    let text = answers[0]["result"]["content"][0]["text"].as_str().unwrap();
    let answer: Value = serde_json::from_str(text).unwrap();
    answer["objects"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_hostile_is_refused_and_the_next_request_is_answered() {
    let folder = TempDir::new().unwrap();
    let mut input = Vec::new();
    input.extend_from_slice(b"not json\n\xff\xfe\n\n[]\n");
    input.extend_from_slice(&b"{".repeat(200_000));
    input.push(b'\n');
    input.extend_from_slice(&b"x".repeat(5 << 20));
    input.push(b'\n');
    for arguments in [
        json!({ "limit": 0 }),
        json!({ "limit": "many" }),
        json!({ "by": 5 }),
        json!({ "limit": 1e30 }),
    ] {
        input.extend_from_slice(call(1, "top", &arguments).as_bytes());
    }
    for id in ["0x", "0xzz", "0x123456789012345678901", "..", "\u{1b}[2J"] {
        input.extend_from_slice(call(1, "show", &json!({ "of": id })).as_bytes());
    }
    for tool in ["dump", "refresh", "rm", ""] {
        input.extend_from_slice(call(1, tool, &json!({})).as_bytes());
    }
    input.extend_from_slice(request(9, "ping", &json!({})).as_bytes());
    let answers = answers(&server(&folder, &[], &input));
    assert_eq!(answers.len(), 5 + 4 + 5 + 4 + 1);
    let (last, others) = answers.split_last().unwrap();
    assert_eq!(last, &json!({ "jsonrpc": "2.0", "id": 9, "result": {} }));
    for answer in others {
        let failed = answer["error"].is_object() || answer["result"]["isError"] == true;
        assert!(failed, "{answer}");
        assert!(!answer.to_string().contains("\\u001b"), "{answer}");
    }
}

#[test]
fn a_refusal_speaks_of_tools_and_their_arguments() {
    let folder = TempDir::new().unwrap();
    let input = [
        call(1, "top", &json!({ "most": 5 })),
        call(2, "overview", &json!({ "by": "class" })),
        call(3, "show", &json!({ "of": "no.such.Class" })),
    ];
    let answers = answers(&server(&folder, &[], input.concat().as_bytes()));
    let said = |answer: &Value| {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        said(&answers[0]),
        "there is no argument most; this tool takes by, limit"
    );
    assert!(said(&answers[1]).ends_with("this tool takes no arguments"));
    assert!(
        said(&answers[2]).ends_with("the tool histo lists them"),
        "{answers:?}"
    );
}

#[test]
fn no_input_is_a_good_end() {
    let folder = TempDir::new().unwrap();
    let output = server(&folder, &[], b"");
    assert_eq!(answers(&output), Vec::<Value>::new());
    assert!(output.stderr.is_empty());
}

#[test]
fn what_cannot_be_answered_is_said_before_the_protocol_begins() {
    let folder = TempDir::new().unwrap();
    let allowed = server(&folder, &["--allow-dump", "/tmp"], b"");
    assert_eq!(allowed.status.code(), Some(2), "{allowed:?}");
    for file in ["-", "/no/such/file", "/dev/null"] {
        let output = Command::new(env!("CARGO_BIN_EXE_hprof"))
            .args(["mcp", file])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty());
    }
}
