//! The sockets of an interface.
//!
//! Socket options (packet(7)): `PACKET_VNET_HDR`, because virtual interfaces leave checksums and
//! segmentation to missing hardware; `PACKET_COPY_THRESH` for frames longer than a slot, by the
//! socket's queue; `PACKET_IGNORE_OUTGOING`; `PACKET_QDISC_BYPASS`: the switch has queues. Where
//! somebody has set a queueing discipline, frames pass it by another socket.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::counters::{Counters, Link};
use crate::held::HeldSender;
use crate::offload::VIRTIO_HEADER;
use crate::port::PortError;
use crate::qdisc;
use crate::ring::{Layout, Rings};
use crate::system;

/// From linux/if_packet.h and linux/if_ether.h.
const PACKET_ADD_MEMBERSHIP: i32 = 1;
const PACKET_COPY_THRESH: i32 = 7;
const PACKET_AUXDATA: i32 = 8;
const PACKET_VERSION: i32 = 10;
const PACKET_LOSS: i32 = 14;
const PACKET_VNET_HDR: i32 = 15;
const PACKET_QDISC_BYPASS: i32 = 20;
const PACKET_IGNORE_OUTGOING: i32 = 23;
const PACKET_MR_PROMISC: u32 = 1;
const TPACKET_V2: i32 = 1;
const ETH_P_ALL: u16 = 3;

/// Frames that may arrive while the switch is busy.
const RECEIVE_SLOTS: usize = 4096;
/// Frames sent by one flush.
const TRANSMIT_SLOTS: usize = 512;
/// Rings are not swapped: a large MTU gets fewer slots.
const LARGEST_RING: usize = 16 << 20;

/// Memory for large frames, or frames without a ring.
const QUEUE_BYTES: i32 = 8 << 20;
pub(super) const ETHERNET_HEADER: usize = 14;
pub(super) const TAG: usize = 4;
/// Largest header before a frame's payload in a transmit slot.
const LARGEST_HEADER: usize = VIRTIO_HEADER + ETHERNET_HEADER + TAG;

#[derive(Debug)]
pub(super) struct Attached {
    pub(super) socket: Arc<OwnedFd>,
    /// Lasts as long as the interface; a new one has another.
    pub(super) index: u32,
    pub(super) rings: Option<Rings>,
    pub(super) mtu: usize,
    /// What sends instead of the rings, while the interface has a queueing discipline.
    pub(super) held: Option<HeldSender>,
}

impl Attached {
    /// Whether the rings have room for frames of the present MTU.
    pub(super) fn fits(&self) -> bool {
        let longest = self.rings.as_ref().map(Rings::longest);
        longest.is_none_or(|longest| LARGEST_HEADER + self.mtu <= longest)
    }

    /// Sends through the interface's queueing discipline from now on, if somebody has set one. Gives
    /// a line for the log if that is another than before.
    pub(super) fn follow_discipline(&mut self, name: &str, counters: &Counters) -> Option<String> {
        // What the kernel doesn't tell is as if there were none.
        let kind = qdisc::set_by_somebody(self.index).unwrap_or(None);
        if kind == counters.discipline() && kind.is_some() == self.held.is_some() {
            return None;
        }
        let line = match &kind {
            None => {
                self.stop_holding(counters);
                format!("interface {name} has no queueing discipline")
            }
            Some(kind) => {
                if self.held.is_none() {
                    let longest = ETHERNET_HEADER + TAG + self.mtu;
                    match HeldSender::open(&address(0, self.index), longest) {
                        Ok(held) => self.held = Some(held),
                        Err(error) => {
                            let why = system::reason(&error);
                            return Some(format!("interface {name}: frames pass by {kind}: {why}"));
                        }
                    }
                }
                format!(
                    "interface {name} has the queueing discipline {kind}; what it holds back waits in the switch"
                )
            }
        };
        counters.set_discipline(kind);
        Some(line)
    }

    /// Sends the frame that was kept, or loses it.
    pub(super) fn stop_holding(&mut self, counters: &Counters) {
        if let Some(mut held) = self.held.take() {
            held.retry(counters);
            counters.send_errors(usize::from(!held.has_room()));
        }
    }
}

