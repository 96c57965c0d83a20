//! The traffic manager: it sorts and paces, and knows no policy.
//!
//! A packet comes from the pipeline with a *rank*, its place in the order of transmission. What is left to do is the
//! same for every policy: keep packets in order of rank, and put them on the line no faster than its rate. A program
//! that knows no rank has a priority for each packet, and queues as simple_switch has them.
//!
//! ```text
//!            enqueue                 pop      (egress pipeline)     transmit                  depart
//! ingress ------------> Pifo ------------------------------------------------> ring -> line ---------> wire
//!                     by rank,                                               first come,  byte-accurate
//!                  ties by arrival                                           first served    shaper
//! ```
//!
//! - [`pifo`]: the queue (push-in, first-out);
//! - [`strict`]: the queues for packets without a rank;
//! - [`shaper`]: when a transmission ends, exact over any interval;
//! - [`port`]: these, with the transmit ring between them, as one port's queue.

pub mod pifo;
pub mod port;
pub mod shaper;
pub mod strict;

pub use pifo::Pifo;
pub use port::{
    DEFAULT_BUFFER_PACKETS, DEFAULT_QUEUE_DEPTH, PortConfig, PortQueue, Queued, Refusal,
};
pub use shaper::Shaper;
pub use strict::StrictQueues;
