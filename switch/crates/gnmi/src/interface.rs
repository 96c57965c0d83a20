//! Interfaces and their state at ports.

use std::collections::BTreeMap;
use std::sync::Arc;

use phb_ports::Link;

/// The interface at a port, as its runner knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Whether frames can pass.
    pub link: Link,
    /// Frames that found no room on their way to the switch.
    pub missed: u64,
    /// Frames refused since the offload that their sender asked for can't be done.
    pub refused: u64,
    /// Reads that failed.
    pub receive_errors: u64,
    /// Frames that did not leave.
    pub send_errors: u64,
    /// The queueing discipline that somebody has set on the interface, if frames pass through it.
    pub discipline: Option<String>,
    /// Frames that waited since the discipline held as many as it may.
    pub held_back: u64,
    /// The kernel's index of the interface, if it has one.
    pub ifindex: Option<u32>,
}

/// Gives the interfaces at the ports now, by port number.
pub type Attachments = Arc<dyn Fn() -> BTreeMap<u16, Attachment> + Send + Sync>;

pub(crate) struct Interface {
    pub name: String,
    pub port: u16,
}
