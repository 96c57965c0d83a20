//! Ports: network interfaces, files, memory.
//!
//! One trait, [`Port`], and one module per kind:
//!
//! - [`packet`]: a network interface, by a packet socket with [`ring`]s shared with the kernel, or
//!   through the interface's queueing discipline (`qdisc`, `held`);
//! - [`tap`]: a TAP interface;
//! - [`file`](mod@file): capture files, replayed and written; [`pcap`] reads them;
//! - [`capture`]: any port, with capture files;
//! - [`memory`]: for tests.
//!
//! [`offload`] does hardware's work, with [`segment`], [`checksum`] and [`tag`]; [`links`] reports
//! changes of interfaces by `netlink`; [`counters`], [`wait`], [`event`] serve a port's thread.
//!
//! Only this crate may use `unsafe`, in the module `system`: shared memory and system calls.

pub mod capture;
pub mod checksum;
pub mod counters;
pub mod event;
pub mod file;
mod held;
pub mod links;
pub mod memory;
mod netlink;
pub mod offload;
pub mod packet;
pub mod pcap;
pub mod port;
mod process;
mod qdisc;
pub mod ring;
pub mod segment;
mod system;
pub mod tag;
pub mod tap;
pub mod wait;

pub use capture::CapturedPort;
pub use counters::{Counters, Link, PortCounters};
pub use event::Event;
pub use file::FilePort;
pub use links::{LinkChange, Links, interface_index};
pub use memory::MemoryPort;
pub use packet::PacketPort;
pub use port::{Clock, Port, PortError, Room, Timestamp};
pub use process::{give_memory_back, run_in_real_time, yield_to_packets};
pub use tap::TapPort;
pub use wait::Waiter;
