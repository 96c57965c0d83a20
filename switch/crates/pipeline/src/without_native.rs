//! Stands in for native code where the crate is built without it.

use crate::machine::Machine;
use crate::packet::Packet;
use crate::path::QueueMetadata;
use crate::program::Program;
use crate::state::tables::Table;

/// No code can be made.
#[derive(Debug)]
pub(crate) enum Native {}

impl Native {
    pub(crate) fn compile(_: &Program, _: &[Table], _: u16) -> Result<Self, String> {
        Err("this build has no native code".into())
    }

    pub(crate) fn code_bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn long_calls(&self) -> usize {
        match *self {}
    }

    pub(crate) fn arrive(
        &self,
        _: &mut Machine<'_>,
        _: &mut [Table],
        _: &mut Packet,
        _: &[u8],
        _: u16,
    ) {
        match *self {}
    }

    pub(crate) fn process(&self, _: &mut Machine<'_>, _: &mut [Table], _: &mut Packet, _: &[u8]) {
        match *self {}
    }

    pub(crate) fn egress(
        &self,
        _: &mut Machine<'_>,
        _: &mut [Table],
        _: &mut Packet,
        _: &QueueMetadata,
    ) {
        match *self {}
    }

    pub(crate) fn deparse(&self, _: &mut Machine<'_>, _: &mut Packet, _: &mut Vec<u8>) {
        match *self {}
    }
}
