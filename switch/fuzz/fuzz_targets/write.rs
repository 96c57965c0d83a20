//! Batches from the control plane, right and wrong, with packets between them: a refused atomic batch changes nothing,
//! and what was written is what is read, with native code as in the interpreter.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use phb_fuzz::Twins;
use phb_node::SwitchNode;
use phb_pipeline::{Count, Entry, Param, TableInfo};

fuzz_target!(|data: &[u8]| {
    let _ = phb_fuzz::with_any_switch(&mut Unstructured::new(data), run);
});

fn run(twins: &mut Twins, bytes: &mut Unstructured<'_>) -> Result<()> {
    let mut now = 0;
    while !bytes.is_empty() {
        let atomic = bytes.arbitrary()?;
        let mut batch = Vec::new();
        for _ in 0..bytes.int_in_range(0..=8)? {
            batch.push(phb_fuzz::update(twins.reference(), bytes)?);
        }
        let before = state(twins.reference());
        let outcomes = twins.write(&batch, atomic);
        assert_eq!(outcomes.len(), batch.len());
        if atomic && outcomes.iter().any(Result::is_err) {
            assert!(
                outcomes.iter().all(Result::is_err),
                "half of an atomic batch was applied"
            );
            assert_eq!(
                state(twins.reference()),
                before,
                "a refused atomic batch left something behind"
            );
        }
        twins.send(bytes, &mut now)?;
    }
    Ok(())
}

/// The content of a table: its entries in the order of their keys, and its default action.
#[derive(Debug, PartialEq)]
struct Table {
    name: String,
    entries: Vec<Entry>,
    default: Option<(String, Vec<Param>)>,
}

fn state(switch: &SwitchNode) -> (Vec<Table>, Vec<Vec<Count>>) {
    let pipeline = switch.pipeline().expect("a program is loaded");
    let table = |table: TableInfo| {
        let mut entries = pipeline
            .table_entries(&table.name)
            .expect("the table is there");
        entries.sort_by_key(|entry| format!("{:?} {}", entry.matches, entry.priority));
        let default = pipeline
            .default_action(&table.name)
            .expect("the table is there");
        Table {
            name: table.name,
            entries,
            default,
        }
    };
    let counter = |(name, _): (String, usize)| {
        pipeline
            .counter_read_all(&name)
            .expect("the counter is there")
            .to_vec()
    };
    (
        pipeline.tables().into_iter().map(table).collect(),
        pipeline.counters().into_iter().map(counter).collect(),
    )
}
