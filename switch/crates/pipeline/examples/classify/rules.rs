//! Sets of rules: a policy as an operator writes one, a routing table, and what an adversary would write.

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// One of the values, each with its share of all.
    fn pick<T: Copy>(&mut self, of: &[(u64, T)]) -> T {
        let all: u64 = of.iter().map(|(share, _)| share).sum();
        let mut left = self.below(all);
        for &(share, value) in of {
            if left < share {
                return value;
            }
            left -= share;
        }
        of[0].1
    }
}

/// The tables of the program `classify`, by the number that chooses them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Policy,
    Ranges,
    Masks,
    Routes,
    Flows,
}

impl Table {
    pub fn name(self) -> &'static str {
        match self {
            Self::Policy => "ClassifyIngress.policy",
            Self::Ranges => "ClassifyIngress.ranges",
            Self::Masks => "ClassifyIngress.masks",
            Self::Routes => "ClassifyIngress.routes",
            Self::Flows => "ClassifyIngress.flows",
        }
    }

    /// For each field: ternary, range, lpm, exact, or no key.
    pub fn kinds(self) -> [char; 5] {
        match self {
            Self::Policy => ['t', 't', 'r', 'r', 't'],
            Self::Ranges => ['r'; 5],
            Self::Masks => ['t'; 5],
            Self::Routes => [' ', 'l', ' ', ' ', ' '],
            Self::Flows => ['e'; 5],
        }
    }

    pub fn has_priorities(self) -> bool {
        !matches!(self, Self::Routes | Self::Flows)
    }
}

pub const FIELDS: [(&str, u32); 5] = [
    ("source", 32),
    ("destination", 32),
    ("source_port", 16),
    ("destination_port", 16),
    ("protocol", 8),
];

fn full(field: usize) -> u64 {
    (1 << FIELDS[field].1) - 1
}

/// For each field value and mask, or the least and the greatest value.
#[derive(Clone)]
pub struct Rule {
    pub fields: [(u64, u64); 5],
}

impl Rule {
    fn open(table: Table) -> Self {
        let mut rule = Self {
            fields: [(0, 0); 5],
        };
        for (field, kind) in table.kinds().into_iter().enumerate() {
            if kind == 'r' {
                rule.fields[field] = (0, full(field));
            }
        }
        rule
    }

    /// Values within the rule.
    pub fn point(&self, table: Table, random: &mut Random) -> [u64; 5] {
        let mut values = anywhere(random);
        for (field, value) in values.iter_mut().enumerate() {
            let (first, second) = self.fields[field];
            *value = match table.kinds()[field] {
                'r' => first + random.below(second - first + 1),
                'e' => first,
                _ => first | (*value & !second),
            };
        }
        values
    }
}

pub fn anywhere(random: &mut Random) -> [u64; 5] {
    std::array::from_fn(|field| random.next() & full(field))
}

/// The prefix of `length` bits of an address.
fn prefix(address: u64, length: u32) -> (u64, u64) {
    let mask = full(0) & !(full(0) >> length);
    (address & mask, mask)
}

/// Rules as of a packet filter: prefixes out of some networks, most of them long or open; ports of services, the ports
/// above 1023, and any.
pub fn policy(count: usize, random: &mut Random) -> Vec<Rule> {
    let networks: Vec<u64> = (0..count / 20 + 4).map(|_| random.below(1 << 32)).collect();
    let address = |random: &mut Random, shares: &[(u64, u32)]| {
        let network = networks[random.below(networks.len() as u64) as usize];
        let host = random.below(1 << 16);
        prefix(network & !0xffff | host, random.pick(shares))
    };
    let service = [
        (30, 80),
        (20, 443),
        (10, 53),
        (10, 22),
        (5, 25),
        (5, 110),
        (5, 123),
        (5, 161),
    ];
    let mut rules = Vec::new();
    for _ in 0..count {
        let mut rule = Rule::open(Table::Policy);
        let source = [(30, 0), (5, 8), (10, 16), (20, 24), (5, 28), (30, 32)];
        let destination = [(8, 0), (4, 12), (8, 16), (30, 24), (10, 28), (40, 32)];
        rule.fields[0] = address(random, &source);
        rule.fields[1] = address(random, &destination);
        let protocol = random.pick(&[(60, Some(6)), (25, Some(17)), (5, Some(1)), (10, None)]);
        if let Some(protocol) = protocol {
            rule.fields[4] = (protocol, 0xff);
        }
        if matches!(protocol, Some(6 | 17)) {
            let mut ports = |shares: [u64; 4]| {
                let kinds = [0, 1, 2, 3].map(|kind| (shares[kind], kind));
                match random.pick(&kinds) {
                    0 => (0, 65_535),
                    1 => {
                        let port = random.pick(&service);
                        (port, port)
                    }
                    2 => (1024, 65_535),
                    _ => {
                        let low = random.below(60_000);
                        (low, low + random.below(2000))
                    }
                }
            };
            rule.fields[2] = ports([85, 2, 10, 3]);
            rule.fields[3] = ports([20, 60, 10, 10]);
        }
        rules.push(rule);
    }
    rules
}

