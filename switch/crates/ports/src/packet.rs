//! A network interface as a port: a packet socket with rings.
//!
//! Socket options (packet(7)): `PACKET_VNET_HDR`, because virtual interfaces leave checksums and
//! segmentation to missing hardware; `PACKET_COPY_THRESH` for frames longer than a slot, by the
//! socket's queue; `PACKET_IGNORE_OUTGOING`; `PACKET_QDISC_BYPASS`: the switch has queues.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use phb_network::Time;

use crate::counters::{Counters, Link};
use crate::links::LinkChange;
use crate::offload::{self, VIRTIO_HEADER};
use crate::port::{Port, PortError};
use crate::ring::{Layout, Rings};
use crate::system::{self, ControlBuffer};
use crate::tag::{self, AUXILIARY_DATA};

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
/// Longest frame with segmentation offload, Ethernet header included.
const LONGEST_FRAME: usize = (1 << 16) + 64;
const ETHERNET_HEADER: usize = 14;
const TAG: usize = 4;
/// Largest header before a frame's payload in a transmit slot.
const LARGEST_HEADER: usize = VIRTIO_HEADER + ETHERNET_HEADER + TAG;

/// Up to this length the kernel copies frames whole. Otherwise it lends pages of the ring to the
/// packet, and copies them at an interface that can't use them (veth): more work.
const COPIED_WHOLE: usize = 2048;

/// An interface of this network namespace.
#[derive(Debug)]
pub struct PacketPort {
    name: String,
    rings: bool,
    attached: Option<Attached>,
    buffer: Vec<u8>,
    segment: Vec<u8>,
    control: ControlBuffer,
    counters: Arc<Counters>,
}

#[derive(Debug)]
struct Attached {
    socket: Arc<OwnedFd>,
    /// Lasts as long as the interface; a new one has another.
    index: u32,
    rings: Option<Rings>,
    mtu: usize,
}

impl PacketPort {
    /// Opens the interface `name`, in promiscuous mode until the port is dropped. Fails without the
    /// interface, Ethernet, permission, or these socket options.
    pub fn open(name: &str) -> Result<Self, PortError> {
        Self::open_with(name, true)
    }

    /// As [`open`](Self::open), but without rings if not wanted: a system call for every frame.
    pub fn open_with(name: &str, rings: bool) -> Result<Self, PortError> {
        let counters = Arc::new(Counters::default());
        let attached = attach(name, rings, &counters)?;
        Ok(Self {
            name: name.to_owned(),
            rings,
            attached: Some(attached),
            buffer: vec![0; VIRTIO_HEADER + LONGEST_FRAME],
            segment: Vec::with_capacity(LONGEST_FRAME),
            control: ControlBuffer::default(),
            counters,
        })
    }

    /// Opens the interface anew; gives the error.
    fn attach(&mut self) -> Option<String> {
        // Closes the old socket first: both would receive.
        self.attached = None;
        match attach(&self.name, self.rings, &self.counters) {
            Ok(attached) => {
                self.attached = Some(attached);
                None
            }
            Err(error) => {
                self.counters.set_link(Link::Absent);
                Some(error.to_string())
            }
        }
    }
}

fn attach(name: &str, rings: bool, counters: &Counters) -> Result<Attached, PortError> {
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
    // struct sockaddr_ll: family, protocol, index; bind(2) ignores the rest.
    let mut address = [0u8; 20];
    address[..2].copy_from_slice(&(libc::AF_PACKET as u16).to_ne_bytes());
    address[2..4].copy_from_slice(&ETH_P_ALL.to_be_bytes());
    address[4..8].copy_from_slice(&index.to_ne_bytes());
    system::bind(&socket, &address).map_err(failed)?;
    let socket = Arc::new(socket);
    counters.watch(&socket);
    let up = flags(name).is_ok_and(|flags| flags & libc::IFF_RUNNING as u16 != 0);
    counters.set_link(if up { Link::Up } else { Link::Down });
    Ok(Attached {
        socket,
        index,
        rings,
        mtu,
    })
}

