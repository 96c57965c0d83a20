//! Where the repository's programs are.

use std::path::{Path, PathBuf};

/// The artifacts of all programs of the repository, in order.
pub fn artifacts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folders = [
        "switch/crates/pipeline/tests/programs",
        "switch/crates/node/tests/programs",
        "switch/programs/build",
        "switch/programs/older",
        "switch/programs/pna/build",
        "switch/programs/psa/build",
        "switch/python/tests/programs",
        "p4src/build",
    ];
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|file| file.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .filter(|path| path.file_stem().is_some_and(|stem| stem != "manifest"))
        .collect();
    paths.sort();
    paths
}
