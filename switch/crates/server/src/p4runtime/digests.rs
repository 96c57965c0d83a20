//! Digests: messages of the program, bundled into lists, sent once, and not again until acknowledged.
//!
//! Specification, "DigestEntry". Messages that clients have not enabled, or without a primary, are not sent.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use phb_p4runtime::{Code, DigestConfig};

use super::configuration::Loaded;
use super::message::{DigestList, DigestListAck};
use crate::authorization::{Result, refuse};

/// Messages of a list at most, even if the client would take more: they wait in memory.
const LIST: usize = 4096;
/// Messages remembered until they are acknowledged; beyond these the oldest are forgotten.
const UNACKNOWLEDGED: usize = 1 << 16;

/// A list that has been sent: time until which it counts as sent (ns), number, messages.
type Sent = (u64, u64, Vec<Bytes>);

/// One digest of the p4info: messages that wait, and lists that are not acknowledged yet.
#[derive(Default)]
struct Kind {
    waiting: Vec<Bytes>,
    is_waiting: BTreeSet<Bytes>,
    due_ns: u64,
    /// The list that a message was sent in.
    sent: HashMap<Bytes, u64>,
    /// Oldest first.
    lists: VecDeque<Sent>,
}

impl Kind {
    fn forget(&mut self, messages: &[Bytes], list: u64) {
        for message in messages {
            if self.sent.get(message) == Some(&list) {
                self.sent.remove(message);
            }
        }
    }

    fn expire(&mut self, now_ns: u64) {
        while let Some((until, ..)) = self.lists.front() {
            if *until > now_ns && self.sent.len() <= UNACKNOWLEDGED {
                return;
            }
            if let Some((_, list, messages)) = self.lists.pop_front() {
                self.forget(&messages, list);
            }
        }
    }
}

pub struct Digests {
    pub loaded: Arc<Loaded>,
    kinds: BTreeMap<String, Kind>,
    last_list: u64,
}

#[derive(Clone, Copy)]
pub struct Now {
    /// Of a monotonic clock.
    pub monotonic_ns: u64,
    /// Since 1970.
    pub wall_ns: i64,
}

impl Digests {
    pub fn new(loaded: Arc<Loaded>) -> Self {
        Self {
            loaded,
            kinds: BTreeMap::new(),
            last_list: 0,
        }
    }

    /// Takes messages of the program, by name; gives the lists that are due.
    pub fn add(
        &mut self,
        messages: impl IntoIterator<Item = (String, Vec<Vec<u8>>)>,
        now: Now,
    ) -> Vec<DigestList> {
        let mut lists = Vec::new();
        for (name, fields) in messages {
            let loaded = &self.loaded.configuration;
            let Some(config) = loaded.digest_config(&name) else {
                continue;
            };
            let Some(data) = loaded.digest_data(&name, fields).map(Bytes::from) else {
                continue;
            };
            let kind = self.kinds.entry(name).or_default();
            kind.expire(now.monotonic_ns);
            if kind.sent.contains_key(&data) || kind.is_waiting.contains(&data) {
                continue;
            }
            if kind.waiting.is_empty() {
                kind.due_ns = now.monotonic_ns.saturating_add(config.max_timeout_ns);
            }
            kind.is_waiting.insert(data.clone());
            kind.waiting.push(data);
            let most = match config.max_list_size {
                0 => LIST,
                size => size.min(LIST),
            };
            if kind.waiting.len() >= most || config.max_timeout_ns == 0 {
                lists.push(list(kind, &mut self.last_list, &config, now));
            }
        }
        lists
    }

    pub fn due(&mut self, now: Now) -> Vec<DigestList> {
        let mut lists = Vec::new();
        for (name, kind) in &mut self.kinds {
            if kind.waiting.is_empty() || kind.due_ns > now.monotonic_ns {
                continue;
            }
            match self.loaded.configuration.digest_config(name) {
                Some(config) => lists.push(list(kind, &mut self.last_list, &config, now)),
                None => {
                    // Disabled meanwhile.
                    kind.waiting.clear();
                    kind.is_waiting.clear();
                }
            }
        }
        lists
    }

    pub fn next_due_ns(&self) -> Option<u64> {
        let waiting = self.kinds.values().filter(|kind| !kind.waiting.is_empty());
        waiting.map(|kind| kind.due_ns).min()
    }

