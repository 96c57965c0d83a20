//! A network interface as a port: a packet socket with rings.

mod attached;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use phb_network::Time;

use crate::counters::{Counters, Link};
use crate::held::HeldSender;
use crate::links::LinkChange;
use crate::offload::{self, VIRTIO_HEADER};
use crate::port::{Port, PortError, Room};
use crate::system::{self, ControlBuffer};
use crate::tag::{self, AUXILIARY_DATA};
use attached::{Attached, ETHERNET_HEADER, TAG, attach, mtu};

/// From linux/if_packet.h.
const PACKET_AUXDATA: i32 = 8;

/// Longest frame with segmentation offload, Ethernet header included.
const LONGEST_FRAME: usize = (1 << 16) + 64;

/// Up to this length the kernel copies frames whole. Otherwise it lends pages of the ring to the
/// packet, and copies them at an interface that can't use them (veth): more work.
const COPIED_WHOLE: usize = 2048;

/// An interface of this network namespace.
#[derive(Debug)]
pub struct PacketPort {
    name: String,
    rings: bool,
    holds_back: bool,
    attached: Option<Attached>,
    buffer: Vec<u8>,
    segment: Vec<u8>,
    control: ControlBuffer,
    counters: Arc<Counters>,
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
            holds_back: false,
            attached: Some(attached),
            buffer: vec![0; VIRTIO_HEADER + LONGEST_FRAME],
            segment: Vec::with_capacity(LONGEST_FRAME),
            control: ControlBuffer::default(),
            counters,
        })
    }

    fn follow_link(&mut self, change: &LinkChange) -> Option<String> {
        let name = &self.name;
        match &mut self.attached {
            Some(attached) if change.is_of(attached.index, name) => {
                if change.gone {
                    let line = format!("interface {name} is gone; the port waits for it");
                    self.detach();
                    self.counters.set_link(Link::Absent);
                    return Some(line);
                }
                if let Ok(mtu) = mtu(name) {
                    attached.mtu = mtu;
                    if !attached.fits() {
                        return self.attach();
                    }
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

    /// Closes the sockets of the interface.
    fn detach(&mut self) {
        if let Some(mut attached) = self.attached.take() {
            attached.stop_holding(&self.counters);
            self.counters.count_missed(&attached.socket);
            self.counters.set_discipline(None);
        }
    }

    /// A line for the log if the interface's queueing discipline has changed.
    fn follow_discipline(&mut self, change: &LinkChange) -> Option<String> {
        let attached = self.attached.as_mut().filter(|_| self.holds_back)?;
        if !change.is_of(attached.index, &self.name) {
            return None;
        }
        attached.follow_discipline(&self.name, &self.counters)
    }

    /// Opens the interface anew; gives the error.
    fn attach(&mut self) -> Option<String> {
        // Closes the old socket first: both would receive.
        self.detach();
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
        if let Some(held) = &mut attached.held {
            return held.send(frame, &self.counters);
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

    fn hold_back(&mut self) {
        self.holds_back = true;
    }

    fn room(&self) -> Room {
        let held = self
            .attached
            .as_ref()
            .and_then(|attached| attached.held.as_ref());
        match held.map(HeldSender::has_room) {
            None => Room::Always,
            Some(true) => Room::Now,
            Some(false) => Room::None,
        }
    }

    fn blocked(&self) -> Option<BorrowedFd<'_>> {
        let held = self.attached.as_ref()?.held.as_ref()?;
        (!held.has_room()).then(|| held.descriptor())
    }

    fn make_room(&mut self) {
        let attached = self.attached.as_mut();
        if let Some(held) = attached.and_then(|attached| attached.held.as_mut()) {
            held.retry(&self.counters);
        }
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
        let of_link = self.follow_link(change);
        let of_discipline = self.follow_discipline(change);
        let lines: Vec<String> = of_link.into_iter().chain(of_discipline).collect();
        (!lines.is_empty()).then(|| lines.join("; "))
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
