//! Configuration of a server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use phb_gnmi::Attachments;
use phb_node::SwitchNode;
use std::sync::{Arc, Mutex, PoisonError};

/// The switch that a server programs.
pub type Node = Arc<Mutex<SwitchNode>>;

/// Whose behaviour holds where P4Runtime and bmv2 differ; docs/operate/p4runtime.md has a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manners {
    /// The specification's.
    #[default]
    Specification,
    /// simple_switch_grpc's.
    Bmv2,
}

/// bmv2 has no gNMI. Its controllers know it from Stratum, which drives bmv2, too.
impl Manners {
    /// The port that gNMI tells nothing of: to Stratum, the one to controllers is no interface.
    pub(crate) fn hidden(self, node: &Node) -> Option<u16> {
        match self {
            Self::Specification => None,
            Self::Bmv2 => {
                let node = node.lock().unwrap_or_else(PoisonError::into_inner);
                node.config().cpu_port
            }
        }
    }

    /// What gNMI tells of interfaces: with Stratum, `ifindex` is the port's number.
    pub(crate) fn attachments(self, attachments: Attachments) -> Attachments {
        match self {
            Self::Specification => attachments,
            Self::Bmv2 => Arc::new(move || {
                let mut attached = attachments();
                for attachment in attached.values_mut() {
                    attachment.ifindex = None;
                }
                attached
            }),
        }
    }
}

/// The configuration of a server.
pub struct ServerConfig {
    /// The only device it answers for.
    pub device_id: u64,
    /// `HOST:PORT`, `[HOST]:PORT` or `unix:PATH`; port 0 takes a free one.
    pub address: String,
    /// A Unix socket besides, for users of this machine.
    pub unix: Option<UnixSocket>,
    /// Without it, TCP is in clear text.
    pub tls: Option<TlsFiles>,
    /// Rights of clients by their certificates; without it anybody may do anything.
    pub authorization: Option<Authorization>,
    /// Whether gNMI is served; switches without it are imitated too.
    pub gnmi: bool,
    /// The names of interfaces, by port number; other ports are called by their number.
    pub names: BTreeMap<u16, String>,
    /// The state of the interface at each port.
    pub attachments: Attachments,
    /// Whose behaviour holds where bmv2 differs from the specification.
    pub manners: Manners,
    /// Threads that serve.
    pub workers: usize,
}

impl ServerConfig {
    /// A server in clear text, for anybody who reaches the address.
    #[must_use]
    pub fn new(device_id: u64, address: impl Into<String>) -> Self {
        Self {
            device_id,
            address: address.into(),
            unix: None,
            tls: None,
            authorization: None,
            gnmi: true,
            names: BTreeMap::new(),
            attachments: Arc::new(BTreeMap::new),
            manners: Manners::default(),
            workers: 1,
        }
    }
}

/// A Unix socket with its permissions, which decide who may connect; its clients have all rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnixSocket {
    /// Where it is made.
    pub path: PathBuf,
    /// As chmod(2) takes it.
    pub mode: u32,
}

/// Files in PEM, read anew when they have changed, and whether clients show certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate chain.
    pub certificate: PathBuf,
    /// Its private key, without a password.
    pub key: PathBuf,
    /// The authority that clients' certificates are checked against.
    pub client_authority: Option<PathBuf>,
    /// Whether clients have to show one.
    pub clients: ClientCertificates,
}

/// Whether clients show certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientCertificates {
    /// They aren't asked.
    #[default]
    NotAsked,
    /// Those without one may read.
    Optional,
    /// Those without one are refused.
    Required,
}

/// Rights by certificate and by role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authorization {
    /// Rights by certificate.
    pub clients: Vec<Binding>,
    /// Rights by role.
    pub roles: Vec<RoleRights>,
}

/// The rights of a certificate's holder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// The certificate's common name, or one of its alternative names (DNS name, URI, IP address, e-mail).
    pub name: String,
    /// Which roles it may name; "" is the default role, None any.
    pub roles: Option<BTreeSet<String>>,
    /// Which devices it may speak with; None any.
    pub devices: Option<BTreeSet<u64>>,
    /// Neither writes nor configures nor becomes primary.
    pub read_only: bool,
}

/// The rights of a role, which `role.config` can only narrow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleRights {
    /// The role's name.
    pub name: String,
    /// The p4info's objects that are the role's; None all.
    pub objects: Option<Vec<Object>>,
    /// Whether packet-ins are for it.
    pub packet_in: bool,
    /// Whether it may send packets.
    pub packet_out: bool,
    /// Whether it may set the forwarding-pipeline config.
    pub pipeline: bool,
    /// Whether it may write multicast groups and clone sessions.
    pub replication: bool,
    /// Paths of gNMI that its clients may set, with all below them.
    pub gnmi: Vec<String>,
}

/// An object of a p4info.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// By id.
    Id(u32),
    /// By name.
    Name(String),
}

#[cfg(test)]
mod tests {
    use phb_gnmi::Attachment;
    use phb_node::SwitchConfig;
    use phb_pipeline::Executor;

    use super::*;

    #[test]
    fn with_bmv2s_manners_the_port_to_controllers_is_hidden() {
        let config = SwitchConfig {
            name: "test".to_owned(),
            cpu_port: Some(255),
            drop_port: 511,
            seed: 1,
            executor: Executor::default(),
        };
        let node: Node = Arc::new(Mutex::new(SwitchNode::new(config, [])));
        for (manners, hidden) in [(Manners::Specification, None), (Manners::Bmv2, Some(255))] {
            assert_eq!(manners.hidden(&node), hidden, "{manners:?}");
        }
    }

    #[test]
    fn with_bmv2s_manners_an_index_is_the_ports_number() {
        let at_interface = Attachment {
            ifindex: Some(77),
            missed: 3,
            ..Attachment::default()
        };
        let given: Attachments = {
            let at_interface = at_interface.clone();
            Arc::new(move || [(1, at_interface.clone())].into())
        };
        for (manners, ifindex) in [(Manners::Specification, Some(77)), (Manners::Bmv2, None)] {
            let expected = Attachment {
                ifindex,
                ..at_interface.clone()
            };
            let told = manners.attachments(Arc::clone(&given))();
            assert_eq!(told, [(1, expected)].into(), "{manners:?}");
        }
    }
}