    pub fn acknowledge(&mut self, message: &DigestListAck) -> Result<()> {
        let configuration = &self.loaded.configuration;
        if !configuration.has_digest(message.digest_id) {
            return refuse(
                Code::InvalidArgument,
                format!("the p4info has no digest with id {}", message.digest_id),
            );
        }
        for (name, kind) in &mut self.kinds {
            let config = configuration.digest_config(name);
            if config.is_none_or(|config| config.id != message.digest_id) {
                continue;
            }
            let mut lists = kind.lists.iter();
            if let Some(place) = lists.position(|(_, list, _)| *list == message.list_id)
                && let Some((_, list, messages)) = kind.lists.remove(place)
            {
                kind.forget(&messages, list);
            }
        }
        Ok(())
    }
}

fn list(kind: &mut Kind, last_list: &mut u64, config: &DigestConfig, now: Now) -> DigestList {
    *last_list += 1;
    let messages = std::mem::take(&mut kind.waiting);
    kind.is_waiting.clear();
    if config.ack_timeout_ns > 0 {
        let numbers = messages.iter().map(|message| (message.clone(), *last_list));
        kind.sent.extend(numbers);
        let until = now.monotonic_ns.saturating_add(config.ack_timeout_ns);
        kind.lists.push_back((until, *last_list, messages.clone()));
        kind.expire(now.monotonic_ns);
    }
    DigestList {
        digest_id: config.id,
        list_id: *last_list,
        data: messages,
        timestamp: now.wall_ns,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use phb_node::{SwitchConfig, SwitchNode};
    use phb_p4runtime::{Role, WriteRequest};
    use prost::encoding::encode_varint;

    use super::super::configuration::Configurations;
    use super::super::message::{PipelineConfig, SetPipelineConfig};
    use super::*;
    use crate::config::Manners;

    /// The number of the digest that the program calls `learned_t`.
    const LEARNED: u32 = 7;
    const MILLISECOND: u64 = 1_000_000;

    fn number(field: u8, value: u64) -> Vec<u8> {
        let mut message = vec![field << 3];
        encode_varint(value, &mut message);
        message
    }

    fn within(field: u8, parts: &[Vec<u8>]) -> Vec<u8> {
        let inner = parts.concat();
        let mut message = vec![field << 3 | 2];
        encode_varint(inner.len() as u64, &mut message);
        message.extend(inner);
        message
    }

    /// A p4info with nothing but the digest: a tuple of a source and a port.
    fn p4info() -> Vec<u8> {
        let bits = |width: u64| within(1, &[within(1, &[within(1, &[number(1, width)])])]);
        let preamble = within(
            1,
            &[
                number(1, u64::from(LEARNED)),
                within(2, &[b"learned_t".to_vec()]),
            ],
        );
        let spec = within(2, &[within(3, &[bits(48), bits(9)])]);
        within(12, &[preamble, spec])
    }

    /// The digests of a program whose clients want lists of a size, within a time, and again if unacknowledged for a time.
    fn digests(wanted: Option<(u64, u64, u64)>) -> Digests {
        let config = SwitchConfig {
            name: "test".to_owned(),
            cpu_port: None,
            drop_port: 511,
            seed: 1,
            executor: phb_pipeline::Executor::default(),
        };
        let node = Arc::new(Mutex::new(SwitchNode::new(config, [])));
        let program = include_bytes!("../../../../python/tests/programs/features.json");
        let mut configurations = Configurations::new(node, Manners::Specification, BTreeMap::new());
        let request = SetPipelineConfig {
            action: 3,
            config: Some(PipelineConfig {
                p4info: Some(p4info().into()),
                p4_device_config: Bytes::from_static(program),
                cookie: None,
            }),
            ..SetPipelineConfig::default()
        };
        configurations.set(request).expect("the program is sound");
        let loaded = configurations.committed().expect("it is committed");
        if let Some((timeout_ms, size, ack_ms)) = wanted {
            let config = within(
                2,
                &[
                    number(1, timeout_ms * MILLISECOND),
                    number(2, size),
                    number(3, ack_ms * MILLISECOND),
                ],
            );
            let entry = within(12, &[number(1, u64::from(LEARNED)), config]);
            let request = within(4, &[number(1, 1), within(2, &[entry])]);
            let request = WriteRequest::decode(request.into()).expect("it is one");
            let role = Role {
                ids: None,
                replication: true,
            };
            let outcomes = loaded.configuration.write(&loaded.node(), &request, &role);
            let outcomes = outcomes.expect("there is such an atomicity");
            assert!(outcomes.iter().all(std::result::Result::is_ok));
        }
        Digests::new(Arc::clone(loaded))
    }

    fn at(milliseconds: u64) -> Now {
        Now {
            monotonic_ns: milliseconds * MILLISECOND,
            wall_ns: 5,
        }
    }

    fn message(source: u64) -> (String, Vec<Vec<u8>>) {
        let source = source.to_be_bytes()[2..].to_vec();
        ("learned_t".to_owned(), vec![source, vec![0, 0]])
    }

    fn messages<const N: usize>(sources: [u64; N]) -> Vec<(String, Vec<Vec<u8>>)> {
        sources.map(message).into()
    }

    fn data(made: &Digests, source: u64) -> Bytes {
        let (name, fields) = message(source);
        let data = made.loaded.configuration.digest_data(&name, fields);
        data.expect("the p4info has it").into()
    }

    fn acknowledged(list_id: u64) -> DigestListAck {
        DigestListAck {
            digest_id: LEARNED,
            list_id,
        }
    }

    #[test]
    fn nobody_has_asked() {
        let mut made = digests(None);
        assert!(made.add(messages([7]), at(0)).is_empty());
        assert!(made.due(at(1)).is_empty());
        assert_eq!(made.next_due_ns(), None);
    }

    #[test]
    fn lists_are_full_or_due() {
        let mut made = digests(Some((10, 2, 0)));
        let full = made.add(messages([1, 1, 2, 3]), at(0));
        assert_eq!(full.len(), 1);
        assert_eq!(
            (full[0].digest_id, full[0].list_id, full[0].timestamp),
            (LEARNED, 1, 5)
        );
        assert_eq!(full[0].data, [data(&made, 1), data(&made, 2)]);
        assert_eq!(made.next_due_ns(), Some(10 * MILLISECOND));
        assert!(made.due(at(9)).is_empty());
        let due = made.due(at(10));
        assert_eq!(due.len(), 1);
        assert_eq!((due[0].list_id, &due[0].data), (2, &vec![data(&made, 3)]));
        assert_eq!(made.next_due_ns(), None);
        // Without an acknowledge timeout nothing is remembered.
        let again = made.add(messages([1, 2]), at(10));
        assert_eq!(again[0].data, [data(&made, 1), data(&made, 2)]);
    }

    #[test]
    fn what_is_not_acknowledged_is_sent_again_later() {
        let mut made = digests(Some((0, 1, 100)));
        let first = made.add(messages([1]), at(0));
        assert_eq!(first.len(), 1);
        assert!(made.add(messages([1]), at(0)).is_empty());
        assert!(made.add(messages([1]), at(99)).is_empty());
        let again = made.add(messages([1]), at(100));
        assert_eq!(again.len(), 1);
        // The acknowledgement of the first list says nothing about the second.
        let mut acknowledge = |list: &DigestList| {
            let done = made.acknowledge(&acknowledged(list.list_id));
            done.expect("there is such a digest");
            made.add(messages([1]), at(100)).len()
        };
        assert_eq!(acknowledge(&first[0]), 0);
        assert_eq!(acknowledge(&again[0]), 1);
        let absent = DigestListAck {
            digest_id: 1,
            list_id: 1,
        };
        let refusal = made.acknowledge(&absent).expect_err("there is none");
        assert_eq!(refusal.message, "the p4info has no digest with id 1");
    }

    #[test]
    fn memory_is_bounded() {
        let mut made = digests(Some((1_000_000_000, 0, 1_000_000_000)));
        let lists = made.add((0..80_000).map(message), at(0));
        assert!(lists.iter().all(|list| list.data.len() == LIST));
        let kind = &made.kinds["learned_t"];
        assert!(kind.sent.len() <= UNACKNOWLEDGED);
        assert!(kind.sent.len() + kind.waiting.len() < 80_000);
        // The oldest are forgotten, the newest are not.
        assert!(!kind.sent.contains_key(&data(&made, 0)));
        assert!(kind.sent.contains_key(&data(&made, 75_000)));
        assert!(made.add(messages([0, 75_000]), at(0)).is_empty());
        let kind = &made.kinds["learned_t"];
        assert!(kind.is_waiting.contains(&data(&made, 0)));
        assert!(!kind.is_waiting.contains(&data(&made, 75_000)));
    }

    #[test]
    fn other_names_are_left_alone() {
        let mut made = digests(Some((0, 1, 0)));
        let other = ("of a program before".to_owned(), vec![vec![0]]);
        assert!(made.add([other], at(0)).is_empty());
    }
}
