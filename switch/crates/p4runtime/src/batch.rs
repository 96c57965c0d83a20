//! Outcomes of a batch as details of the call's status (specification, "Error Reporting Messages").

use prost::Message;

use crate::status::{Code, Outcome};

/// google.rpc.Code.UNKNOWN, the code of a batch with failures.
const UNKNOWN: i32 = 2;

/// Clients accept 8 KB of metadata by default, and there are other headers.
const COMFORTABLE_BYTES: usize = 7 << 10;

/// Beyond this there is only the message: clients refuse megabytes, which take much memory to send.
const MOST_BYTES: usize = 1 << 20;

/// google.rpc.Status.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Detail>,
}

/// google.protobuf.Any.
#[derive(Clone, PartialEq, Message)]
struct Detail {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// p4.v1.Error.
#[derive(Clone, PartialEq, Message)]
struct Error {
    #[prost(int32, tag = "1")]
    canonical_code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// The end of a batch with failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Number of failures and reason of the first, for clients that do not unpack details.
    pub message: String,
    /// A serialized google.rpc.Status: one p4.v1.Error for each member, in their order.
    pub status: Vec<u8>,
}

impl Failure {
    /// None, if nothing failed.
    #[must_use]
    pub fn of(outcomes: &[Outcome], operation: &str) -> Option<Self> {
        let failed = || {
            outcomes
                .iter()
                .enumerate()
                .filter_map(|(place, outcome)| Some((place, outcome.as_ref().err()?)))
        };
        let caused = || failed().find(|(_, refusal)| refusal.code != Code::Aborted);
        let (place, refusal) = caused().or_else(|| failed().next())?;
        let message = format!(
            "{operation}: {} of {} failed; number {place}: {}",
            failed().count(),
            outcomes.len(),
            refusal.message
        );
        // If a default client would not accept all, messages of untried updates are left out first.
        let mut status = serialized(outcomes, &message, |_| true);
        if status.len() > COMFORTABLE_BYTES {
            status = serialized(outcomes, &message, |code| code != Code::Aborted);
        }
        if status.len() > MOST_BYTES {
            status = serialized(&[], &message, |_| false);
        }
        Some(Self { message, status })
    }
}

fn serialized(outcomes: &[Outcome], message: &str, with_words: impl Fn(Code) -> bool) -> Vec<u8> {
    let details = outcomes.iter().map(|outcome| {
        let error = match outcome {
            Ok(()) => Error::default(),
            Err(refusal) => Error {
                canonical_code: refusal.code as i32,
                message: if with_words(refusal.code) {
                    refusal.message.clone()
                } else {
                    String::new()
                },
            },
        };
        Detail {
            type_url: "type.googleapis.com/p4.v1.Error".to_owned(),
            value: error.encode_to_vec(),
        }
    });
    let status = Status {
        code: UNKNOWN,
        message: message.to_owned(),
        details: details.collect(),
    };
    status.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Refusal;

    fn unpacked(failure: &Failure) -> Vec<(i32, String)> {
        let status = Status::decode(failure.status.as_slice()).unwrap();
        assert_eq!((status.code, &status.message), (UNKNOWN, &failure.message));
        let errors = status
            .details
            .iter()
            .map(|detail| Error::decode(detail.value.as_slice()));
        errors
            .map(|error| error.unwrap())
            .map(|error| (error.canonical_code, error.message))
            .collect()
    }

    #[test]
    fn a_batch_without_failure_has_none() {
        assert_eq!(Failure::of(&[Ok(()), Ok(())], "write"), None);
    }

    #[test]
    fn each_member_has_its_own() {
        let refusal = Refusal::new(Code::NotFound, "no such thing");
        let failure =
            Failure::of(&[Err(Refusal::aborted()), Err(refusal), Ok(())], "write").unwrap();
        assert_eq!(
            failure.message,
            "write: 2 of 3 failed; number 1: no such thing"
        );
        let words = Refusal::aborted().message;
        assert_eq!(
            unpacked(&failure),
            [
                (10, words),
                (5, "no such thing".to_owned()),
                (0, String::new())
            ]
        );
    }

    #[test]
    fn long_batches_keep_the_words_that_matter() {
        let mut outcomes = vec![Err(Refusal::aborted()); 100];
        outcomes.push(Err(Refusal::new(Code::NotFound, "no such thing")));
        let failure = Failure::of(&outcomes, "write").unwrap();
        let errors = unpacked(&failure);
        assert_eq!(errors.len(), 101);
        assert_eq!(errors[0], (10, String::new()));
        assert_eq!(errors[100], (5, "no such thing".to_owned()));
        assert!(failure.status.len() < COMFORTABLE_BYTES);
    }
}
