//! What programs learn (digests), in bmv2's way: samples wait until there are enough of them or it is time, are sent
//! once, and not again until they are acknowledged.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use crate::limits;

/// A list of learned fields.
struct List {
    /// Samples that are sent together.
    most: usize,
    /// How long the first of them waits; for ever, if it is zero.
    timeout: Duration,
    waiting: Vec<Vec<u8>>,
    since: Instant,
    /// Samples that wait, or that nobody has acknowledged.
    known: HashSet<Vec<u8>>,
    sent: BTreeMap<u64, Vec<Vec<u8>>>,
    next: u64,
}

/// All lists by their numbers in the artifact.
#[derive(Default)]
pub struct Learning {
    lists: BTreeMap<i32, List>,
}

/// Samples of a list that are to be sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Buffer {
    pub list: i32,
    pub id: u64,
    pub samples: Vec<Vec<u8>>,
}

impl List {
    fn new(now: Instant) -> Self {
        Self {
            most: 1,
            timeout: Duration::from_secs(1),
            waiting: Vec::new(),
            since: now,
            known: HashSet::new(),
            sent: BTreeMap::new(),
            next: 0,
        }
    }

    fn due(&self) -> Option<Instant> {
        let waits = !self.waiting.is_empty() && !self.timeout.is_zero();
        waits.then(|| self.since + self.timeout)
    }

    fn is_due(&self, now: Instant) -> bool {
        let enough = !self.waiting.is_empty() && self.waiting.len() >= self.most;
        enough || self.due().is_some_and(|due| due <= now)
    }

    fn forget(&mut self, id: u64) {
        for sample in self.sent.remove(&id).unwrap_or_default() {
            self.known.remove(&sample);
        }
    }
}

impl Learning {
    fn list(&mut self, number: i32, now: Instant) -> &mut List {
        self.lists.entry(number).or_insert_with(|| List::new(now))
    }

    /// Takes a sample that the program has sent.
    pub fn learn(&mut self, number: i32, sample: Vec<u8>, now: Instant) {
        let list = self.list(number, now);
        // What nobody acknowledges is forgotten, the oldest first.
        while list.known.len() >= limits::SAMPLES
            && let Some(id) = list.sent.keys().next().copied()
        {
            list.forget(id);
        }
        if list.known.len() < limits::SAMPLES && list.known.insert(sample.clone()) {
            if list.waiting.is_empty() {
                list.since = now;
            }
            list.waiting.push(sample);
        }
    }

    /// Takes the buffers that are to be sent now.
    pub fn take(&mut self, now: Instant) -> Vec<Buffer> {
        let mut buffers = Vec::new();
        for (number, list) in &mut self.lists {
            while list.is_due(now) {
                let count = list.waiting.len().min(list.most.max(1));
                let samples: Vec<Vec<u8>> = list.waiting.drain(..count).collect();
                let id = list.next;
                list.next += 1;
                list.since = now;
                list.sent.insert(id, samples.clone());
                buffers.push(Buffer {
                    list: *number,
                    id,
                    samples,
                });
            }
        }
        buffers
    }

    /// When the next buffer is due, if any waits.
    pub fn due(&self) -> Option<Instant> {
        self.lists.values().filter_map(List::due).min()
    }

    /// Samples of a buffer may be sent again.
    pub fn acknowledge(&mut self, number: i32, id: u64, samples: &[usize], now: Instant) {
        let list = self.list(number, now);
        let Some(sent) = list.sent.get_mut(&id) else {
            return;
        };
        for place in samples {
            if let Some(sample) = sent.get(*place) {
                list.known.remove(sample);
            }
        }
        let known = &list.known;
        if sent.iter().all(|sample| !known.contains(sample)) {
            list.sent.remove(&id);
        }
    }

    /// All samples of a buffer may be sent again.
    pub fn acknowledge_all(&mut self, number: i32, id: u64, now: Instant) {
        self.list(number, now).forget(id);
    }

    pub fn set_timeout(&mut self, number: i32, timeout: Duration, now: Instant) {
        self.list(number, now).timeout = timeout;
    }

    pub fn set_size(&mut self, number: i32, most: usize, now: Instant) {
        self.list(number, now).most = most;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(buffers: &[Buffer]) -> Vec<(u64, Vec<Vec<u8>>)> {
        let each = |buffer: &Buffer| (buffer.id, buffer.samples.clone());
        buffers.iter().map(each).collect()
    }

    #[test]
    fn one_at_a_time_and_once() {
        let (mut learning, now) = (Learning::default(), Instant::now());
        for sample in [1, 2, 1] {
            learning.learn(7, vec![sample], now);
        }
        let taken = learning.take(now);
        assert_eq!(samples(&taken), [(0, vec![vec![1]]), (1, vec![vec![2]])]);
        learning.learn(7, vec![1], now);
        assert_eq!(learning.take(now), []);
        learning.acknowledge_all(7, 0, now);
        learning.learn(7, vec![1], now);
        learning.learn(7, vec![2], now);
        assert_eq!(samples(&learning.take(now)), [(2, vec![vec![1]])]);
        learning.acknowledge(7, 1, &[0, 9], now);
        learning.learn(7, vec![2], now);
        assert_eq!(samples(&learning.take(now)), [(3, vec![vec![2]])]);
    }

    #[test]
    fn enough_or_in_time() {
        let (mut learning, now) = (Learning::default(), Instant::now());
        learning.set_size(7, 3, now);
        learning.learn(7, vec![1], now);
        learning.learn(7, vec![2], now);
        assert_eq!(learning.take(now), []);
        let due = learning.due();
        assert_eq!(due, Some(now + Duration::from_secs(1)));
        assert_eq!(learning.take(now + Duration::from_secs(1)).len(), 1);
        learning.set_timeout(7, Duration::ZERO, now);
        learning.learn(7, vec![3], now);
        assert_eq!(learning.due(), None);
    }

    #[test]
    fn what_nobody_acknowledges_is_bounded() {
        let (mut learning, now) = (Learning::default(), Instant::now());
        for sample in 0..limits::SAMPLES as u32 + 10 {
            learning.learn(7, sample.to_be_bytes().to_vec(), now);
            let _ = learning.take(now);
        }
        assert_eq!(learning.lists[&7].known.len(), limits::SAMPLES);
    }
}
