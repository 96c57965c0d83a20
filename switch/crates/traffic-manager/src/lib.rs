//! The traffic manager: it sorts and paces packets, and knows no policy.
//!
//! The pipeline gives each packet a *rank*, its place in the order of transmission. The traffic
//! manager keeps this order, and the line's rate. A program without ranks gives priorities instead,
//! for queues as simple_switch has them.
//!
//! ```text
//!            enqueue                 pop      (egress pipeline)     transmit                            depart
//! ingress ------------> Pifo -----------------------------------> token bucket -> ring -> line ---------> wire
//!                     by rank,                                       shaper,   first come,  byte-accurate
//!                  ties by arrival                                 if any     first served
//! ```
//!
//! - [`pifo`]: the queue (push-in, first-out);
//! - [`ranked`]: the queue, beside packets that wait for tokens of their class;
//! - [`strict`]: queues for packets without a rank;
//! - [`token_bucket`]: when a frame may start at a port shaped with a burst;
//! - [`shaper`]: when a transmission ends, exact over any interval;
//! - [`outlet`]: whether what is behind the line takes frames;
//! - [`config`]: how a port transmits;
//! - [`waiting`]: what is before a waiting packet;
//! - [`port`]: a port's queue, with a transmit ring between these.

pub mod config;
pub mod outlet;
pub mod pifo;
pub mod port;
pub mod ranked;
pub mod shaper;
pub mod strict;
pub mod token_bucket;
pub mod waiting;

pub use config::{DEFAULT_BUFFER_PACKETS, DEFAULT_QUEUE_DEPTH, PortConfig, QueueConfig};
pub use outlet::Outlet;
pub use pifo::Pifo;
pub use port::{PortQueue, Queued, Refusal};
pub use ranked::{Place, Shaping};
pub use shaper::Shaper;
pub use strict::StrictQueues;
pub use token_bucket::{ShaperConfig, TokenBucket};
pub use waiting::{Held, Turn};
