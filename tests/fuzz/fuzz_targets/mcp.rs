//! Fuzzes the protocol of `hprof mcp` with arbitrary lines: each is answered at most once, by JSON
//! that is valid in the protocol.
#![no_main]
#![allow(dead_code)]

#[path = "../../../cli/mcp/protocol.rs"]
mod protocol;

use protocol::{answer, next_line, Tools};
use serde_json::{Map, Value};

struct Echo;

impl Tools for Echo {
    fn instructions(&self) -> &str {
        ""
    }

    fn list(&self) -> Value {
        Value::Array(Vec::new())
    }

    fn call(&mut self, name: &str, given: &Map<String, Value>) -> Option<Result<String, String>> {
        (name == "echo").then(|| Ok(Value::Object(given.clone()).to_string()))
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Ok(Some(line)) = next_line(&mut rest) {
        let Some(told) = answer(&line, &mut Echo) else {
            continue;
        };
        let one = |told: &Value| {
            assert_eq!(told["jsonrpc"], "2.0");
            assert!(told["result"].is_object() != told["error"].is_object());
        };
        match &told {
            Value::Array(all) => all.iter().for_each(one),
            other => one(other),
        }
    }
});
