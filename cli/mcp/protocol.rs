//! The Model Context Protocol: JSON-RPC messages, one a line.
//!
//! The protocol has a state that a server of tools does not need: a client that asks before the
//! handshake is answered, too.

use std::io::{self, BufRead, Read};

use serde_json::{json, Map, Value};

/// Most bytes of a line. Requests of tools are far smaller.
pub(crate) const LINE_BYTES_MAX: u64 = 1 << 20;

/// Most messages in one line.
const BATCH_MAX: usize = 64;

/// The versions that are spoken, newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// JSON-RPC's codes of errors.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

/// The services of a server.
pub(crate) trait Tools {
    /// For the model, how to use the tools.
    fn instructions(&self) -> &str;

    /// The tools with their schemas, as a list.
    fn list(&self) -> Value;

    /// Calls a tool. `None` if there is no such tool; an error is for the model, which may try
    /// again.
    fn call(
        &mut self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Option<Result<String, String>>;
}

/// A line of input, in bounded memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The line without its end.
    Bytes(Vec<u8>),
    /// It had more than [`LINE_BYTES_MAX`] bytes, and was skipped.
    TooLong,
}

/// The next line; `None` at the end of the input.
pub(crate) fn next_line(from: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    from.by_ref()
        .take(LINE_BYTES_MAX)
        .read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 == LINE_BYTES_MAX {
        from.skip_until(b'\n')?;
        return Ok(Some(Line::TooLong));
    }
    Ok(Some(Line::Bytes(line)))
}

/// The answer to a line; `None` if it asks for none.
pub(crate) fn answer(line: &Line, tools: &mut dyn Tools) -> Option<Value> {
    let Line::Bytes(line) = line else {
        let long = format!("the line has more than {LINE_BYTES_MAX} bytes");
        return Some(error(Value::Null, PARSE_ERROR, &long));
    };
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    match serde_json::from_slice(line) {
        Ok(Value::Array(all)) => answer_all(all, tools),
        Ok(message) => answer_one(message, tools),
        Err(fault) => Some(error(Value::Null, PARSE_ERROR, &fault.to_string())),
    }
}

/// Version 2025-03-26 sends several messages at once.
fn answer_all(all: Vec<Value>, tools: &mut dyn Tools) -> Option<Value> {
    if all.is_empty() || all.len() > BATCH_MAX {
        let wrong = format!("a batch has from 1 to {BATCH_MAX} messages");
        return Some(error(Value::Null, INVALID_REQUEST, &wrong));
    }
    let answers = all
        .into_iter()
        .filter_map(|message| answer_one(message, tools));
    let answers: Vec<Value> = answers.collect();
    (!answers.is_empty()).then(|| answers.into())
}

fn answer_one(message: Value, tools: &mut dyn Tools) -> Option<Value> {
    let Value::Object(mut message) = message else {
        return Some(error(Value::Null, INVALID_REQUEST, "no object"));
    };
    let id = message.remove("id");
    let method = message.remove("method");
    if method.is_none() && (message.contains_key("result") || message.contains_key("error")) {
        // An answer, though nothing was asked.
        return None;
    }
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        let wrong = "id is neither a string nor an integer";
        return Some(error(Value::Null, INVALID_REQUEST, wrong));
    }
    let Some(Value::String(method)) = method else {
        return Some(error(id.unwrap_or_default(), INVALID_REQUEST, "no method"));
    };
    // A notification: that the client is ready, or that it no longer waits for an answer.
    let id = id?;
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Some(error(id, INVALID_REQUEST, "jsonrpc is not 2.0"));
    }
    let params = match message.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Some(error(id, INVALID_PARAMS, "params is no object")),
    };
    Some(match result(&method, &params, tools) {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, why)) => error(id, code, &why),
    })
}

fn result(
    method: &str,
    params: &Map<String, Value>,
    tools: &mut dyn Tools,
) -> Result<Value, (i32, String)> {
    match method {
        "initialize" => {
            let asked = params.get("protocolVersion").and_then(Value::as_str);
            let known = VERSIONS.iter().find(|version| Some(**version) == asked);
            Ok(json!({
                "capabilities": { "tools": {} },
                "instructions": tools.instructions(),
                "protocolVersion": known.or(VERSIONS.first()),
                "serverInfo": { "name": "hprof", "version": env!("CARGO_PKG_VERSION") },
            }))
        }
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": tools.list() })),
        "tools/call" => call(params, tools),
        _ => Err((METHOD_NOT_FOUND, format!("no method {}", cut(method)))),
    }
}

fn call(params: &Map<String, Value>, tools: &mut dyn Tools) -> Result<Value, (i32, String)> {
    let wrong = |why: &str| (INVALID_PARAMS, why.to_owned());
    let name = params.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| wrong("name is no string"))?;
    let none = Map::new();
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => &none,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(wrong("arguments is no object")),
    };
    let called = tools.call(name, arguments);
    let called = called.ok_or_else(|| wrong(&format!("no tool {}", cut(name))))?;
    let is_error = called.is_err();
    let text = called.unwrap_or_else(|why| why);
    Ok(json!({ "content": [{ "text": text, "type": "text" }], "isError": is_error }))
}

