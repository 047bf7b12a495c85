//! The address of a peer: a host and a port.

use std::fmt;

/// Host and port, as the user wrote them: `localhost:9000`, `192.0.2.1:9000`, `[::1]:9000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    host: String,
    port: u16,
}

impl Peer {
    /// Parses `HOST:PORT`; the port is from 1 to 65535. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok().filter(|&port| port > 0)?;
        let bare = host
            .strip_prefix('[')
            .map_or(Some(host), |rest| rest.strip_suffix(']'))?;
        (!bare.is_empty()).then(|| Self {
            host: bare.to_owned(),
            port,
        })
    }

    /// The host's name or address, and the port.
    pub fn host_and_port(&self) -> (&str, u16) {
        (&self.host, self.port)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(out, "[{}]:{}", self.host, self.port)
        } else {
            write!(out, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port_are_taken_apart() {
        for (text, shown) in [
            ("localhost:9000", "localhost:9000"),
            ("192.0.2.1:1", "192.0.2.1:1"),
            ("[::1]:9000", "[::1]:9000"),
            ("fe80::1:9000", "[fe80::1]:9000"),
        ] {
            assert_eq!(Peer::parse(text).unwrap().to_string(), shown);
        }
        for text in [
            "", "host", "host:", ":9", "[]:9", "[::1:9", "h:0", "h:65536", "h:9x",
        ] {
            assert_eq!(Peer::parse(text), None, "{text}");
        }
    }
}
