//! Messages of the program: digests, the texts of `log_msg`, and failed assertions.

use super::info::DigestList;
use crate::pipeline::Pipeline;
use crate::state::Digest;

impl Pipeline {
    /// Takes the messages of packets; `None` if there are none.
    pub fn take_digests(&mut self) -> Option<Vec<Digest>> {
        if self.state.digests.waiting.is_empty() {
            None
        } else {
            Some(std::mem::take(&mut self.state.digests.waiting))
        }
    }

    /// The number of messages lost because the queue was full.
    #[must_use]
    pub fn lost_digests(&self) -> u64 {
        self.state.digests.lost
    }

    /// The kinds of messages that the program sends.
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

    /// Whether messages of `log_msg` are kept for [`Pipeline::take_log`]; at first they only count.
    pub fn set_logging(&mut self, enabled: bool) {
        self.state.externs.log.enabled = enabled;
    }

    /// Takes the messages, at most the last 1024 of them.
    pub fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.state.externs.log.messages).into()
    }

    /// The number of messages logged, kept or not.
    #[must_use]
    pub fn logged(&self) -> u64 {
        self.state.externs.log.count
    }

    /// How many `assert` and `assume` statements did not hold since loading or [`Pipeline::clear`].
    #[must_use]
    pub fn failed_assertions(&self) -> u64 {
        self.state.externs.failed_assertions
    }
}
