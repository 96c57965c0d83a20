//! Words of a filter with their places.

use super::FilterError;

/// A word, or an operator: `and`, `or`, `not`, and parentheses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'a> {
    /// In characters from 0.
    pub(super) at: usize,
    pub(super) text: &'a str,
}

/// Where a filter stands in its text.
pub(super) struct Words<'a> {
    rest: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut words = Self { rest: text, at: 0 };
        words.skip();
        words
    }

    fn skip(&mut self) {
        let trimmed = self.rest.trim_start();
        self.at += self.rest.len() - trimmed.len();
        self.rest = trimmed;
    }

    /// The next word, which stays. At the end it is empty.
    pub(super) fn peek(&self) -> Word<'a> {
        let operators = ["(", ")", "!", "&&", "||"];
        let operator = operators.into_iter().find(|it| self.rest.starts_with(it));
        let is_end = |letter: char| letter.is_whitespace() || "()!&|".contains(letter);
        let length = match operator {
            Some(operator) => operator.len(),
            None => {
                let mut ends = self.rest.char_indices().skip(1);
                let end = ends.find(|(_, letter)| is_end(*letter));
                end.map_or(self.rest.len(), |(at, _)| at)
            }
        };
        Word {
            at: self.at,
            text: &self.rest[..length],
        }
    }

    pub(super) fn next(&mut self) -> Word<'a> {
        let word = self.peek();
        self.rest = &self.rest[word.text.len()..];
        self.at += word.text.len();
        self.skip();
        word
    }

    /// Takes the next word if it is one of these.
    pub(super) fn take(&mut self, wanted: &[&str]) -> bool {
        let is = wanted.contains(&self.peek().text);
        if is {
            self.next();
        }
        is
    }
}

impl Word<'_> {
    /// That something else was expected here.
    pub(super) fn instead_of(&self, expected: &str) -> FilterError {
        let found = match self.text {
            "" => "the end".to_owned(),
            text if text.len() > 60 => {
                format!("{:?}...", text.chars().take(40).collect::<String>())
            }
            text => format!("{text:?}"),
        };
        FilterError {
            at: self.at,
            message: format!("found {found}; expected {expected}"),
        }
    }
}
