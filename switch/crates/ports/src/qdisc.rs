//! The queueing discipline of an interface, as tc(8) has set it.

use std::io;

use crate::netlink::{self, word};
use crate::system;

/// From linux/rtnetlink.h, linux/netlink.h and linux/pkt_sched.h.
const NLM_F_REQUEST: u16 = 1;
const NLM_F_DUMP: u16 = 0x300;
const TCA_KIND: u16 = 1;
const TC_H_ROOT: u32 = u32::MAX;

/// `struct tcmsg`: family, padding, interface, handle, parent, information.
const LENGTH: usize = 20;
const AT_INTERFACE: usize = 4;
const AT_HANDLE: usize = 8;
const AT_PARENT: usize = 12;

/// More than a datagram of the kernel's answer (at most 32 KiB).
const LONGEST: usize = 1 << 16;

/// The kind of the discipline that somebody has set at the root of an interface: "tbf", "htb". The
/// one that the kernel gives every interface has no handle, and doesn't count. Errors are those of
/// netlink(7); an interface that is gone has none.
pub(crate) fn set_by_somebody(index: u32) -> io::Result<Option<String>> {
    let socket = system::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    system::write(&socket, &[&request(), &[]])?;
    let mut buffer = vec![0; LONGEST];
    // The kernel makes the next part of its answer whenever one is read.
    loop {
        let length = system::read(&socket, &mut buffer)?;
        for (kind, message) in netlink::messages(buffer.get(..length).unwrap_or_default()) {
            if kind == libc::RTM_NEWQDISC && interface(message) == Some(index) {
                if let Some(kind) = kind_of_root(message) {
                    return Ok(Some(kind));
                }
            } else if [libc::NLMSG_DONE, libc::NLMSG_ERROR].contains(&kind.into()) {
                return Ok(None);
            }
        }
    }
}

/// The interface that a message about a discipline is about.
pub(crate) fn interface(message: &[u8]) -> Option<u32> {
    word(message, AT_INTERFACE)
}

/// Asks for all disciplines: to ask for one tells everybody of it who subscribes to changes.
fn request() -> [u8; netlink::MESSAGE_HEADER + LENGTH] {
    let mut request = [0; netlink::MESSAGE_HEADER + LENGTH];
    let length = request.len() as u32;
    request[..4].copy_from_slice(&length.to_ne_bytes());
    request[4..6].copy_from_slice(&libc::RTM_GETQDISC.to_ne_bytes());
    request[6..8].copy_from_slice(&(NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
    request
}

fn kind_of_root(message: &[u8]) -> Option<String> {
    let (handle, parent) = (word(message, AT_HANDLE)?, word(message, AT_PARENT)?);
    let set = handle != 0 && parent == TC_H_ROOT;
    set.then(|| netlink::text(message.get(LENGTH..)?, TCA_KIND))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(handle: u32, parent: u32, kind: &str) -> Vec<u8> {
        let words = [0, 7, handle, parent, 1];
        let body: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        let datagram = netlink::message(libc::RTM_NEWQDISC, &body, &[(TCA_KIND, kind)]);
        datagram[netlink::MESSAGE_HEADER..].to_vec()
    }

    #[test]
    fn disciplines_that_hold_frames_are_those_with_a_handle_at_the_root() {
        let cases = [
            (0x5_0000, TC_H_ROOT, "htb", Some("htb")),
            (0, TC_H_ROOT, "noqueue", None),
            (0, TC_H_ROOT, "fq_codel", None),
            (0x10_0000, 0x5_0001, "netem", None),
            (0xFFFF_0000, 0xFFFF_FFF1, "clsact", None),
        ];
        for (handle, parent, kind, expected) in cases {
            let message = message(handle, parent, kind);
            assert_eq!(interface(&message), Some(7));
            assert_eq!(kind_of_root(&message).as_deref(), expected, "{kind}");
        }
    }

    #[test]
    fn a_cut_message_has_no_discipline() {
        let whole = message(0x5_0000, TC_H_ROOT, "htb");
        for length in 0..whole.len() - 4 {
            assert_eq!(kind_of_root(&whole[..length]), None);
        }
    }

    #[test]
    fn the_kernel_answers_for_interfaces_that_are_there_or_not() {
        let loopback = system::interface_index("lo").expect("every namespace has it");
        assert_eq!(set_by_somebody(loopback).expect("an answer"), None);
        assert_eq!(set_by_somebody(i32::MAX as u32).expect("an answer"), None);
    }
}
