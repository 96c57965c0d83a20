//! p4infos whose types clients have in another form than the program, and what p4c names differently in the p4info and
//! in the artifact.

use std::sync::Mutex;

use phb_node::{SwitchConfig, SwitchNode};
use phb_pipeline::{Executor, Options, Pipeline};
use prost::Message;

use crate::message::Any;
use crate::message::entity::{
    Action, ActionParam, DataKind, Entity, FieldMatch, FieldMatchKind, Kind, Members, OneValue,
    P4Data, TableAction, TableActionKind, TableEntry,
};
use crate::message::p4info::{
    self, ActionRef, BitstringKind, BitstringType, ControllerHeader, DataType, DataTypeKind,
    EnumMember, EnumType, ErrorType, HeaderField, MatchField, NamedType, NewType, P4Info, Preamble,
    Representation, Translated, TupleType, TypeInfo, Width,
};
use crate::message::request::{ControllerPacket, PacketMetadata, PacketResponse, Update};
use crate::role::Role;
use crate::status::{Outcome, Result};
use crate::{Code, Configuration, WriteRequest};

pub(super) const ENTRIES: &str = include_str!("../../../pipeline/tests/programs/entries.json");
const COPIES: &str = include_str!("../../../pipeline/tests/programs/copies.json");
pub(super) const STATE: &str = include_str!("../../../pipeline/tests/programs/state.json");

pub(super) const EXACT: i32 = 2;
pub(super) const TABLE: u32 = 1;
pub(super) const ACTION: u32 = 2;

pub(super) fn node(artifact: &str) -> Mutex<SwitchNode> {
    let config = SwitchConfig {
        name: "test".to_owned(),
        cpu_port: None,
        drop_port: 511,
        seed: 1,
        executor: Executor::default(),
    };
    let mut node = SwitchNode::new(config, []);
    node.install(Pipeline::load(artifact, Options::default()).expect("the artifact loads"));
    Mutex::new(node)
}

pub(super) fn configure(info: &P4Info, node: &Mutex<SwitchNode>) -> Result<Configuration> {
    let ports = [(7, "Ethernet7".to_owned())].into();
    Configuration::new(&info.encode_to_vec(), node, &ports)
}

pub(super) fn preamble(id: u32, name: &str) -> Option<Preamble> {
    Some(Preamble {
        id,
        name: name.to_owned(),
    })
}

fn named(name: &str) -> Option<NamedType> {
    Some(NamedType {
        name: name.to_owned(),
    })
}

/// Types called `narrow` and `wide`, which clients have in 5 and in 300 bits, and `text` and `port_t`, which are strings.
fn types() -> TypeInfo {
    let translated = |sdn_bitwidth| NewType {
        representation: Some(Representation::Translated(Translated {
            uri: "test".to_owned(),
            sdn_bitwidth,
        })),
    };
    let widths = [("narrow", 5), ("wide", 300), ("text", 0), ("port_t", 0)];
    TypeInfo {
        new_types: widths
            .map(|(name, bits)| (name.to_owned(), translated(bits)))
            .into(),
        ..TypeInfo::default()
    }
}

/// The table `metered` of `entries.p4`, whose key has 16 bits and whose action's parameter 9 in the program, with a type
/// for both.
pub(super) fn of_type(name: Option<&str>, bits: i32, kind: i32) -> P4Info {
    P4Info {
        tables: vec![p4info::Table {
            preamble: preamble(TABLE, "EntriesIngress.metered"),
            match_fields: vec![MatchField {
                id: 1,
                name: "hdr.key.port".to_owned(),
                bitwidth: bits,
                match_type: kind,
                type_name: name.and_then(named),
            }],
            action_refs: vec![ActionRef {
                id: ACTION,
                scope: 0,
            }],
            ..p4info::Table::default()
        }],
        actions: vec![p4info::Action {
            preamble: preamble(ACTION, "EntriesIngress.mark"),
            params: vec![p4info::ActionParam {
                id: 1,
                name: "port".to_owned(),
                bitwidth: bits,
                type_name: name.and_then(named),
            }],
        }],
        type_info: Some(types()),
        ..P4Info::default()
    }
}

pub(super) fn entry(key: &[u8], port: &[u8]) -> TableEntry {
    TableEntry {
        table_id: TABLE,
        matches: vec![FieldMatch {
            field_id: 1,
            kind: Some(FieldMatchKind::Exact(OneValue {
                value: key.to_vec(),
            })),
        }],
        action: call(port),
        ..TableEntry::default()
    }
}

pub(super) fn call(port: &[u8]) -> Option<TableAction> {
    Some(TableAction {
        kind: Some(TableActionKind::Action(Action {
            action_id: ACTION,
            params: vec![ActionParam {
                param_id: 1,
                value: port.to_vec(),
            }],
        })),
    })
}

