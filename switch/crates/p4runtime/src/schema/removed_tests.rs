//! What p4c has in the p4info and has taken out of the artifact, for nothing uses it.

use super::tests::{
    ACTION, ENTRIES, EXACT, INSERT, MODIFY, STATE, TABLE, call, configure, entries, entry, node,
    of_type, preamble, write,
};
use crate::Code;
use crate::message::entity::{Action, ActionParam, TableAction, TableActionKind, TableEntry};
use crate::message::p4info::{self, ActionParam as DeclaredParam, ActionRef, P4Info};

/// A parameter that the artifact doesn't have, as p4c for P4_14 leaves those out that no statement reads.
#[test]
fn a_parameter_that_p4c_took_out_is_kept_for_clients() {
    let node = node(ENTRIES);
    let mut info = of_type(None, 16, EXACT);
    info.actions[0].params[0].bitwidth = 9;
    info.actions[0].params.push(DeclaredParam {
        id: 2,
        name: "unused".to_owned(),
        bitwidth: 8,
        type_name: None,
    });
    let configuration = configure(&info, &node).unwrap();
    let with = |unused: &[u8]| {
        let mut made = entry(&[0x12, 0x34], &[7]);
        if let Some(TableAction {
            kind: Some(TableActionKind::Action(action)),
        }) = &mut made.action
        {
            action.params.push(ActionParam {
                param_id: 2,
                value: unused.to_vec(),
            });
        }
        made
    };
    write(&configuration, &node, INSERT, &with(&[5])).unwrap();
    let (native, read) = entries(&configuration, &node);
    assert_eq!(native[0].params, [("port".to_owned(), vec![0, 7])]);
    assert_eq!(read, [with(&[5])]);
    for bad in [entry(&[1], &[7]), with(&[1, 0])] {
        let refusal = write(&configuration, &node, MODIFY, &bad).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidArgument);
    }

    // What the artifact has, the p4info must have.
    info.actions[0].params[0].name = "other".to_owned();
    let refusal = configure(&info, &node).err().unwrap();
    assert_eq!(
        refusal.message,
        "p4info and artifact do not agree: action EntriesIngress.mark of table EntriesIngress.metered is not in the \
         artifact, or has other parameters there"
    );
}

/// The loader makes an action of it, which only clients can tell.
#[test]
fn a_table_that_is_only_a_call_stays_known() {
    let node = node(STATE);
    let info = P4Info {
        tables: vec![p4info::Table {
            preamble: preamble(TABLE, "IngressControl.drop_copied"),
            action_refs: vec![ActionRef {
                id: ACTION,
                scope: 0,
            }],
            const_default_action_id: ACTION,
            ..p4info::Table::default()
        }],
        actions: vec![p4info::Action {
            preamble: preamble(ACTION, "drop"),
            params: Vec::new(),
        }],
        ..P4Info::default()
    };
    let configuration = configure(&info, &node).unwrap();
    let default = TableEntry {
        table_id: TABLE,
        is_default_action: true,
        action: Some(TableAction {
            kind: Some(TableActionKind::Action(Action {
                action_id: ACTION,
                params: Vec::new(),
            })),
        }),
        ..TableEntry::default()
    };
    assert_eq!(configuration.store().default_entry(TABLE), default);
    let refusal = write(&configuration, &node, MODIFY, &default).unwrap_err();
    assert_eq!(refusal.code, Code::PermissionDenied);
}

/// p4c leaves a table in the p4info that it has taken out of the program, for it did nothing there.
#[test]
fn a_table_that_p4c_took_out_stays_known() {
    let node = node(ENTRIES);
    let mut info = of_type(None, 16, EXACT);
    info.actions[0].params[0].bitwidth = 9;
    info.tables.push(p4info::Table {
        preamble: preamble(7, "EntriesIngress.gone"),
        action_refs: info.tables[0].action_refs.clone(),
        initial_default_action: match call(&[5]).unwrap().kind {
            Some(TableActionKind::Action(action)) => Some(action),
            _ => None,
        },
        ..p4info::Table::default()
    });
    let configuration = configure(&info, &node).unwrap();
    let default = |port: &[u8]| TableEntry {
        table_id: 7,
        is_default_action: true,
        action: call(port),
        ..TableEntry::default()
    };
    assert_eq!(configuration.store().default_entry(7), default(&[5]));
    write(&configuration, &node, MODIFY, &default(&[6])).unwrap();
    assert_eq!(configuration.store().default_entry(7), default(&[6]));
    let entry = TableEntry {
        is_default_action: false,
        ..default(&[6])
    };
    let refusal = write(&configuration, &node, INSERT, &entry).unwrap_err();
    assert_eq!(refusal.code, Code::InvalidArgument);

    // A key is something to look up, so a table with one is missed.
    info.tables[1].match_fields = info.tables[0].match_fields.clone();
    let refusal = configure(&info, &node).err().unwrap();
    assert_eq!(
        refusal.message,
        "p4info and artifact do not agree: table EntriesIngress.gone is not in the artifact"
    );
}