/// Prefixes as long as those of the Internet's table, most of 24 bits, in blocks as they are given out.
pub fn routes(count: usize, random: &mut Random) -> Vec<Rule> {
    let lengths = [
        (1, 8),
        (1, 12),
        (2, 14),
        (4, 16),
        (3, 18),
        (5, 19),
        (8, 20),
        (8, 21),
        (12, 22),
        (12, 23),
        (60, 24),
        (1, 28),
        (1, 32),
    ];
    let mut seen = std::collections::HashSet::new();
    let mut rules = Vec::new();
    while rules.len() < count {
        // 1.0.0.0 to 223.255.255.255.
        let address = (1 << 24) + random.below(223 << 24);
        let length = random.pick(&lengths);
        let mut rule = Rule::open(Table::Routes);
        rule.fields[1] = prefix(address, length);
        if seen.insert(rule.fields[1]) {
            rules.push(rule);
        }
    }
    rules
}

/// Connections.
pub fn flows(count: usize, random: &mut Random) -> Vec<Rule> {
    let flow = |_| Rule {
        fields: std::array::from_fn(|field| (random.next() & full(field), full(field))),
    };
    (0..count).map(flow).collect()
}

type Make = fn(usize, &mut Random) -> Rule;

fn masked(mut mask: impl FnMut(usize, &mut Random) -> u64, random: &mut Random) -> Rule {
    Rule {
        fields: std::array::from_fn(|field| {
            let mask = mask(field, random) & full(field);
            (random.next() & mask, mask)
        }),
    }
}

/// `count` bits of all 104 fields' bits.
fn scattered(count: usize, random: &mut Random) -> Rule {
    let mut masks = [0u64; 5];
    for _ in 0..count {
        let mut bit = random.below(104) as u32;
        for (mask, (_, bits)) in masks.iter_mut().zip(FIELDS) {
            if bit < bits {
                *mask |= 1 << bit;
                break;
            }
            bit -= bits;
        }
    }
    masked(|field, _| masks[field], random)
}

fn between(share: u64, random: &mut Random) -> Rule {
    Rule {
        fields: std::array::from_fn(|field| {
            let width = full(field) / 100 * share;
            let low = random.below(full(field) - width + 1);
            (low, low + random.below(width + 1))
        }),
    }
}

/// Rules that trees, hashes or bit vectors do badly on.
pub const HOSTILE: [(&str, Table, Make); 13] = [
    (
        "ranges from anywhere to anywhere",
        Table::Ranges,
        |_, random| Rule {
            fields: std::array::from_fn(|field| {
                let (a, b) = (random.next() & full(field), random.next() & full(field));
                (a.min(b), a.max(b))
            }),
        },
    ),
    (
        "ranges of a third of each field",
        Table::Ranges,
        |_, random| between(33, random),
    ),
    ("ranges of any width", Table::Ranges, |_, random| {
        let share = 1 << random.below(7);
        between(share, random)
    }),
    (
        "ranges narrow in one field of five",
        Table::Ranges,
        |_, random| {
            let mut rule = Rule::open(Table::Ranges);
            let field = random.below(5) as usize;
            let low = random.below(full(field));
            rule.fields[field] = (low, (low + random.below(3)).min(full(field)));
            rule
        },
    ),
    (
        "ranges narrow in two fields of five",
        Table::Ranges,
        |_, random| {
            let mut rule = between(1, random);
            for _ in 0..3 {
                let field = random.below(5) as usize;
                rule.fields[field] = (0, full(field));
            }
            rule
        },
    ),
    ("masks of half of all bits", Table::Masks, |_, random| {
        masked(|_, random| random.next(), random)
    }),
    (
        "masks of a quarter of all bits",
        Table::Masks,
        |_, random| masked(|_, random| random.next() & random.next(), random),
    ),
    ("masks of sixteen bits", Table::Masks, |_, random| {
        scattered(16, random)
    }),
    ("masks of two bits", Table::Masks, |_, random| {
        scattered(2, random)
    }),
    (
        "prefixes nested in two fields",
        Table::Masks,
        |number, random| {
            // A chain of prefixes per field; of each pair of lengths one rule, for ten pairs of chains.
            let (chain, pair) = (number / 1000, number % 1000);
            let (first, second) = ((pair / 32) as u32, (pair % 32) as u32 + 1);
            let mut chains = Random::new(chain as u64);
            let mut rule = Rule::open(Table::Masks);
            rule.fields[0] = prefix(chains.next() & full(0), first + 1);
            rule.fields[1] = prefix(chains.next() & full(1), second);
            rule.fields[3] = (random.next() & 0xffff, 0xffff);
            rule
        },
    ),
    (
        "prefixes crossed in two fields",
        Table::Policy,
        |number, random| {
            let mut rule = Rule::open(Table::Policy);
            rule.fields[number % 2] = prefix(random.next() & full(0), 4 + random.below(29) as u32);
            rule.fields[3] = (0, 1 + random.below(65_535));
            rule
        },
    ),
    (
        "one address each, the rest open",
        Table::Policy,
        |_, random| {
            let mut rule = Rule::open(Table::Policy);
            rule.fields[1] = prefix(random.next() & full(0), 32);
            rule
        },
    ),
    (
        "equal but for scattered low bits",
        Table::Masks,
        |_, random| {
            let mask = 0x0000_5555;
            let mut rule = Rule::open(Table::Masks);
            rule.fields[0] = (0x0a00_0000 | (random.next() & mask), 0xff00_0000 | mask);
            rule.fields[1] = (random.next() & mask, mask);
            rule
        },
    ),
];