/// A p4.v1.WriteRequest with nothing but its updates.
#[derive(Clone, PartialEq, Message)]
struct Batch {
    #[prost(message, repeated, tag = "4")]
    updates: Vec<Update>,
}

pub(super) fn write(
    configuration: &Configuration,
    node: &Mutex<SwitchNode>,
    kind: i32,
    entry: &TableEntry,
) -> Outcome {
    let updates = vec![Update {
        kind,
        entity: Some(Entity {
            kind: Some(Kind::Table(entry.clone())),
        }),
    }];
    let request = WriteRequest::decode(Batch { updates }.encode_to_vec().into())?;
    let outcomes = configuration.write(node, &request, &Role::default())?;
    outcomes.into_iter().next().expect("one outcome")
}

pub(super) const INSERT: i32 = 1;
pub(super) const MODIFY: i32 = 2;
const DELETE: i32 = 3;

/// The entries of the table on the switch, and as clients read them.
pub(super) fn entries(
    configuration: &Configuration,
    node: &Mutex<SwitchNode>,
) -> (Vec<phb_pipeline::Entry>, Vec<TableEntry>) {
    let node = node.lock().unwrap();
    let native = node.pipeline().unwrap();
    let native = native.table_entries("EntriesIngress.metered").unwrap();
    let known = configuration.store().entries(TABLE);
    let mut place = 0;
    let mut read = Vec::new();
    while let Some((serialized, next)) = known.from(place) {
        read.push(TableEntry::decode(serialized).unwrap());
        place = next;
    }
    (native, read)
}

/// Clients may be told another width; the switch has the program's.
#[test]
fn a_translated_number_is_the_programs() {
    for (name, bits) in [(Some("narrow"), 5), (Some("wide"), 300), (None, 0)] {
        let node = node(ENTRIES);
        let configuration = configure(&of_type(name, bits, EXACT), &node).unwrap();
        let given = entry(&[0x12, 0x34], &[1, 7]);
        write(&configuration, &node, INSERT, &given).unwrap();
        let (native, read) = entries(&configuration, &node);
        assert_eq!(native[0].params, [("port".to_owned(), vec![1, 7])]);
        assert_eq!(read, [given]);
        let refusal = write(&configuration, &node, INSERT, &entry(&[1, 0, 0], &[1])).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidArgument);
    }
    // A type that is not translated has the program's width.
    let refusal = configure(&of_type(None, 15, EXACT), &node(ENTRIES))
        .err()
        .unwrap();
    assert!(refusal.message.contains("p4info and artifact do not agree"));
}

/// As `of_type`, with strings for the key, or for the parameter.
fn with_strings(key: Option<&str>, param: Option<&str>) -> P4Info {
    let mut info = of_type(None, 16, EXACT);
    let key_field = &mut info.tables[0].match_fields[0];
    let param_field = &mut info.actions[0].params[0];
    param_field.bitwidth = 9;
    if let Some(name) = key {
        (key_field.bitwidth, key_field.type_name) = (0, named(name));
    }
    if let Some(name) = param {
        (param_field.bitwidth, param_field.type_name) = (0, named(name));
    }
    info
}

#[test]
fn strings_stand_for_numbers() {
    let node = node(ENTRIES);
    let info = with_strings(Some("text"), Some("port_t"));
    let configuration = configure(&info, &node).unwrap();
    let given = [
        (&b"vrf-red"[..], &b"Ethernet7"[..], [0xff, 0xff], 7),
        (b"", b"8", [0, 0], 8),
        (b"4660", b"0", [0x12, 0x34], 0),
        (b"04660", b"1", [0xff, 0xfe], 1),
    ];
    for (key, port, ..) in given {
        write(&configuration, &node, INSERT, &entry(key, port)).unwrap();
    }
    let (native, read) = entries(&configuration, &node);
    for (place, (key, port, native_key, native_port)) in given.into_iter().enumerate() {
        assert_eq!(read[place], entry(key, port));
        let found = native.iter().find(|each| {
            let phb_pipeline::Match::Exact(value) = &each.matches[0].1 else {
                panic!("{native:?}");
            };
            number_of(value) == number_of(&native_key)
        });
        assert_eq!(number_of(&found.unwrap().params[0].1), native_port);
    }
    let refusal = write(&configuration, &node, INSERT, &entry(b"x", b"eth0")).unwrap_err();
    assert_eq!(
        refusal.message,
        "action EntriesIngress.mark, parameter port: found \"eth0\", expected the number of a port in decimal digits, \
         or its interface's name"
    );
    let refusal = write(&configuration, &node, DELETE, &entry(b"vrf-blue", b"1")).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.message.as_str()),
        (
            Code::NotFound,
            "table EntriesIngress.metered, match field hdr.key.port: no entry has the string \"vrf-blue\""
        )
    );
}

