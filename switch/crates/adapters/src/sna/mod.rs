//! SNA on a LAN: stations ([`Stations`]) and the application that answers ([`SnaHost`]).

mod host;
mod stations;
mod statistics;

pub use host::{SnaHost, SnaHostConfig};
pub use stations::{Stations, StationsConfig};
pub use statistics::SnaStatistics;

#[cfg(test)]
mod tests;
