//! Write and Read requests as bytes from the network, for every committed program: an answer per update, nothing half
//! done, and everything that is there can be read.
//!
//! An input is the number of a p4info, what to do (even: read, odd: write), and the serialized request.
#![no_main]

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use libfuzzer_sys::fuzz_target;
use phb_node::SwitchNode;
use phb_p4runtime::{Configuration, ReadRequest, Role, WriteRequest};

/// A wildcard Read of tables, action profiles, replication and value sets: `entities` (field 2) that each hold one empty
/// entity of these field numbers of p4.v1.Entity. Arrays are left out: to read a million cells takes too long.
const EVERYTHING: [u8; 5] = [2, 3, 4, 9, 10];

/// Pieces of an answer that are looked at: a register of a million cells has too many.
const MOST_PIECES: usize = 64;

fuzz_target!(|data: &[u8]| {
    let [program, what, request @ ..] = data else {
        return;
    };
    let switches = switches();
    let (configuration, node) = &switches[usize::from(*program) % switches.len()];
    if what % 2 == 0 {
        if let Ok(request) = ReadRequest::decode(request.to_vec().into()) {
            read(configuration, node, request, MOST_PIECES);
        }
        return;
    }
    let Ok(request) = WriteRequest::decode(request.to_vec().into()) else {
        return;
    };
    let before = everything(configuration, node);
    let Ok(outcomes) = configuration.write(node, &request, &Role::default()) else {
        assert_eq!(
            everything(configuration, node),
            before,
            "a refused request left something behind"
        );
        return;
    };
    let after = everything(configuration, node);
    if outcomes.iter().all(Result::is_err) {
        assert_eq!(
            after, before,
            "refused updates left something behind: {outcomes:?}"
        );
    }
});

/// Every program with its p4info. They keep what was written from one input to the next: there is no sense in loading
/// them a thousand times a second, and tables that are not empty are what users have.
fn switches() -> &'static [(Configuration, Mutex<SwitchNode>)] {
    static SWITCHES: OnceLock<Vec<(Configuration, Mutex<SwitchNode>)>> = OnceLock::new();
    SWITCHES.get_or_init(|| {
        let programs = phb_fuzz::programs();
        let configured = |(info, json): (Vec<u8>, String)| {
            let node = Mutex::new(phb_fuzz::loaded(&json));
            let configuration = Configuration::new(&info, &node, &BTreeMap::new())
                .expect("a committed p4info fits its program");
            (configuration, node)
        };
        programs.into_iter().map(configured).collect()
    })
}

fn read(
    configuration: &Configuration,
    node: &Mutex<SwitchNode>,
    request: ReadRequest,
    most: usize,
) -> Vec<Vec<u8>> {
    let mut reader = configuration.read(&request, &Role::default());
    let pieces = std::iter::from_fn(|| reader.next_piece(node));
    pieces.take(most).collect()
}

fn everything(configuration: &Configuration, node: &Mutex<SwitchNode>) -> Vec<Vec<u8>> {
    let request: Vec<u8> = EVERYTHING
        .iter()
        .flat_map(|field| [0x12, 2, field << 3 | 2, 0])
        .collect();
    let request = ReadRequest::decode(request.into()).expect("a request made here can be read");
    let mut pieces = read(configuration, node, request, usize::MAX);
    pieces.sort();
    pieces
}
