//! The program in the form that is traced.

use std::sync::Arc;

use super::recorder::{Recorder, Scratch};
use crate::error::LoadError;
use crate::load;
use crate::program::{Algorithm, Dictionary, Program};
use crate::record::Record;

/// An artifact in the form that is traced: nothing is taken out, and each statement says that it
/// begins. It is loaded beside the program that forwards, and shares its entries and state.
#[derive(Debug)]
pub struct Tracer {
    program: Program,
    dictionary: Arc<Dictionary>,
    scratch: Scratch,
}

impl Tracer {
    /// Loads it. This takes as long as loading the program, without native code; any thread may do it.
    pub fn load(json: &str) -> Result<Self, LoadError> {
        let (program, dictionary) = load::load_traced(json)?;
        Ok(Self {
            program,
            dictionary: Arc::new(dictionary),
            scratch: Scratch::default(),
        })
    }

    /// The names of the program.
    #[must_use]
    pub fn dictionary(&self) -> &Arc<Dictionary> {
        &self.dictionary
    }

    /// The program, and what writes down how a packet passes it.
    pub(crate) fn recorder<'a>(
        &'a mut self,
        record: &'a mut Record,
    ) -> (&'a Program, Recorder<'a>) {
        let recorder = Recorder {
            record,
            names: &self.dictionary,
            scratch: &mut self.scratch,
        };
        (&self.program, recorder)
    }

    /// Takes over the algorithms of calculations, which the control plane may have changed.
    pub(crate) fn take_algorithms(&mut self, from: &Program) {
        let pairs = self.program.calculations.iter_mut().zip(&from.calculations);
        for (calculation, given) in pairs {
            if matches!(given.algorithm, Algorithm::Crc(_)) {
                calculation.algorithm = given.algorithm;
            }
        }
    }
}
