//! Messages of the program: digests, the texts of `log_msg`, and failed assertions.

use super::info::DigestList;
use crate::pipeline::Pipeline;
use crate::state::Digest;

impl Pipeline {
    /// The messages packets have sent since last asked; `None` if there are none.
    pub fn take_digests(&mut self) -> Option<Vec<Digest>> {
        if self.state.digests.waiting.is_empty() {
            None
        } else {
            Some(std::mem::take(&mut self.state.digests.waiting))
        }
    }

    /// The number of messages that were lost because the queue was full.
    #[must_use]
    pub fn lost_digests(&self) -> u64 {
        self.state.digests.lost
    }

    /// The kinds of messages the program sends.
    #[must_use]
    pub fn digest_lists(&self) -> Vec<DigestList> {
        let lists = self.program.digests.iter();
        lists
            .map(|list| DigestList {
                name: list.name.clone(),
                id: list.id,
                fields: list
                    .fields
                    .iter()
                    .map(|(name, _, bits)| (name.clone(), *bits))
                    .collect(),
            })
            .collect()
    }

    /// Whether the messages of `log_msg` are kept for [`Pipeline::take_log`]; at first they are only counted.
    pub fn set_logging(&mut self, enabled: bool) {
        self.state.externs.log.enabled = enabled;
    }

    /// The messages since last asked, at most the last 1024 of them.
    pub fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.state.externs.log.messages).into()
    }

    /// How many messages the program has logged, kept or not.
    #[must_use]
    pub fn logged(&self) -> u64 {
        self.state.externs.log.count
    }

    /// `assert` and `assume` statements of the program that did not hold, since it was loaded or cleared.
    #[must_use]
    pub fn failed_assertions(&self) -> u64 {
        self.state.externs.failed_assertions
    }
}
