//! The traffic manager: it sorts and paces, and knows no policy.
//!
//! A packet comes from the pipeline with a *rank*, its place in the order of transmission. What is left to do is the
//! same for every policy: keep packets in order of rank, and put them on the line no faster than its rate.
//!
//! ```text
//!            enqueue                 pop      (egress pipeline)     transmit                  depart
//! ingress ------------> Pifo ------------------------------------------------> ring -> line ---------> wire
//!                     by rank,                                               first come,  byte-accurate
//!                  ties by arrival                                           first served    shaper
//! ```
//!
//! - [`pifo`]: the queue (push-in, first-out);
//! - [`shaper`]: when a transmission ends, exact over any interval;
//! - [`port`]: both, with the transmit ring between them, as one port's queue.

pub mod pifo;
pub mod port;
pub mod shaper;

pub use pifo::Pifo;
pub use port::{PortConfig, PortQueue, Queued};
pub use shaper::Shaper;
