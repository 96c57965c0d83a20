//! A TAP interface as a port: the switch receives frames that the kernel sends (tuntap.rst).

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use phb_network::Time;

use crate::counters::{Counters, Link};
use crate::links::LinkChange;
use crate::offload::{self, VIRTIO_HEADER};
use crate::port::{Port, PortError};
use crate::system::{self, INTERFACE_REQUEST};

/// Work for the module `offload` (linux/if_tun.h): checksums, TCP and UDP segmentation.
const OFFLOADS: libc::c_ulong = 0x01 | 0x02 | 0x04 | 0x08;
const OFFLOADS_WITH_UDP: libc::c_ulong = OFFLOADS | 0x20 | 0x40;
/// Longest frame with segmentation offload, Ethernet header included.
const LONGEST_FRAME: usize = (1 << 16) + 64;

/// A TAP interface of this network namespace.
#[derive(Debug)]
pub struct TapPort {
    name: String,
    device: Option<OwnedFd>,
    index: u32,
    buffer: Vec<u8>,
    scratch: Vec<u8>,
    counters: Arc<Counters>,
}

impl TapPort {
    /// Attaches to the TAP interface `name`, or makes one, switches it on, and removes it at the
    /// end. Fails for a wrong name, another kind of interface, one in use, or without permission.
    pub fn open(name: &str) -> Result<Self, PortError> {
        let counters = Arc::new(Counters::default());
        let (device, index) = attach(name)?;
        Ok(Self {
            name: name.to_owned(),
            device: Some(device),
            index,
            buffer: vec![0; VIRTIO_HEADER + LONGEST_FRAME],
            scratch: Vec::with_capacity(LONGEST_FRAME),
            counters,
        })
    }
}

fn attach(name: &str) -> Result<(OwnedFd, u32), PortError> {
    let failed = |error: io::Error| {
        PortError(match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => {
                format!("TAP interface {name} needs root or the capability CAP_NET_ADMIN")
            }
            Some(libc::EBUSY) => format!("TAP interface {name} is in use by another process"),
            Some(libc::EINVAL) => format!("{name} is no TAP interface, and no name for one"),
            _ => format!(
                "TAP interface {name} can't be opened: {}",
                system::reason(&error)
            ),
        })
    };
    let existed = system::interface_index(name).is_ok();
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun")
        .map_err(failed)?;
    let device = OwnedFd::from(device);
    system::set_nonblocking(&device).map_err(failed)?;
    let flags = (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as u16;
    let mut request = [0; INTERFACE_REQUEST];
    system::put_name(&mut request, name).map_err(failed)?;
    request[libc::IFNAMSIZ..libc::IFNAMSIZ + 2].copy_from_slice(&flags.to_ne_bytes());
    system::interface_request(device.as_fd(), libc::TUNSETIFF, &mut request).map_err(failed)?;
    system::set_integer(device.as_fd(), libc::TUNSETVNETHDRSZ, VIRTIO_HEADER as i32)
        .map_err(failed)?;
    // Kernels before 6.2 have no UDP segmentation.
    if system::set_number(device.as_fd(), libc::TUNSETOFFLOAD, OFFLOADS_WITH_UDP).is_err() {
        system::set_number(device.as_fd(), libc::TUNSETOFFLOAD, OFFLOADS).map_err(failed)?;
    }
    if !existed {
        system::switch_on(name).map_err(failed)?;
    }
    let index = system::interface_index(name).map_err(failed)?;
    Ok((device, index))
}

impl Port for TapPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.device.as_ref().map(AsFd::as_fd)
    }

    fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    fn receive(&mut self, _now: Time, limit: usize, take: &mut dyn FnMut(&[u8])) -> bool {
        let Some(device) = &self.device else {
            return false;
        };
        for _ in 0..limit {
            match system::read(device, &mut self.buffer) {
                Ok(length) => {
                    let received = self.buffer.get_mut(..length).unwrap_or_default();
                    offload::finish(received, None, &mut self.scratch, &self.counters, take);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                // The interface is down or gone: `Links` reports it.
                Err(error) if matches!(error.raw_os_error(), Some(libc::EIO | libc::EBADFD)) => {
                    return false;
                }
                Err(_) => {
                    self.counters.receive_error();
                    return false;
                }
            }
        }
        true
    }

    fn send(&mut self, _now: Time, frame: &[u8]) {
        let header = offload::virtio_header(0);
        let sent = self
            .device
            .as_ref()
            .is_some_and(|device| system::write(device, &[&header, frame]).is_ok());
        if !sent {
            self.counters.send_errors(1);
        }
    }

    fn flush(&mut self) {}

    fn link_changed(&mut self, change: &LinkChange) -> Option<String> {
        let name = &self.name;
        if self.device.is_some() && change.is_of(self.index, name) {
            if change.gone {
                self.device = None;
                self.counters.set_link(Link::Absent);
                return Some(format!(
                    "TAP interface {name} is gone; the port waits for it"
                ));
            }
            let link = if change.up { Link::Up } else { Link::Down };
            if link == self.counters.link() {
                return None;
            }
            self.counters.set_link(link);
            return Some(format!("TAP interface {name} is {}", link.word()));
        }
        if self.device.is_some() || change.gone || change.name != *name {
            return None;
        }
        match attach(name) {
            Ok((device, index)) => {
                (self.device, self.index) = (Some(device), index);
                self.counters.set_link(Link::Up);
                Some(format!("TAP interface {name} is back"))
            }
            Err(error) => Some(error.to_string()),
        }
    }
}
