//! The one place that knows the server.

pub use phb_gnmi::{Attachment, Attachments};
pub use phb_server::{
    Authorization, Binding, ClientCertificates, Manners, Object, RoleRights, Server, ServerConfig,
    TlsFiles, UnixSocket,
};

use crate::ending::{Ended, input};

/// More threads serve no faster: they wait for the switch.
const MOST_WORKERS: usize = 4;

pub fn check(files: &TlsFiles) -> Result<(), Ended> {
    phb_server::tls::check(files).or_else(input)
}

pub fn workers() -> usize {
    let processors = std::thread::available_parallelism();
    processors.map_or(1, usize::from).min(MOST_WORKERS)
}