fn number_of(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[test]
fn strings_of_deleted_entries_give_their_numbers_back() {
    let node = node(ENTRIES);
    let configuration = configure(&with_strings(None, Some("text")), &node).unwrap();
    let numbered = |number: u16| entry(&number.to_be_bytes(), format!("s{number}").as_bytes());
    for number in 1..=511 {
        write(&configuration, &node, INSERT, &numbered(number)).unwrap();
    }
    let full = write(&configuration, &node, INSERT, &numbered(512)).unwrap_err();
    assert_eq!(
        (full.code, full.message.as_str()),
        (
            Code::ResourceExhausted,
            "action EntriesIngress.mark, parameter port: each of the 511 numbers that are not zero stands for another string"
        )
    );
    for number in 100..200 {
        write(&configuration, &node, DELETE, &numbered(number)).unwrap();
    }
    for number in 512..612 {
        write(&configuration, &node, INSERT, &numbered(number)).unwrap();
    }
    let (native, _) = entries(&configuration, &node);
    let mut ports: Vec<u32> = native
        .iter()
        .map(|each| number_of(&each.params[0].1))
        .collect();
    ports.sort_unstable();
    assert!(ports.into_iter().eq(1..=511));
}

#[test]
fn strings_keep_their_numbers_when_the_program_is_reconciled() {
    let (old_node, new_node) = (node(ENTRIES), node(ENTRIES));
    let info = with_strings(None, Some("text"));
    let old = configure(&info, &old_node).unwrap();
    write(&old, &old_node, INSERT, &entry(&[1], b"gone")).unwrap();
    write(&old, &old_node, INSERT, &entry(&[2], b"kept")).unwrap();
    write(&old, &old_node, DELETE, &entry(&[1], b"gone")).unwrap();
    let new = configure(&info, &new_node).unwrap();
    new.carry_over(&new_node, &old, &old_node).unwrap();
    let (native, read) = entries(&new, &new_node);
    assert_eq!(number_of(&native[0].params[0].1), 510);
    assert_eq!(read, [entry(&[2], b"kept")]);
}

#[test]
fn a_string_is_matched_whole() {
    let node = node(ENTRIES);
    let ternary = configure(&of_type(Some("text"), 0, 4), &node)
        .err()
        .unwrap();
    assert_eq!(
        (ternary.code, ternary.message.as_str()),
        (
            Code::Unimplemented,
            "p4info: table EntriesIngress.metered, key hdr.key.port: a string can only be matched whole"
        )
    );
}

/// The header `request_t` of `state.p4`, some of whose fields clients have otherwise.
fn packets(names: [&str; 4]) -> P4Info {
    let forms = [
        (8, None),
        (300, Some("wide")),
        (5, Some("narrow")),
        (0, Some("text")),
    ];
    let fields = names.iter().zip(forms).zip(1..);
    let metadata = fields.map(|((name, (bitwidth, type_name)), id)| HeaderField {
        id,
        name: (*name).to_owned(),
        bitwidth,
        type_name: type_name.and_then(named),
    });
    let metadata: Vec<HeaderField> = metadata.collect();
    let header = |id, name| ControllerHeader {
        preamble: preamble(id, name),
        metadata: metadata.clone(),
    };
    P4Info {
        controller_packet_metadata: vec![header(1, "packet_in"), header(2, "packet_out")],
        type_info: Some(types()),
        ..P4Info::default()
    }
}

#[test]
fn packet_headers_have_the_programs_widths() {
    let node = node(STATE);
    let names = ["what", "index", "value", "rest"];
    let configuration = configure(&packets(names), &node).unwrap();
    let values: [&[u8]; 4] = [&[1], &[2, 3], &[4, 5], b"6"];
    let packet = ControllerPacket {
        payload: vec![9],
        metadata: values
            .iter()
            .zip(1..)
            .map(|(value, metadata_id)| PacketMetadata {
                metadata_id,
                value: value.to_vec(),
            })
            .collect(),
    };
    let frame = configuration.packet_out(&packet.encode_to_vec()).unwrap();
    // 8, 32, 100 and 4 bits, then the payload.
    let expected = [&[1, 0, 0, 2, 3][..], &[0; 10], &[0, 0x40, 0x56, 9]].concat();
    assert_eq!(frame, expected);
    let answer =
        PacketResponse::decode(&*configuration.packet_in(&frame).unwrap().response()).unwrap();
    assert_eq!(answer.packet, Some(packet));

    let absent = configure(&packets(["what", "index", "value", "last"]), &node);
    assert_eq!(
        absent.err().unwrap().message,
        "p4info and artifact do not agree: no header of the artifact has the fields of packet_in"
    );
}

fn number(bits: i32) -> DataType {
    DataType {
        kind: Some(DataTypeKind::Bitstring(BitstringType {
            kind: Some(BitstringKind::Bit(Width { bitwidth: bits })),
        })),
    }
}

fn digests(named: &[(&str, Vec<DataType>)], type_info: TypeInfo) -> P4Info {
    let digest = |((name, members), id): (&(&str, Vec<DataType>), u32)| p4info::Digest {
        preamble: preamble(id, name),
        type_spec: Some(DataType {
            kind: Some(DataTypeKind::Tuple(TupleType {
                members: members.clone(),
            })),
        }),
    };
    P4Info {
        digests: named.iter().zip((1..=9).rev()).map(digest).collect(),
        type_info: Some(type_info),
        ..P4Info::default()
    }
}

fn tuple(kinds: impl IntoIterator<Item = DataKind>) -> DataKind {
    let members = kinds.into_iter().map(|kind| P4Data { kind: Some(kind) });
    DataKind::Tuple(Members {
        members: members.collect(),
    })
}

#[test]
fn digests_of_tuples_go_by_their_fields() {
    let (first, third): (Vec<DataType>, Vec<DataType>) =
        (vec![number(48), number(9)], vec![number(16)]);
    let lists = program_widths();
    assert_eq!(lists.len(), 1);
    let own: Vec<DataType> = lists[0].iter().map(|bits| number(*bits as i32)).collect();
    let artifact = COPIES.replace("\"name\":\"message_t\"", "\"name\":\"tuple_0\"");
    let node = node(&artifact);
    let info = digests(&[("digest_0", own.clone())], TypeInfo::default());
    let configuration = configure(&info, &node).unwrap();
    let values = lists[0]
        .iter()
        .map(|bits| vec![0; bits.div_ceil(8) as usize]);
    let data = configuration
        .digest_data("tuple_0", values.collect())
        .unwrap();
    let zeros = own.iter().map(|_| DataKind::Bitstring(vec![0]));
    assert_eq!(P4Data::decode(&*data).unwrap().kind, Some(tuple(zeros)));
    assert_eq!(configuration.digest_data("digest_0", Vec::new()), None);
    for other in [first, third] {
        let info = digests(&[("digest_0", other)], TypeInfo::default());
        let refusal = configure(&info, &node).err().unwrap();
        assert!(
            refusal
                .message
                .contains("digest digest_0 is not in the artifact")
        );
    }
    // One list is not that of two digests.
    let info = digests(
        &[("digest_0", own.clone()), ("digest_1", own)],
        TypeInfo::default(),
    );
    let refusal = configure(&info, &node).err().unwrap();
    assert!(
        refusal
            .message
            .contains("digest digest_1 is not in the artifact")
    );
}

fn program_widths() -> Vec<Vec<u32>> {
    let node = node(COPIES);
    let node = node.lock().unwrap();
    let lists = node.pipeline().unwrap().digest_lists();
    lists
        .iter()
        .map(|list| list.fields.iter().map(|(_, bits)| *bits).collect())
        .collect()
}

#[test]
fn enums_errors_and_strings_in_digests() {
    let mut info = types();
    let members = ["IPv4", "Other"].map(|name| EnumMember {
        name: name.to_owned(),
    });
    let kind = EnumType {
        members: members.to_vec(),
    };
    info.enums.insert("kind".to_owned(), kind);
    info.error = Some(ErrorType {
        members: vec!["NoError".to_owned(), "PacketTooShort".to_owned()],
    });
    let of = |kind| DataType { kind: Some(kind) };
    let shape = vec![
        of(DataTypeKind::Enum(named("kind").unwrap())),
        of(DataTypeKind::Error(Any::default())),
        of(DataTypeKind::NewType(named("text").unwrap())),
    ];
    let node = node(&COPIES.replace("\"name\":\"message_t\"", "\"name\":\"tuple_0\""));
    let configuration = configure(&digests(&[("digest_0", shape)], info), &node).unwrap();
    let data = |values: [Vec<u8>; 3]| {
        let data = configuration
            .digest_data("tuple_0", values.to_vec())
            .unwrap();
        P4Data::decode(&*data).unwrap().kind.unwrap()
    };
    let expected = |kind: &str, error: &str, text: &str| {
        tuple([
            DataKind::Enum(kind.to_owned()),
            DataKind::Error(error.to_owned()),
            DataKind::Bitstring(text.as_bytes().to_vec()),
        ])
    };
    assert_eq!(
        data([vec![0, 1], vec![1], vec![1, 0]]),
        expected("Other", "PacketTooShort", "256")
    );
    assert_eq!(
        data([vec![0], vec![9], vec![0]]),
        expected("IPv4", "0x9", "0")
    );
}
