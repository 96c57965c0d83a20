//! The one place that knows the servers.

pub use phb_gnmi::{Attachment, Attachments};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use phb_node::{Control, SwitchNode};
use phb_ports::Link;
pub use phb_server::{
    Authorization, Binding, ClientCertificates, Manners, Object, RoleRights, Server, ServerConfig,
    TlsFiles, UnixSocket,
};
pub use phb_thrift::{Address as ThriftAddress, Server as ThriftServer};
use phb_thrift::{PortInfo, Switch};

use crate::ending::{Ended, input, reason};
use crate::options::{Options, Thrift};

/// More threads serve no faster: they wait for the switch.
const MOST_WORKERS: usize = 4;

pub fn check(files: &TlsFiles) -> Result<(), Ended> {
    phb_server::tls::check(files).or_else(input)
}

pub fn workers() -> usize {
    let processors = std::thread::available_parallelism();
    processors.map_or(1, usize::from).min(MOST_WORKERS)
}

/// Serves bmv2's runtime services, for a switch that `server` serves, too. A port that nobody asked for may be taken.
pub fn thrift(
    options: &Options,
    node: &Arc<Mutex<SwitchNode>>,
    server: Option<&Server>,
    attachments: Attachments,
    started: Instant,
) -> Result<Option<ThriftServer>, Ended> {
    let Some(Thrift {
        address,
        port,
        is_asked,
        notifications,
    }) = options.thrift.clone()
    else {
        return Ok(None);
    };
    let alone = || Arc::new(Arc::clone(node)) as Arc<dyn Control>;
    let names = options.interfaces.clone();
    let ports = move || {
        let attached = attachments();
        let info = |(number, interface): &(u16, String)| PortInfo {
            number: *number,
            interface: interface.clone(),
            is_up: attached
                .get(number)
                .is_some_and(|each| each.link == Link::Up),
        };
        let mut ports: Vec<PortInfo> = names.iter().map(info).collect();
        ports.sort_by_key(|port| port.number);
        ports
    };
    let switch = Switch {
        control: server.map_or_else(alone, Server::control),
        ports: Box::new(ports),
        device_id: options.device_id,
        started,
    };
    match ThriftServer::start(switch, address, port, notifications.as_deref()) {
        Ok(server) => Ok(Some(server)),
        Err(error) if is_asked => input(format!("--thrift-port {port}: {}", reason(&error))),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            tracing::warn!(target: "thrift", "no runtime services: port {port} is in use; --thrift-port names another one");
            Ok(None)
        }
        Err(error) => {
            tracing::warn!(target: "thrift", "no runtime services at port {port}: {}", reason(&error));
            Ok(None)
        }
    }
}
