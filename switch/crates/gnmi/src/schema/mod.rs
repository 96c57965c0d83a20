//! The part of the OpenConfig models that is here: leaves with module, type and place in the tree.

mod qos;
mod table;

use std::sync::LazyLock;

use crate::message::ModelData;
use crate::paths::Element;

pub(crate) use table::SPEEDS;

/// The type of a leaf, as encoding needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// One of a few words.
    Enumeration,
    Identity,
    Boolean,
    Int32,
    Uint8,
    /// A leaf-list, in ascending order.
    Uint8s,
    Uint32,
    Uint64,
    /// A number, or text where it is a range or has a name.
    NumberOrText,
}

impl Kind {
    /// Its values, for messages.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Text | Self::Enumeration => "a string",
            Self::Identity => "an identity",
            Self::Boolean => "true or false",
            Self::Int32 => "a number from -2147483648 to 2147483647",
            Self::Uint8 => "a number from 0 to 255",
            Self::Uint8s => "a list of numbers from 0 to 255",
            Self::NumberOrText => "a number or a string",
            Self::Uint32 => "a number from 0 to 4294967295",
            Self::Uint64 => "a number from 0 to 18446744073709551615",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Leaf {
    /// Its place in [`LEAVES`].
    pub index: usize,
    /// Names from the root, without keys.
    pub names: Vec<String>,
    pub kind: Kind,
    /// `JSON_IETF` names it where it differs from the container's.
    pub module: &'static str,
    pub writable: bool,
    pub is_counter: bool,
    pub identity_module: &'static str,
}

impl Leaf {
    pub(crate) fn name(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }
}

pub(crate) static LEAVES: LazyLock<Vec<Leaf>> = LazyLock::new(table::leaves);

/// A container, list or leaf.
pub(crate) struct Node {
    pub name: String,
    pub module: &'static str,
    pub key: Option<&'static str>,
    leaf: Option<usize>,
    children: Vec<Node>,
}

static ROOT: LazyLock<Node> = LazyLock::new(|| {
    let mut root = Node::new("", table::INTERFACES);
    for leaf in LEAVES.iter() {
        root.add(leaf);
    }
    for (path, key) in table::lists() {
        let mut names = path.split('/');
        let list = names.try_fold(&mut root, |node, name| node.child_mut(name));
        if let Some(list) = list {
            list.key = Some(key);
        }
    }
    root
});

impl Node {
    fn new(name: &str, module: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            module,
            key: None,
            leaf: None,
            children: Vec::new(),
        }
    }

    fn add(&mut self, leaf: &Leaf) {
        let mut node = self;
        for name in &leaf.names {
            let known = node.children.iter().position(|child| child.name == *name);
            let at = known.unwrap_or_else(|| {
                let module = container_module(name, node.module);
                node.children.push(Self::new(name, module));
                node.children.len() - 1
            });
            node = &mut node.children[at];
        }
        node.module = leaf.module;
        node.leaf = Some(leaf.index);
    }

    fn child_mut(&mut self, name: &str) -> Option<&mut Self> {
        self.children.iter_mut().find(|child| child.name == name)
    }

    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    pub(crate) fn leaf(&self) -> Option<&'static Leaf> {
        self.leaf.map(|index| &LEAVES[index])
    }
}

/// The module of a container, unless it is its parent's.
fn container_module(name: &str, parent: &'static str) -> &'static str {
    match name {
        "ethernet" => table::ETHERNET,
        "qos" => table::QOS,
        "program" => table::PROGRAM,
        "server" => table::SERVER,
        "controller" => table::CONTROLLER,
        _ => parent,
    }
}

pub(crate) fn root() -> &'static Node {
    &ROOT
}

/// The node at a path, without regard to keys.
pub(crate) fn find(path: &[Element]) -> Option<&'static Node> {
    path.iter()
        .try_fold(root(), |node, element| node.child(&element.name))
}

/// The leaf at a path, without regard to keys.
pub(crate) fn leaf(path: &[Element]) -> Option<&'static Leaf> {
    find(path)?.leaf()
}

/// Whether each list has its key, and nothing else has one.
pub(crate) fn has_all_keys(path: &[Element]) -> bool {
    let mut node = Some(root());
    path.iter().all(|element| {
        node = node.and_then(|node| node.child(&element.name));
        let given = element.keys.iter().map(|(name, _)| name.as_str());
        node.is_some_and(|node| given.eq(node.key))
    })
}

/// Whether a list's key is left out, which stands for all entries.
pub(crate) fn leaves_keys_out(path: &[Element]) -> bool {
    let mut node = Some(root());
    path.iter().any(|element| {
        node = node.and_then(|node| node.child(&element.name));
        element.keys.is_empty() && node.is_some_and(|node| node.key.is_some())
    })
}

pub(crate) fn has_model(name: &str) -> bool {
    table::MODELS.iter().any(|(known, _, _)| *known == name)
}

pub(crate) fn models() -> Vec<ModelData> {
    let models = table::MODELS.iter();
    models
        .map(|(name, organization, version)| ModelData {
            name: (*name).to_owned(),
            organization: (*organization).to_owned(),
            version: (*version).to_owned(),
        })
        .collect()
}
