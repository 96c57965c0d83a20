//! Changes of interfaces, by rtnetlink(7).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

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
/// Lengths of `struct nlmsghdr`, `struct ifinfomsg` and `struct rtattr`.
const MESSAGE_HEADER: usize = 16;
const INTERFACE_HEADER: usize = 16;
const ATTRIBUTE_HEADER: usize = 4;
/// From linux/rtnetlink.h.
const RTMGRP_LINK: u32 = 1;

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
        address[8..].copy_from_slice(&RTMGRP_LINK.to_ne_bytes());
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

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn parse(mut datagram: &[u8], changes: &mut Vec<LinkChange>) {
    while let (Some(length), Some(kind)) = (word(datagram, 0), half(datagram, 4)) {
        let Some(message) = datagram.get(MESSAGE_HEADER..length as usize) else {
            return;
        };
        if kind == libc::RTM_NEWLINK || kind == libc::RTM_DELLINK {
            changes.extend(change(message, kind == libc::RTM_DELLINK));
        }
        datagram = datagram.get(aligned(length as usize)..).unwrap_or_default();
    }
}

fn change(message: &[u8], gone: bool) -> Option<LinkChange> {
    // A bridge sends RTM_DELLINK of its own family when an interface leaves it.
    if *message.first()? != libc::AF_UNSPEC as u8 {
        return None;
    }
    let (index, flags) = (word(message, 4)?, word(message, 8)?);
    let mut attributes = message.get(INTERFACE_HEADER..)?;
    while let (Some(length), Some(kind)) = (half(attributes, 0), half(attributes, 2)) {
        let value = attributes.get(ATTRIBUTE_HEADER..usize::from(length))?;
        if kind == libc::IFLA_IFNAME {
            let name = value.split(|byte| *byte == 0).next()?;
            return Some(LinkChange {
                index,
                name: String::from_utf8_lossy(name).into_owned(),
                gone,
                up: flags & libc::IFF_RUNNING as u32 != 0,
            });
        }
        attributes = attributes
            .get(aligned(usize::from(length))..)
            .unwrap_or_default();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, family: u8, flags: u32, name: &str) -> Vec<u8> {
        let mut body = vec![family, 0, 1, 0];
        body.extend(7i32.to_ne_bytes());
        body.extend(flags.to_ne_bytes());
        body.extend([0; 4]);
        // An attribute of another kind and of odd length first.
        body.extend([5, 0, 99, 0, 1, 0, 0, 0]);
        body.extend((ATTRIBUTE_HEADER as u16 + name.len() as u16 + 1).to_ne_bytes());
        body.extend(libc::IFLA_IFNAME.to_ne_bytes());
        body.extend(name.as_bytes());
        body.resize(aligned(body.len() + 1), 0);
        let mut message = (MESSAGE_HEADER as u32 + body.len() as u32)
            .to_ne_bytes()
            .to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend([0; 10]);
        message.extend(body);
        message
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
