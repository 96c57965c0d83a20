//! PI's messages of refusals, with bmv2's manners only: its clients compare them (p4-guide's PTF tests of idle timeouts).

use phb_p4runtime::{Code, Outcome};

/// Code, the end of our words, PI's words.
const WORDS: &[(Code, &str, &str)] = &[
    (
        Code::InvalidArgument,
        " does not support idle timeout",
        "idle_timeout_ns must be set to 0 for tables which do not support idle timeout",
    ),
    (
        Code::InvalidArgument,
        ": time_since_last_hit can not be written",
        "has_time_since_last_hit must not be set in WriteRequest",
    ),
    (
        Code::AlreadyExists,
        ": an entry with this match and priority exists",
        "Match entry exists, use MODIFY if you wish to change action",
    ),
    (
        Code::NotFound,
        ": no entry with this match and priority",
        "Cannot find match entry",
    ),
];

/// Says refusals as PI does, where it has words for them.
pub fn translate(outcomes: &mut [Outcome]) {
    for refusal in outcomes
        .iter_mut()
        .filter_map(|outcome| outcome.as_mut().err())
    {
        let fits = |(code, end, _): &&(Code, &str, &str)| {
            refusal.code == *code && refusal.message.ends_with(end)
        };
        if let Some((_, _, words)) = WORDS.iter().find(fits) {
            (*words).clone_into(&mut refusal.message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phb_p4runtime::Refusal;

    #[test]
    fn words_of_one_code_only() {
        let refusal = |code, message: &str| {
            Err(Refusal {
                code,
                message: message.to_owned(),
            })
        };
        let mut outcomes = [
            Ok(()),
            refusal(
                Code::InvalidArgument,
                "table t does not support idle timeout",
            ),
            refusal(Code::NotFound, "table t does not support idle timeout"),
        ];
        translate(&mut outcomes);
        let words: Vec<_> = outcomes
            .iter()
            .filter_map(|outcome| Some(outcome.as_ref().err()?.message.as_str()))
            .collect();
        assert_eq!(words[0], WORDS[0].2);
        assert_eq!(words[1], "table t does not support idle timeout");
    }
}