fn error(id: Value, code: i32, why: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
}

/// The start of a name that somebody else chose.
fn cut(name: &str) -> String {
    name.chars().take(100).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// A tool that repeats its arguments.
    struct Echo;

    impl Tools for Echo {
        fn instructions(&self) -> &str {
            "echo"
        }

        fn list(&self) -> Value {
            json!([{ "name": "echo" }])
        }

        fn call(
            &mut self,
            name: &str,
            given: &Map<String, Value>,
        ) -> Option<Result<String, String>> {
            (name == "echo").then(|| match given.get("fail") {
                Some(_) => Err("as asked".to_owned()),
                None => Ok(json!(given).to_string()),
            })
        }
    }

    fn said(line: &str) -> Option<Value> {
        answer(&Line::Bytes(line.as_bytes().to_vec()), &mut Echo)
    }

    fn asked(method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        said(&message.to_string()).unwrap()
    }

    fn code(answer: &Value) -> i64 {
        answer["error"]["code"].as_i64().unwrap()
    }

    #[test]
    fn the_version_is_the_clients_if_it_is_known() {
        for (asked_for, spoken) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-06-18", "2025-06-18"),
            ("1999-01-01", "2025-11-25"),
        ] {
            let answer = asked("initialize", json!({ "protocolVersion": asked_for }));
            assert_eq!(answer["result"]["protocolVersion"], spoken);
            assert_eq!(answer["result"]["capabilities"], json!({ "tools": {} }));
        }
        let answer = asked("initialize", json!({ "protocolVersion": 5 }));
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    }

    #[test]
    fn tools_are_listed_and_called() {
        assert_eq!(
            asked("tools/list", json!({}))["result"]["tools"][0]["name"],
            "echo"
        );
        let answer = asked(
            "tools/call",
            json!({ "name": "echo", "arguments": {"a": 1} }),
        );
        assert_eq!(answer["id"], 7);
        assert_eq!(answer["result"]["content"][0]["text"], "{\"a\":1}");
        assert_eq!(answer["result"]["isError"], false);
        let fails = json!({ "name": "echo", "arguments": { "fail": 1 } });
        let answer = asked("tools/call", fails);
        assert_eq!(answer["result"]["isError"], true);
        assert_eq!(asked("ping", json!({}))["result"], json!({}));
    }

    #[test]
    fn faults_have_json_rpcs_codes() {
        for line in ["{", "nonsense", "\u{1}", "{\"a\":}", "{} {}"] {
            assert_eq!(code(&said(line).unwrap()), i64::from(PARSE_ERROR), "{line}");
        }
        for line in [
            "5",
            "\"text\"",
            "null",
            "[]",
            "{}",
            "{\"id\":1}",
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        ] {
            let answer = said(line).unwrap();
            assert_eq!(code(&answer), i64::from(INVALID_REQUEST), "{line}");
        }
        let missing = asked("server/discover", json!({}));
        assert_eq!(code(&missing), i64::from(METHOD_NOT_FOUND));
        for params in [
            json!([1]),
            json!({}),
            json!({ "name": 5 }),
            json!({ "name": "rm" }),
            json!({ "name": "echo", "arguments": "a" }),
        ] {
            let answer = asked("tools/call", params);
            assert_eq!(code(&answer), i64::from(INVALID_PARAMS));
        }
        assert_eq!(code(&answer(&Line::TooLong, &mut Echo).unwrap()), -32700);
    }

    #[test]
    fn what_asks_nothing_is_not_answered() {
        for line in [
            "",
            " \n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"no such","params":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert_eq!(said(line), None, "{line}");
        }
    }

    #[test]
    fn a_batch_is_answered_as_one_and_has_a_limit() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let both = said(&format!("[{ping}, 5]")).unwrap();
        assert_eq!(both.as_array().unwrap().len(), 2);
        let many = vec![ping; BATCH_MAX + 1].join(",");
        let refused = said(&format!("[{many}]")).unwrap();
        assert_eq!(code(&refused), i64::from(INVALID_REQUEST));
    }

    #[test]
    fn depth_is_limited() {
        let deep = "[".repeat(100_000);
        assert_eq!(code(&said(&deep).unwrap()), i64::from(PARSE_ERROR));
    }

    #[test]
    fn a_long_line_is_skipped_and_the_next_one_is_read() {
        let long = LINE_BYTES_MAX.checked_mul(3).unwrap();
        let mut from = io::BufReader::new(io::repeat(b'x').take(long).chain(&b"\nshort\nlast"[..]));
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut from).unwrap() {
            lines.push(line);
        }
        let bytes = |text: &str| Line::Bytes(text.as_bytes().to_vec());
        assert_eq!(lines, [Line::TooLong, bytes("short\n"), bytes("last")]);
    }
}
