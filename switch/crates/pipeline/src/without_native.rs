//! Stands in for native code where the crate is built without it.

use crate::program::Program;

/// No code can be made.
#[derive(Debug)]
pub(crate) enum Native {}

impl Native {
    pub(crate) fn compile(_: &Program, _: u16) -> Result<Self, String> {
        Err("this build has no native code".into())
    }

    pub(crate) fn code_bytes(&self) -> usize {
        match *self {}
    }
}
