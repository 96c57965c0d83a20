//! TLS from files: the server's certificate, and the authority that clients' certificates come from.
//!
//! When a client connects, at most once a second, changed files are read anew; if they can't be
//! used, that is logged and the former certificate stays.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{InconsistentKeys, RootCertStore, ServerConfig};
use x509_parser::extensions::GeneralName;

use crate::config::{ClientCertificates, TlsFiles};

const LOOK: Duration = Duration::from_secs(1);

/// Length and time of a file.
type Stamp = Option<(u64, SystemTime)>;

/// The message about an option's file: "--grpc-server-key PATH: ...".
fn wrong(option: &str, path: &Path, why: impl std::fmt::Display) -> String {
    format!("{option} {}: {why}", path.display())
}

fn read(option: &str, path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| wrong(option, path, words(&error)))
}

/// The system's words for an error, without the number.
pub fn words(error: &io::Error) -> String {
    let words = error.to_string();
    match words.find(" (os error") {
        Some(end) => words[..end].to_owned(),
        None => words,
    }
}

fn config(files: &TlsFiles) -> Result<ServerConfig, String> {
    let chain = read("--grpc-server-cert", &files.certificate)?;
    let key = read("--grpc-server-key", &files.key)?;
    let authority = files.client_authority.as_ref();
    let authority =
        authority.map(|path| Ok::<_, String>((path, read("--grpc-server-cacert", path)?)));
    let authority = authority.transpose()?;
    let pem = || {
        format!(
            "--grpc-server-cert {}, --grpc-server-key {}: expected certificate and key in PEM",
            files.certificate.display(),
            files.key.display()
        )
    };
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_slice_iter(&chain).collect();
    let chain = chain.map_err(|_| pem())?;
    if chain.is_empty() {
        return Err(pem());
    }
    let encrypted = |marker: &[u8]| key.windows(marker.len()).any(|each| each == marker);
    if encrypted(b"ENCRYPTED PRIVATE KEY") || encrypted(b"Proc-Type: 4,ENCRYPTED") {
        let why = "expected a key without a password";
        return Err(wrong("--grpc-server-key", &files.key, why));
    }
    let key = PrivateKeyDer::from_pem_slice(&key).map_err(|_| pem())?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let asked = files.clients != ClientCertificates::NotAsked;
    let builder = match authority.filter(|_| asked) {
        None => builder.with_no_client_auth(),
        Some((path, authority)) => {
            let why = "expected certificates in PEM";
            let wrong = || wrong("--grpc-server-cacert", path, why);
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(&authority) {
                let certificate = certificate.map_err(|_| wrong())?;
                roots.add(certificate).map_err(|_| wrong())?;
            }
            let mut verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            if files.clients == ClientCertificates::Optional {
                verifier = verifier.allow_unauthenticated();
            }
            builder.with_client_cert_verifier(verifier.build().map_err(|_| wrong())?)
        }
    };
    let mut config = builder
        .with_single_cert(chain, key)
        .map_err(|error| match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => wrong(
                "--grpc-server-key",
                &files.key,
                format_args!("not the key of {}", files.certificate.display()),
            ),
            _ => pem(),
        })?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

/// Checks the files before anything is started.
///
/// # Errors
/// One line for the user.
pub fn check(files: &TlsFiles) -> Result<(), String> {
    config(files).map(|_| ())
}

/// The configuration of TLS as the files have it now.
pub struct Current {
    files: TlsFiles,
    state: Mutex<(Arc<ServerConfig>, Vec<Stamp>, Instant)>,
}

impl Current {
    /// Reads the files.
    ///
    /// # Errors
    /// One line for the user.
    pub fn read(files: TlsFiles) -> Result<Self, String> {
        let stamps = stamps(&files);
        let config = Arc::new(config(&files)?);
        Ok(Self {
            files,
            state: Mutex::new((config, stamps, Instant::now())),
        })
    }

    /// Whether clients are asked for certificates.
    pub fn asks_clients(&self) -> bool {
        self.files.client_authority.is_some() && self.files.clients != ClientCertificates::NotAsked
    }

    /// The configuration for new connections.
    pub fn get(&self) -> Arc<ServerConfig> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (current, known, looked) = &mut *state;
        if looked.elapsed() >= LOOK {
            *looked = Instant::now();
            let stamps = stamps(&self.files);
            if stamps != *known {
                *known = stamps;
                match config(&self.files) {
                    Ok(config) => {
                        *current = Arc::new(config);
                        tracing::info!(target: "tls", "the certificates have changed and are in use");
                    }
                    Err(why) => tracing::warn!(target: "tls", "{why}; the ones before stay in use"),
                }
            }
        }
        Arc::clone(current)
    }
}

fn stamps(files: &TlsFiles) -> Vec<Stamp> {
    let authority = files.client_authority.as_ref();
    let paths = [&files.certificate, &files.key]
        .into_iter()
        .chain(authority);
    let stamp = |path: &std::path::PathBuf| {
        let about = fs::metadata(path).ok()?;
        Some((about.len(), about.modified().ok()?))
    };
    paths.map(stamp).collect()
}

/// The names in a certificate: the common name first, then the alternative ones.
pub fn names(certificate: &CertificateDer<'_>) -> Vec<String> {
    let Ok((_, parsed)) = x509_parser::parse_x509_certificate(certificate) else {
        return Vec::new();
    };
    let common = parsed.subject().iter_common_name();
    let mut names: Vec<String> = common
        .filter_map(|name| name.as_str().ok().map(str::to_owned))
        .collect();
    if let Ok(Some(alternatives)) = parsed.subject_alternative_name() {
        names.extend(
            alternatives
                .value
                .general_names
                .iter()
                .filter_map(alternative),
        );
    }
    names
}

fn alternative(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) | GeneralName::RFC822Name(name) | GeneralName::URI(name) => {
            Some((*name).to_owned())
        }
        GeneralName::IPAddress(bytes) => match bytes.len() {
            4 => <[u8; 4]>::try_from(*bytes)
                .ok()
                .map(|of| std::net::Ipv4Addr::from(of).to_string()),
            16 => <[u8; 16]>::try_from(*bytes)
                .ok()
                .map(|of| std::net::Ipv6Addr::from(of).to_string()),
            _ => None,
        },
        _ => None,
    }
}
