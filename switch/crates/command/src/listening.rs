//! Options of the server: its addresses, and the certificates of clients.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::ending::{Ended, input};
use crate::quoted::quoted;
use crate::serve::{ClientCertificates, TlsFiles, UnixSocket};
use crate::values::{path, word};

/// Loopback, unlike bmv2: anybody who reaches the address can program the switch.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:9559";

/// Of a Unix socket: for the user that runs the switch.
const DEFAULT_MODE: u32 = 0o600;
const HIGHEST_MODE: u32 = 0o777;

const CLIENT_AUTH: [(&str, ClientCertificates); 3] = [
    ("none", ClientCertificates::NotAsked),
    ("optional", ClientCertificates::Optional),
    ("required", ClientCertificates::Required),
];

/// Options of TLS.
#[derive(Debug, Args)]
pub struct TlsOptions {
    #[arg(long, help = "Use TLS.")]
    grpc_server_ssl: bool,
    #[arg(
        long,
        value_name = "PEM",
        value_parser = path(),
        value_hint = ValueHint::FilePath,
        help = "The server's certificate chain. (default: none)"
    )]
    grpc_server_cert: Option<PathBuf>,
    #[arg(
        long,
        value_name = "PEM",
        value_parser = path(),
        value_hint = ValueHint::FilePath,
        help = "The server's private key. (default: none)"
    )]
    grpc_server_key: Option<PathBuf>,
    #[arg(
        long,
        value_name = "PEM",
        value_parser = path(),
        value_hint = ValueHint::FilePath,
        help = "The authority that client certificates are checked against. (default: none)"
    )]
    grpc_server_cacert: Option<PathBuf>,
    #[arg(
        long,
        help = "Refuse clients without a valid certificate, as --grpc-server-client-auth required."
    )]
    grpc_server_with_client_auth: bool,
    #[arg(
        long,
        value_name = "WHETHER",
        value_parser = word(&CLIENT_AUTH, "none, optional or required"),
        help = "Whether clients show certificates; with optional, those without one may read only. (default: none)"
    )]
    grpc_server_client_auth: Option<ClientCertificates>,
    #[arg(
        long,
        value_name = "TOML",
        value_parser = path(),
        value_hint = ValueHint::FilePath,
        help = "Which roles and devices each client certificate is for, and what roles may do. (default: any)"
    )]
    client_bindings: Option<PathBuf>,
}

impl TlsOptions {
    /// Names of the given options that mean nothing without TLS.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("grpc-server-cert", self.grpc_server_cert.is_some()),
            ("grpc-server-key", self.grpc_server_key.is_some()),
            ("grpc-server-cacert", self.grpc_server_cacert.is_some()),
            (
                "grpc-server-with-client-auth",
                self.grpc_server_with_client_auth,
            ),
            (
                "grpc-server-client-auth",
                self.grpc_server_client_auth.is_some(),
            ),
        ];
        let given = options.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(id, _)| id)
    }
}

/// TLS, and the file that binds certificates to roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    pub files: TlsFiles,
    pub bindings: Option<PathBuf>,
}

/// Whether a server could listen there: HOST:PORT, \[HOST\]:PORT or unix:PATH.
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

/// Which certificates clients must show, and the option that says so.
fn clients(options: &TlsOptions) -> Result<(ClientCertificates, &'static str), Ended> {
    let asked = options.grpc_server_client_auth;
    if !options.grpc_server_with_client_auth {
        return Ok((asked.unwrap_or_default(), "--grpc-server-client-auth"));
    }
    let other = asked.filter(|asked| *asked != ClientCertificates::Required);
    match CLIENT_AUTH.iter().find(|(_, each)| Some(*each) == other) {
        None => Ok((
            ClientCertificates::Required,
            "--grpc-server-with-client-auth",
        )),
        Some((word, _)) => input(format!(
            "--grpc-server-with-client-auth: --grpc-server-client-auth {word} says something else"
        )),
    }
}

/// The files of TLS, if it is on, and notices about options without effect.
pub fn tls(options: TlsOptions) -> Result<(Option<Tls>, Vec<String>), Ended> {
    let (clients, by) = clients(&options)?;
    if !options.grpc_server_ssl {
        if options.client_bindings.is_some() {
            return input(
                "--client-bindings: without --grpc-server-ssl clients have no certificates",
            );
        }
        let ignored = options.given();
        let notices = ignored.map(|id| format!("--{id} ignored (there is no --grpc-server-ssl)"));
        return Ok((None, notices.collect()));
    }
    let Some(certificate) = options.grpc_server_cert else {
        return input("--grpc-server-ssl: --grpc-server-cert is missing");
    };
    let Some(key) = options.grpc_server_key else {
        return input("--grpc-server-ssl: --grpc-server-key is missing");
    };
    if options.client_bindings.is_some() && clients == ClientCertificates::NotAsked {
        return input(
            "--client-bindings: --grpc-server-with-client-auth is missing, without which no client shows one",
        );
    }
    if clients != ClientCertificates::NotAsked && options.grpc_server_cacert.is_none() {
        return input(format!(
            "{by}: --grpc-server-cacert, which certificates are checked against, is missing"
        ));
    }
    let files = TlsFiles {
        certificate,
        key,
        client_authority: options.grpc_server_cacert,
        clients,
    };
    let bindings = options.client_bindings;
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
