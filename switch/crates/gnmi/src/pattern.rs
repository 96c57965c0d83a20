//! A path of a request, prepared to be compared with many leaves.

use crate::paths::{ANY, ANY_DEPTH, Element, Path, covers, covers_by};
use crate::schema::{LEAVES, Leaf};

/// A path with wildcards. Leaves with fitting names are found once; later only keys are compared.
pub(crate) struct Pattern {
    path: Path,
    by_leaf: Vec<bool>,
}

impl Pattern {
    pub(crate) fn new(path: Path) -> Self {
        let named = |leaf: &Leaf| {
            covers_by(
                &path,
                &leaf.names,
                |part| part.name == ANY_DEPTH,
                |part, name| part.name == ANY || part.name == *name,
            )
        };
        let by_leaf = LEAVES.iter().map(named).collect();
        Self { path, by_leaf }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn covers(&self, path: &[Element], leaf: &Leaf) -> bool {
        self.by_leaf[leaf.index] && covers(&self.path, path)
    }
}
