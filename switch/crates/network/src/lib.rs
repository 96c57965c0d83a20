//! A network of nodes in virtual time.
//!
//! Everything that handles packets (switch, TCP host, host adapter) is a [`Node`]: it takes
//! [`Frame`]s and timer ticks with a time, and gives frames with a time. A [`World`] joins nodes by
//! wires and runs a discrete-event simulation; a real-time runner can drive the same nodes.
//!
//! In reading order:
//!
//! - [`node`]: [`Time`], [`Frame`], [`Node`], and [`Output`], which collects sent frames;
//! - [`world`]: event loop, wires and their counters;
//! - [`following`]: packets from where they are sent to where they end, over all wires;
//! - `agenda`: future events in their order;
//! - [`losses`]: lost frames of a wire;
//! - [`error`]: errors of both;
//! - [`pcap`][]: captures;
//! - [`random`]: the seeded generator.
//!
//! The same nodes, wires and seeds give the same events in the same order: events are ordered by (time, sequence
//! number), and nothing here iterates over a hash map or reads a clock.

mod agenda;
pub mod error;
pub mod following;
pub mod losses;
pub mod node;
pub mod pcap;
pub mod random;
pub mod world;

pub use error::WorldError;
pub use following::{Following, Sighting, Way};
pub use node::{Frame, Node, Output, Port, Time, Transmission};
pub use world::{Ended, NodeId, PortCounters, WireConfig, World};
