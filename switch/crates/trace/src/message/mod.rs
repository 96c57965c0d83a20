//! The messages of `trace.proto`. Tests write them as JSON, too, which is what lines of JSON have to be.
//!
//! They are written by hand, so that no compiler of protocols is needed; a test compares them with the file.

// What fields mean is said in `trace.proto`.
#![allow(missing_docs)]

/// Makes messages. Their fields that are zero, empty or false are left out in JSON.
macro_rules! messages {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident { $(
            #[prost($($prost:tt)*)]
            $(#[serde($($serde:tt)*)])?
            $field:ident: $kind:ty,
        )* }
    )*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, PartialEq, ::prost::Message)]
            #[cfg_attr(test, derive(::serde::Serialize))]
            pub struct $name { $(
                #[prost($($prost)*)]
                #[cfg_attr(test, serde(skip_serializing_if = "super::Absent::is_absent" $(, $($serde)*)?))]
                pub $field: $kind,
            )* }
        )*
        #[cfg(test)]
        pub(super) const MESSAGES: &[super::Described] = &[
            $((stringify!($name), &[$((stringify!($($prost)*), stringify!($field))),*])),*
        ];
    };
}

/// Makes the alternatives of a message.
macro_rules! oneof {
    (
        $(#[doc = $doc:literal])*
        $name:ident { $( #[prost($($prost:tt)*)] $variant:ident($kind:ty), )* }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, PartialEq, ::prost::Oneof)]
        #[cfg_attr(test, derive(::serde::Serialize), serde(rename_all = "snake_case"))]
        #[allow(clippy::large_enum_variant)] // boxes would only slow down what makes steps by the million
        pub enum $name { $(
            #[prost($($prost)*)]
            $variant($kind),
        )* }
        #[cfg(test)]
        pub(super) const ALTERNATIVES: super::Described = (
            stringify!($name),
            &[$((stringify!($($prost)*), stringify!($variant))),*],
        );
    };
}

#[cfg(test)]
mod absent;
#[cfg(test)]
mod hex;
mod program;
mod switch;
mod trace;
mod watch;

pub use program::{
    Assign, Call, Checksum, Condition, Counter, Emit, Entry, Extern, Extract, Field, Header, Match,
    Meter, ParserError, Register, Request, Select, State, Statement, Table,
};
pub use switch::{Ahead, Arrived, Copied, Departed, Dequeued, Dropped, Enqueued, Sending};
pub use trace::{Source, Step, Trace, What};
pub use watch::{Response, Started, WatchRequest, WatchResponse};

#[cfg(test)]
use absent::Absent;

/// A message's name, and each of its fields: how prost writes it, and its name.
#[cfg(test)]
type Described = (&'static str, &'static [(&'static str, &'static str)]);

#[cfg(test)]
mod tests;