/// Opens the interface, with rings if wanted and possible.
pub(super) fn attach(name: &str, rings: bool, counters: &Counters) -> Result<Attached, PortError> {
    let failed = |error: io::Error| match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => PortError(format!(
            "opening interface {name} needs root or the capability CAP_NET_RAW"
        )),
        _ => PortError(format!(
            "interface {name} can't be opened: {}",
            system::reason(&error)
        )),
    };
    let index = system::interface_index(name)
        .map_err(|_| PortError(format!("there is no interface {name}")))?;
    let kind = system::interface_value(name, libc::SIOCGIFHWADDR).map_err(failed)?;
    let kind = u16::from_ne_bytes(kind);
    if kind != libc::ARPHRD_ETHER && kind != libc::ARPHRD_LOOPBACK {
        return Err(PortError(format!(
            "interface {name} is no Ethernet interface (its hardware type is {kind}, expected {})",
            libc::ARPHRD_ETHER
        )));
    }
    let mtu = mtu(name).map_err(failed)?;
    let with_rings = if rings {
        open_with_rings(mtu).map_err(|error| system::reason(&error))
    } else {
        Err("not wanted".to_owned())
    };
    let (socket, rings, why) = match with_rings {
        Ok((socket, rings)) => (socket, Some(rings), None),
        Err(why) => (open_socket().map_err(failed)?, None, Some(why)),
    };
    counters.set_without_rings(why);
    let mut membership = [0u8; 16];
    membership[..4].copy_from_slice(&index.to_ne_bytes());
    membership[4..6].copy_from_slice(&(PACKET_MR_PROMISC as u16).to_ne_bytes());
    system::set_option(
        &socket,
        libc::SOL_PACKET,
        PACKET_ADD_MEMBERSHIP,
        &membership,
    )
    .map_err(failed)?;
    system::bind(&socket, &address(ETH_P_ALL, index)).map_err(failed)?;
    let socket = Arc::new(socket);
    counters.watch(&socket);
    let up = flags(name).is_ok_and(|flags| flags & libc::IFF_RUNNING as u16 != 0);
    counters.set_link(if up { Link::Up } else { Link::Down });
    Ok(Attached {
        socket,
        index,
        rings,
        mtu,
        held: None,
    })
}

/// `struct sockaddr_ll`: family, protocol, index; bind(2) ignores the rest.
fn address(protocol: u16, index: u32) -> [u8; 20] {
    let mut address = [0u8; 20];
    address[..2].copy_from_slice(&(libc::AF_PACKET as u16).to_ne_bytes());
    address[2..4].copy_from_slice(&protocol.to_be_bytes());
    address[4..8].copy_from_slice(&index.to_ne_bytes());
    address
}

/// The interface's maximum transmission unit, in bytes.
pub(super) fn mtu(name: &str) -> io::Result<usize> {
    let mtu = i32::from_ne_bytes(system::interface_value(name, libc::SIOCGIFMTU)?);
    Ok(usize::try_from(mtu).unwrap_or(0))
}

fn flags(name: &str) -> io::Result<u16> {
    system::interface_value(name, libc::SIOCGIFFLAGS).map(u16::from_ne_bytes)
}

/// A socket with protocol 0: until it is bound it receives no frames of other interfaces.
fn open_socket() -> io::Result<OwnedFd> {
    let socket = system::socket(libc::AF_PACKET, libc::SOCK_RAW, 0)?;
    for option in [
        PACKET_AUXDATA,
        PACKET_VNET_HDR,
        PACKET_IGNORE_OUTGOING,
        PACKET_QDISC_BYPASS,
    ] {
        system::set_option(&socket, libc::SOL_PACKET, option, &1)?;
    }
    for (force, limited) in [
        (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
        (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
    ] {
        // Without CAP_NET_ADMIN the system's limit applies.
        if system::set_option(&socket, libc::SOL_SOCKET, force, &QUEUE_BYTES).is_err() {
            system::set_option(&socket, libc::SOL_SOCKET, limited, &QUEUE_BYTES)?;
        }
    }
    Ok(socket)
}

fn open_with_rings(mtu: usize) -> io::Result<(OwnedFd, Rings)> {
    let socket = open_socket()?;
    let set = |option, value: i32| system::set_option(&socket, libc::SOL_PACKET, option, &value);
    set(PACKET_VERSION, TPACKET_V2)?;
    // Otherwise a failed frame would block the transmit ring for ever.
    set(PACKET_LOSS, 1)?;
    set(PACKET_COPY_THRESH, 1)?;
    let longest = ETHERNET_HEADER + TAG + mtu;
    let slots = |wanted: usize| wanted.min(LARGEST_RING / longest.max(1)).max(64);
    let rings = Rings::new(
        &socket,
        Layout::new(slots(RECEIVE_SLOTS), longest),
        Layout::new(slots(TRANSMIT_SLOTS), longest),
    )?;
    Ok((socket, rings))
}
