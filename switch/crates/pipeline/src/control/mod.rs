//! The control plane's side: everything by the names of the program. No packet calls it.

mod arrays;
mod crcs;
mod direct;
mod entry;
mod handles;
mod info;
mod messages;
mod profiles;
mod resolve;
mod tables;
mod value_sets;

pub use entry::{Entry, Group, GroupMember, Indirect, Match, Param, WeightedAction};
pub use handles::WithHandle;
pub use info::{ActionInfo, DigestList, KeyInfo, ProfileInfo, TableInfo, ValueSetInfo};
pub use profiles::Member;
