//! The traffic manager: it sorts and paces, and knows no policy.
//!
//! A packet comes from the pipeline with a *rank*, its place in the order of transmission. What is left to do is the
//! same for every policy: keep packets in order of rank, and put them on the line no faster than its rate. A program
//! that knows no rank has a priority for each packet, and queues as simple_switch has them.
//!
//! ```text
//!            enqueue                 pop      (egress pipeline)     transmit                            depart
//! ingress ------------> Pifo -----------------------------------> token bucket -> ring -> line ---------> wire
//!                     by rank,                                       shaper,   first come,  byte-accurate
//!                  ties by arrival                                 if any     first served
//! ```
//!
//! - [`pifo`]: the queue (push-in, first-out);
//! - [`ranked`]: packets that wait for tokens of their class beside it;
//! - [`strict`]: the queues for packets without a rank;
//! - [`token_bucket`]: when a frame may start at a port that is shaped with a burst;
//! - [`shaper`]: when a transmission ends, exact over any interval;
//! - [`port`]: these, with the transmit ring between them, as one port's queue.

pub mod pifo;
pub mod port;
pub mod ranked;
pub mod shaper;
pub mod strict;
pub mod token_bucket;

pub use pifo::Pifo;
pub use port::{
    DEFAULT_BUFFER_PACKETS, DEFAULT_QUEUE_DEPTH, PortConfig, PortQueue, Queued, Refusal,
};
pub use ranked::{Place, Shaping};
pub use shaper::Shaper;
pub use strict::StrictQueues;
pub use token_bucket::{ShaperConfig, TokenBucket};
