//! The native executor.

use crate::program::Program;

/// No code can be made.
#[derive(Debug)]
pub(crate) enum Native {}

impl Native {
    pub(crate) fn compile(_: &Program, _: u16) -> Result<Self, String> {
        Err("native code is not there yet".into())
    }

    pub(crate) fn code_bytes(&self) -> usize {
        match *self {}
    }
}
