//! Where frames come in and go out: network interfaces, files, memory.
//!
//! One trait, [`Port`], and one module per kind:
//!
//! - [`packet`]: a network interface, by a packet socket with the [`ring`]s that the kernel shares with us;
//! - [`tap`]: a TAP interface;
//! - [`file`](mod@file): capture files, replayed and written; [`pcap`] reads them;
//! - [`capture`]: any port, with its frames kept in capture files;
//! - [`memory`]: for tests.
//!
//! Shared parts: [`offload`] does the work that kernels leave to hardware, with [`segment`], [`checksum`] and [`tag`];
//! [`links`] tells of interfaces that come and go; [`counters`], [`wait`] and [`event`] are for the thread that runs ports.
//!
//! This crate alone may use `unsafe`, in one module, `system`: for memory shared with the kernel and for system calls.

pub mod capture;
pub mod checksum;
pub mod counters;
pub mod event;
pub mod file;
pub mod links;
pub mod memory;
pub mod offload;
pub mod packet;
pub mod pcap;
pub mod port;
mod process;
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
pub use port::{Clock, Port, PortError, Timestamp};
pub use process::{give_memory_back, yield_to_packets};
pub use tap::TapPort;
pub use wait::Waiter;
