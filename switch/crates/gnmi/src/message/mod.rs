//! The parts of gNMI 0.10's messages (package gnmi) that are used here.
//!
//! Field numbers are the protocol's. Undeclared fields are skipped when read, and never written.
//! Enumerations are numbers, since clients may send any.

mod get;
mod path;
mod set;
mod subscribe;
mod value;

pub use get::{CapabilityRequest, CapabilityResponse, GetRequest, GetResponse, ModelData, data};
pub use path::{Path, PathElem};
pub use set::{SetRequest, SetResponse, UpdateResult, operation};
pub use subscribe::{
    Poll, SubscribeRequest, SubscribeResponse, Subscription, SubscriptionList, list_mode, mode,
    request, response,
};
pub use value::{Notification, ScalarArray, TypedValue, Unread, Update, encoding, typed_value};
