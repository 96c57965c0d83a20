//! A network of nodes in virtual time.
//!
//! Everything that handles packets (switch, TCP host, host adapter) is a [`Node`]: it takes [`Frame`]s and timer ticks
//! together with a time, and gives frames with a time. A [`World`] joins nodes by wires and runs them as a
//! discrete-event simulation; a real-time runner can drive the very same nodes from a clock.
//!
//! In reading order:
//!
//! - [`node`]: [`Time`], [`Frame`], [`Node`], and [`Output`], through which a node sends;
//! - [`world`]: the event loop, the wires and their counters;
//! - [`losses`]: which frames a wire loses;
//! - [`error`]: the errors of both;
//! - [`pcap`]: the captures of taps;
//! - [`random`]: the seeded generator for everything that needs chance.
//!
//! The same nodes, wires and seeds give the same events in the same order: events are ordered by (time, sequence
//! number), and nothing here iterates over a hash map or reads a clock.

pub mod error;
pub mod losses;
pub mod node;
pub mod pcap;
pub mod random;
pub mod world;

pub use error::WorldError;
pub use node::{Frame, Node, Output, Port, Time, Transmission};
pub use world::{Ended, NodeId, PortCounters, WireConfig, World};
