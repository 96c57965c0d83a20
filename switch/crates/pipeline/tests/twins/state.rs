//! The state of a program that its control plane can read.

use phb_pipeline::Pipeline;

/// Arrays and tables of more than this are compared only if all is asked for.
const FEW: usize = 64;

/// Compares the state of one program in two pipelines.
pub fn compare(native: &Pipeline, reference: &Pipeline, all: bool) {
    for (name, size) in reference.counters() {
        if all || size <= FEW {
            let cells = |pipeline| Pipeline::counter_read_all(pipeline, &name);
            assert_eq!(cells(native), cells(reference), "counter {name}");
        }
    }
    for (name, size, _) in reference.registers() {
        if all || size <= FEW {
            let cells = |pipeline| Pipeline::register_words(pipeline, &name);
            assert_eq!(cells(native), cells(reference), "register {name}");
        }
    }
    for table in reference.tables() {
        let per_entry =
            table.direct_counter.is_some() || table.direct_meter.is_some() || table.idle_timeouts;
        if !all && !per_entry {
            continue;
        }
        let entries = reference.table_entries(&table.name).unwrap();
        assert_eq!(
            native.table_entries(&table.name).unwrap(),
            entries,
            "table {}",
            table.name
        );
        for entry in entries.iter().filter(|_| per_entry) {
            let seen = |pipeline: &Pipeline| {
                let count = pipeline.direct_counter_read(&table.name, Some(entry));
                (count, pipeline.last_hit(&table.name, entry))
            };
            assert_eq!(seen(native), seen(reference), "{} {entry:?}", table.name);
        }
        let missed = |pipeline: &Pipeline| {
            let counts = pipeline.direct_meter_counts(&table.name, None);
            (pipeline.direct_counter_read(&table.name, None), counts)
        };
        assert_eq!(missed(native), missed(reference), "{}", table.name);
    }
}
