//! Options of the server: where it listens, and what clients have to show.

use std::path::{Path, PathBuf};

use crate::arguments::Given;
use crate::ending::{Ended, input};
use crate::quoted::quoted;
use crate::serve::{ClientCertificates, TlsFiles, UnixSocket};

/// Loopback, unlike bmv2: who can reach the address programs the switch.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:9559";

/// Of a Unix socket: for the user that runs the switch.
const DEFAULT_MODE: u32 = 0o600;
const HIGHEST_MODE: u32 = 0o777;

/// The options that mean nothing without TLS.
const ONLY_WITH_TLS: [&str; 5] = [
    "grpc-server-cert",
    "grpc-server-key",
    "grpc-server-cacert",
    "grpc-server-with-client-auth",
    "grpc-server-client-auth",
];

/// TLS, and the file that says what certificates are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Certificates and keys.
    pub files: TlsFiles,
    /// Whom each client certificate stands for.
    pub bindings: Option<PathBuf>,
}

/// Whether a server could listen there: HOST:PORT, [HOST]:PORT or unix:PATH.
pub fn address(text: String) -> Result<String, Ended> {
    if text
        .strip_prefix("unix:")
        .is_some_and(|path| !path.is_empty())
    {
        return Ok(text);
    }
    let is_host = |host: &str| match host.strip_prefix('[') {
        Some(rest) => rest.len() > 1 && rest.find(']') == Some(rest.len() - 1),
        None => !host.is_empty() && !host.contains(':'),
    };
    let split = text.rsplit_once(':').filter(|(host, port)| {
        is_host(host) && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    let Some((_, port)) = split else {
        let given = quoted(&text);
        return input(format!("--grpc-server-addr {given}: expected HOST:PORT"));
    };
    if port.parse::<u16>().is_err() {
        let given = quoted(&text);
        return input(format!(
            "--grpc-server-addr {given}: expected a port from 0 to 65535"
        ));
    }
    Ok(text)
}

/// Whether only this machine can reach the address.
pub fn is_local(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or("", |(host, _)| host);
    let host = host.trim_matches(['[', ']']);
    address.starts_with("unix:") || ["localhost", "::1"].contains(&host) || host.starts_with("127.")
}

/// Reads `PATH[:MODE]`.
pub fn unix_socket(text: &str) -> Result<UnixSocket, Ended> {
    let option = format!("--grpc-unix-socket {}", quoted(text));
    let (path, mode) = match text.rsplit_once(':') {
        Some((path, mode)) if mode.bytes().all(|byte| byte.is_ascii_digit()) => (path, Some(mode)),
        _ => (text, None),
    };
    if path.is_empty() {
        return input(format!(
            "{option}: expected PATH or PATH:MODE, for example /run/phb.sock:660"
        ));
    }
    let mode = mode.map_or(Ok(DEFAULT_MODE), |mode| u32::from_str_radix(mode, 8));
    match mode {
        Ok(mode) if mode <= HIGHEST_MODE => Ok(UnixSocket {
            path: path.into(),
            mode,
        }),
        _ => input(format!(
            "{option}: expected a mode in octal from 0 to {HIGHEST_MODE:o}"
        )),
    }
}

/// What clients have to show, and the option that says so.
fn clients(given: &Given) -> Result<(ClientCertificates, &'static str), Ended> {
    let word = given.text("grpc-server-client-auth");
    let asked = match word.as_deref() {
        None => None,
        Some("none") => Some(ClientCertificates::NotAsked),
        Some("optional") => Some(ClientCertificates::Optional),
        Some("required") => Some(ClientCertificates::Required),
        Some(other) => {
            let other = quoted(other);
            return input(format!(
                "--grpc-server-client-auth {other}: expected none, optional or required"
            ));
        }
    };
    if !given.has("grpc-server-with-client-auth") {
        let asked = asked.unwrap_or_default();
        return Ok((asked, "--grpc-server-client-auth"));
    }
    match asked {
        None | Some(ClientCertificates::Required) => Ok((
            ClientCertificates::Required,
            "--grpc-server-with-client-auth",
        )),
        Some(_) => input(format!(
            "--grpc-server-with-client-auth: --grpc-server-client-auth {} says something else",
            word.unwrap_or_default()
        )),
    }
}

/// The files of TLS, if it is on, and what to tell about those that mean nothing without it.
pub fn tls(given: &Given) -> Result<(Option<Tls>, Vec<String>), Ended> {
    let (clients, by) = clients(given)?;
    let bindings = given.path("client-bindings");
    if !given.has("grpc-server-ssl") {
        if bindings.is_some() {
            return input(
                "--client-bindings: without --grpc-server-ssl clients have no certificates",
            );
        }
        let ignored = ONLY_WITH_TLS.iter().filter(|id| given.has(id));
        let notices = ignored.map(|id| format!("--{id} ignored (there is no --grpc-server-ssl)"));
        return Ok((None, notices.collect()));
    }
    let file = |id: &str| match given.path(id) {
        Some(path) => Ok(path.to_owned()),
        None => input(format!("--grpc-server-ssl: --{id} is missing")),
    };
    let (certificate, key) = (file("grpc-server-cert")?, file("grpc-server-key")?);
    if bindings.is_some() && clients == ClientCertificates::NotAsked {
        return input(
            "--client-bindings: --grpc-server-with-client-auth is missing, without which no client shows one",
        );
    }
    let client_authority = given.path("grpc-server-cacert").map(Path::to_owned);
    if clients != ClientCertificates::NotAsked && client_authority.is_none() {
        return input(format!(
            "{by}: --grpc-server-cacert, which certificates are checked against, is missing"
        ));
    }
    let files = TlsFiles {
        certificate,
        key,
        client_authority,
        clients,
    };
    let bindings = bindings.map(Path::to_owned);
    Ok((Some(Tls { files, bindings }), Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for right in [
            "127.0.0.1:9559",
            "0.0.0.0:0",
            "[::1]:9559",
            "localhost:65535",
            "unix:/tmp/s",
        ] {
            assert_eq!(address(right.to_owned()), Ok(right.to_owned()));
        }
        for wrong in [
            "nowhere", "", ":1", "::1:9559", "[]:1", "a:", "a:x", "unix:", "a:65536", "a:+1",
        ] {
            let message = address(wrong.to_owned()).expect_err(wrong).to_string();
            assert!(message.contains(": expected "), "{message}");
        }
    }

    #[test]
    fn who_reaches_an_address() {
        for local in [
            "127.0.0.1:1",
            "127.9.9.9:1",
            "localhost:1",
            "[::1]:1",
            "unix:/tmp/s",
        ] {
            assert!(is_local(local), "{local}");
        }
        for far in ["0.0.0.0:1", "[::]:1", "example.net:1"] {
            assert!(!is_local(far), "{far}");
        }
    }

    #[test]
    fn unix_sockets() {
        let cases = [
            ("/run/s", "/run/s", 0o600),
            ("/run/s:660", "/run/s", 0o660),
            ("s:0666", "s", 0o666),
            ("/run/a:b", "/run/a:b", 0o600),
        ];
        for (text, path, mode) in cases {
            let path = path.into();
            assert_eq!(unix_socket(text), Ok(UnixSocket { path, mode }));
        }
        for (wrong, words) in [
            ("", "expected PATH or PATH:MODE"),
            (":600", "expected PATH or PATH:MODE"),
            ("s:", "expected a mode in octal"),
            ("s:9", "expected a mode in octal"),
            ("s:1777", "expected a mode in octal from 0 to 777"),
        ] {
            let message = unix_socket(wrong).expect_err(wrong).to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
