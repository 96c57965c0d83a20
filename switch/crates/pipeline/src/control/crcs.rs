//! Custom CRCs, whose parameters the control plane may set.

use crate::error::{Code, Result, WriteError};
use crate::pipeline::Pipeline;
use crate::program::{Algorithm, Crc, CrcParameters};

/// Errors: `NotFound` for a calculation that is no custom CRC.
impl Pipeline {
    /// Width and parameters of a custom CRC; until they are set, those of the standard one.
    pub fn custom_crc(&self, calculation: &str) -> Result<(u32, CrcParameters)> {
        let (_, crc) = self.crc_of(calculation)?;
        Ok((crc.width(), crc.parameters()))
    }

    /// Sets the parameters of a custom CRC; their bits beyond its width don't count.
    pub fn set_custom_crc(&mut self, calculation: &str, parameters: CrcParameters) -> Result<()> {
        let (number, crc) = self.crc_of(calculation)?;
        self.program.calculations[number].algorithm = Algorithm::Crc(crc.with(parameters));
        if let Some(tracer) = &mut self.tracer {
            tracer.take_algorithms(&self.program);
        }
        Ok(())
    }

    fn crc_of(&self, calculation: &str) -> Result<(usize, Crc)> {
        let custom = self.program.custom_crcs.iter();
        let found = custom
            .filter(|(name, _)| name == calculation)
            .map(|(_, number)| *number as usize)
            .next();
        match found.map(|number| (number, self.program.calculations[number].algorithm)) {
            Some((number, Algorithm::Crc(crc))) => Ok((number, crc)),
            _ => Err(WriteError::new(
                Code::NotFound,
                format!("no custom CRC is called {calculation}"),
            )),
        }
    }
}
