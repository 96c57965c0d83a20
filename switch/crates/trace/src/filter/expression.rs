//! Conditions joined by and, or, not.

use super::FilterError;
use super::condition::Condition;

/// A formula. Of a text each condition has its place there, in characters from 0.
#[derive(Debug, Clone)]
pub(super) enum Expression<T> {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Is(T),
}

impl<T> Expression<T> {
    /// Whether it holds, where `holds` knows it of a condition.
    pub(super) fn holds(&self, holds: &impl Fn(&T) -> bool) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(holds)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(holds)),
            Self::Not(part) => !part.holds(holds),
            Self::Is(condition) => holds(condition),
        }
    }

    /// Whether one of its conditions is such.
    pub(super) fn any(&self, is: &impl Fn(&T) -> bool) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.any(is)),
            Self::Not(part) => part.any(is),
            Self::Is(condition) => is(condition),
        }
    }

    /// What is joined by `and` at the outside.
    pub(super) fn conjuncts(self) -> Vec<Self> {
        match self {
            Self::All(parts) => parts.into_iter().flat_map(Self::conjuncts).collect(),
            other => vec![other],
        }
    }
}

impl Expression<(usize, Condition)> {
    /// The same of conditions of one kind; of the first that is of another kind, the error.
    pub(super) fn only<T>(
        self,
        kind: &impl Fn(Condition) -> Result<T, &'static str>,
    ) -> Result<Expression<T>, FilterError> {
        let each = |parts: Vec<Self>| -> Result<Vec<_>, _> {
            parts.into_iter().map(|part| part.only(kind)).collect()
        };
        Ok(match self {
            Self::All(parts) => Expression::All(each(parts)?),
            Self::Any(parts) => Expression::Any(each(parts)?),
            Self::Not(part) => Expression::Not(Box::new(part.only(kind)?)),
            Self::Is((at, condition)) => {
                Expression::Is(kind(condition).map_err(|found| FilterError {
                    at,
                    message: format!("found {found}"),
                })?)
            }
        })
    }
}