fn mtu(name: &str) -> io::Result<usize> {
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

impl Port for PacketPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.attached
            .as_ref()
            .map(|attached| attached.socket.as_fd())
    }

    fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    fn receive(&mut self, _now: Time, limit: usize, take: &mut dyn FnMut(&[u8])) -> bool {
        let Some(attached) = self.attached.as_mut() else {
            return false;
        };
        let mut from_queue = FromQueue {
            socket: &attached.socket,
            buffer: &mut self.buffer,
            segment: &mut self.segment,
            control: &mut self.control,
            counters: &self.counters,
        };
        let Some(rings) = attached.rings.as_mut() else {
            return (0..limit).all(|_| from_queue.receive(take));
        };
        for _ in 0..limit {
            let Some(received) = rings.next(VIRTIO_HEADER) else {
                return false;
            };
            if received.copied {
                from_queue.receive(take);
            } else if received.truncated {
                self.counters.refuse();
            } else {
                offload::finish(
                    received.bytes,
                    received.tag,
                    from_queue.segment,
                    &self.counters,
                    take,
                );
            }
            rings.release();
        }
        true
    }

    fn waiting<'a>(&'a self, frames: &mut [&'a [u8]]) -> usize {
        let attached = self.attached.as_ref();
        let rings = attached.and_then(|attached| attached.rings.as_ref());
        rings.map_or(0, |rings| rings.waiting(frames))
    }

    #[inline]
    fn send(&mut self, _now: Time, frame: &[u8]) {
        let Some(attached) = self.attached.as_mut() else {
            return self.counters.send_errors(1);
        };
        if !fits(frame, attached.mtu) {
            return self.counters.send_errors(1);
        }
        let copied = if frame.len() <= COPIED_WHOLE {
            frame.len()
        } else {
            0
        };
        let header = offload::virtio_header(copied as u16);
        let Some(rings) = attached.rings.as_mut() else {
            if system::send(&attached.socket, &[&header, frame]).is_err() {
                self.counters.send_errors(1);
            }
            return;
        };
        if rings.put(&header, frame) {
            return;
        }
        let lost = rings.kick(&attached.socket);
        self.counters
            .send_errors(lost + usize::from(!rings.put(&header, frame)));
    }

    fn has_rings(&self) -> bool {
        self.attached
            .as_ref()
            .is_some_and(|attached| attached.rings.is_some())
    }

    fn trouble(&mut self) {
        // Reading clears the error; `Links` reports that the interface is down.
        let Some(attached) = &self.attached else {
            return;
        };
        let error = system::get_option(&attached.socket, libc::SOL_SOCKET, libc::SO_ERROR, 0i32);
        if error.is_ok_and(|error| error != 0 && error != libc::ENETDOWN) {
            self.counters.receive_error();
        }
    }

    fn link_changed(&mut self, change: &LinkChange) -> Option<String> {
        let name = &self.name;
        match &mut self.attached {
            Some(attached) if change.is_of(attached.index, name) => {
                if change.gone {
                    self.counters.count_missed(&attached.socket);
                    self.counters.set_link(Link::Absent);
                    self.attached = None;
                    return Some(format!("interface {name} is gone; the port waits for it"));
                }
                if let Ok(mtu) = mtu(name) {
                    let fits = attached
                        .rings
                        .as_ref()
                        .is_none_or(|rings| LARGEST_HEADER + mtu <= rings.longest());
                    if !fits {
                        self.counters.count_missed(&attached.socket);
                        return self.attach();
                    }
                    attached.mtu = mtu;
                }
                let link = if change.up { Link::Up } else { Link::Down };
                if link == self.counters.link() {
                    return None;
                }
                self.counters.set_link(link);
                Some(format!("interface {name} is {}", link.word()))
            }
            _ if change.name == *name && !change.gone => {
                let message = self.attach();
                Some(message.unwrap_or_else(|| format!("interface {} is back", self.name)))
            }
            _ => None,
        }
    }

    fn flush(&mut self) {
        if let Some(attached) = self.attached.as_mut()
            && let Some(rings) = attached.rings.as_mut()
            && rings.pending() > 0
        {
            let lost = rings.kick(&attached.socket);
            if lost > 0 {
                self.counters.send_errors(lost);
            }
        }
    }
}

/// Whether the interface takes the frame: the MTU excludes the Ethernet header and one VLAN tag.
fn fits(frame: &[u8], mtu: usize) -> bool {
    let payload = match frame.get(12..14) {
        Some([0x81, 0x00] | [0x88, 0xa8]) => frame.len().saturating_sub(ETHERNET_HEADER + TAG),
        Some(_) => frame.len() - ETHERNET_HEADER,
        None => return false,
    };
    payload <= mtu
}

struct FromQueue<'a> {
    socket: &'a OwnedFd,
    buffer: &'a mut [u8],
    segment: &'a mut Vec<u8>,
    control: &'a mut ControlBuffer,
    counters: &'a Counters,
}

impl FromQueue<'_> {
    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> bool {
        match system::receive(self.socket, self.buffer, self.control) {
            Ok(received) if received.truncated => self.counters.refuse(),
            Ok(received) => {
                let tag = self
                    .control
                    .data::<AUXILIARY_DATA>(libc::SOL_PACKET, PACKET_AUXDATA)
                    .and_then(|data| tag::tag_of_auxiliary(&data));
                let bytes = self.buffer.get_mut(..received.length).unwrap_or_default();
                offload::finish(bytes, tag, self.segment, self.counters, take);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(_) => {
                self.counters.receive_error();
                return false;
            }
        }
        true
    }
}
