//! `log_msg`: always counted, kept only while logging is enabled.

use std::collections::VecDeque;
use std::fmt::Write;

use crate::packet::Packet;
use crate::program::{LogMessage, Span};

/// Messages kept; then the oldest go.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) enabled: bool,
    pub(crate) count: u64,
    pub(crate) messages: VecDeque<String>,
}

impl Log {
    /// Notes a message. Only counts, and does not allocate, unless messages are asked for.
    pub(crate) fn note(&mut self, message: &LogMessage, packet: &Packet) {
        self.count += 1;
        if !self.enabled {
            return;
        }
        if self.messages.len() >= MOST {
            self.messages.pop_front();
        }
        let mut text = String::new();
        for (before, value) in &message.parts {
            text.push_str(before);
            push_number(&mut text, *value, packet);
        }
        text.push_str(&message.end);
        self.messages.push_back(text);
    }
}

/// Decimal up to 64 bits, hexadecimal beyond.
fn push_number(text: &mut String, value: Span, packet: &Packet) {
    let words = packet.wide(value.first.into(), value.words.into());
    // Writing to a string cannot fail.
    let _ = match words {
        [word] => write!(text, "{word}"),
        words => {
            text.push_str("0x");
            words
                .iter()
                .rev()
                .try_for_each(|word| write!(text, "{word:016x}"))
        }
    };
}
