//! Changes of interfaces, by rtnetlink(7).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::netlink::{self, word};
use crate::qdisc;
use crate::system;

/// A change of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkChange {
    /// Its index.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// It has left this network namespace.
    pub gone: bool,
    /// It is operational (IFF_RUNNING).
    pub up: bool,
}

/// The kernel's index of an interface, if it exists.
#[must_use]
pub fn interface_index(name: &str) -> Option<u32> {
    system::interface_index(name).ok()
}

impl LinkChange {
    /// Present state of an interface.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let flags = system::interface_value(name, libc::SIOCGIFFLAGS as libc::Ioctl);
        let flags = flags.map(u16::from_ne_bytes).unwrap_or(0);
        let index = system::interface_index(name);
        Self {
            gone: index.is_err(),
            index: index.unwrap_or(0),
            name: name.to_owned(),
            up: flags & libc::IFF_RUNNING as u16 != 0,
        }
    }

    /// Whether it is about the interface of this index, or, if that is unknown, of this name.
    pub(crate) fn is_of(&self, index: u32, name: &str) -> bool {
        self.index == index || (self.index == 0 && self.name == name)
    }
}

/// More than any datagram of the kernel's (NLMSG_GOODSIZE is a page, large answers are 32 KiB).
const LONGEST: usize = 1 << 16;
/// Length of `struct ifinfomsg`.
const INTERFACE_HEADER: usize = 16;
/// From linux/rtnetlink.h.
const RTMGRP_LINK: u32 = 1;
const RTMGRP_TC: u32 = 8;

/// A subscription to changes in this network namespace.
#[derive(Debug)]
pub struct Links {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl Links {
    /// Subscribes. Errors are those of socket(2) and bind(2).
    pub fn new() -> io::Result<Self> {
        let socket = system::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
        // struct sockaddr_nl: family, padding, address chosen by the kernel, groups.
        let mut address = [0u8; 12];
        address[..2].copy_from_slice(&(libc::AF_NETLINK as u16).to_ne_bytes());
        address[8..].copy_from_slice(&(RTMGRP_LINK | RTMGRP_TC).to_ne_bytes());
        system::bind(&socket, &address)?;
        Ok(Self {
            socket,
            buffer: vec![0; LONGEST],
        })
    }

    /// A descriptor that is readable after a change.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Waiting changes; `None` if some were lost: every interface may have changed.
    pub fn changes(&mut self) -> Option<Vec<LinkChange>> {
        let mut changes = Vec::new();
        loop {
            match system::read(&self.socket, &mut self.buffer) {
                Ok(length) => parse(self.buffer.get(..length).unwrap_or_default(), &mut changes),
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => return None,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Some(changes),
            }
        }
    }
}

/// Adds the datagram's changes. A changed queueing discipline is a change of its interface.
fn parse(datagram: &[u8], changes: &mut Vec<LinkChange>) {
    for (kind, message) in netlink::messages(datagram) {
        match kind {
            libc::RTM_NEWLINK | libc::RTM_DELLINK => {
                changes.extend(change(message, kind == libc::RTM_DELLINK));
            }
            libc::RTM_NEWQDISC | libc::RTM_DELQDISC => {
                let name = qdisc::interface(message).and_then(system::interface_name);
                changes.extend(name.map(|name| LinkChange::of(&name)));
            }
            _ => {}
        }
    }
}

fn change(message: &[u8], gone: bool) -> Option<LinkChange> {
    // A bridge sends RTM_DELLINK of its own family when an interface leaves it.
    if *message.first()? != libc::AF_UNSPEC as u8 {
        return None;
    }
    let (index, flags) = (word(message, 4)?, word(message, 8)?);
    Some(LinkChange {
        index,
        name: netlink::text(message.get(INTERFACE_HEADER..)?, libc::IFLA_IFNAME)?,
        gone,
        up: flags & libc::IFF_RUNNING as u32 != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, family: u8, flags: u32, name: &str) -> Vec<u8> {
        let mut body = vec![family, 0, 1, 0];
        body.extend(7i32.to_ne_bytes());
        body.extend(flags.to_ne_bytes());
        body.extend([0; 4]);
        netlink::message(kind, &body, &[(libc::IFLA_IFNAME, name)])
    }

    #[test]
    fn messages_of_the_kernel() {
        let mut datagram = message(
            libc::RTM_NEWLINK,
            0,
            (libc::IFF_UP | libc::IFF_RUNNING) as u32,
            "veth0",
        );
        datagram.extend(message(libc::RTM_NEWADDR, 0, 0, "other"));
        datagram.extend(message(libc::RTM_DELLINK, libc::AF_BRIDGE as u8, 0, "br0"));
        datagram.extend(message(libc::RTM_DELLINK, 0, 0, "veth1"));
        let mut changes = Vec::new();
        parse(&datagram, &mut changes);
        let expected = |name: &str, gone, up| LinkChange {
            index: 7,
            name: name.to_owned(),
            gone,
            up,
        };
        assert_eq!(
            changes,
            [
                expected("veth0", false, true),
                expected("veth1", true, false)
            ]
        );
    }

    #[test]
    fn a_cut_message_ends_quietly() {
        let datagram = message(libc::RTM_NEWLINK, 0, 1, "veth0");
        for length in 0..datagram.len() {
            let mut changes = Vec::new();
            parse(&datagram[..length], &mut changes);
            assert_eq!(changes, []);
        }
        // A length of zero may not hold the reader for ever.
        parse(&[0; 64], &mut Vec::new());
    }
}
