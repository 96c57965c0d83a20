//! Rights: roles and devices by client certificate, and rights by role.
//!
//! P4Runtime trusts a client to name its role and that role's rights. With client certificates the
//! server need not: certificates are bound to roles, and roles to rights.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use phb_p4runtime::{Code, Refusal};

use crate::config::{Authorization, Binding, Object, RoleRights};
use crate::connections::Peer;

pub type Result<T> = std::result::Result<T, Refusal>;

pub fn refuse<T>(code: Code, message: impl Into<String>) -> Result<T> {
    Err(Refusal {
        code,
        message: message.into(),
    })
}

fn denied<T>(message: impl Into<String>) -> Result<T> {
    refuse(Code::PermissionDenied, message)
}

pub struct Bindings {
    by_name: BTreeMap<String, Vec<Binding>>,
    roles: BTreeMap<String, RoleRights>,
}

impl Bindings {
    pub fn new(authorization: Authorization) -> Self {
        let mut by_name: BTreeMap<String, Vec<Binding>> = BTreeMap::new();
        for binding in authorization.clients {
            let of_name = by_name.entry(binding.name.clone()).or_default();
            of_name.push(binding);
        }
        let roles = authorization.roles.into_iter();
        Self {
            by_name,
            roles: roles.map(|role| (role.name.clone(), role)).collect(),
        }
    }
}

#[derive(Clone)]
pub struct Permit {
    who: String,
    may: May,
}

#[derive(Clone)]
enum May {
    Everything,
    /// Read only, without a name.
    Reading,
    Bound(Vec<Binding>, Arc<Bindings>),
}

impl Permit {
    /// One whose certificate has no binding has no rights.
    pub fn of(peer: &Peer, bindings: Option<&Arc<Bindings>>) -> Self {
        let who = match peer {
            Peer::Certificate { names, .. } => match names.first() {
                Some(name) => format!("the certificate of '{name}'"),
                None => "a certificate without a name".to_owned(),
            },
            _ => "a client without certificate".to_owned(),
        };
        let may = match (peer, bindings) {
            (Peer::Anonymous(_), _) => May::Reading,
            (Peer::Local, _) | (_, None) => May::Everything,
            (Peer::Clear(_), Some(all)) => May::Bound(Vec::new(), Arc::clone(all)),
            (Peer::Certificate { names, .. }, Some(all)) => {
                let bound = names.iter().filter_map(|name| all.by_name.get(name));
                May::Bound(bound.flatten().cloned().collect(), Arc::clone(all))
            }
        };
        Self { who, may }
    }

    /// Checks a request: its device, its role if that matters, whether it writes or wants primary.
    pub fn require(&self, device: u64, role: Option<&str>, write: bool) -> Result<()> {
        let who = &self.who;
        let bindings = match &self.may {
            May::Everything => return Ok(()),
            May::Reading if write => return denied(format!("{who} may only read here")),
            May::Reading => return Ok(()),
            May::Bound(bindings, _) => bindings,
        };
        if bindings.is_empty() {
            return denied(format!("{who} is not bound to anything here"));
        }
        let fits = |binding: &&Binding| {
            let devices = binding.devices.as_ref();
            devices.is_none_or(|all| all.contains(&device))
        };
        let mut left: Vec<&Binding> = bindings.iter().filter(fits).collect();
        if left.is_empty() {
            return denied(format!("{who} is not bound to device {device}"));
        }
        if let Some(role) = role {
            left.retain(|binding| binding.roles.as_ref().is_none_or(|all| all.contains(role)));
            if left.is_empty() {
                return denied(format!("{who} is not bound to role '{role}'"));
            }
        }
        if write && left.iter().all(|binding| binding.read_only) {
            return denied(format!("{who} is bound for reading only"));
        }
        Ok(())
    }

    /// The client in words.
    pub fn who(&self) -> &str {
        &self.who
    }

    /// Checks that a client may see packets of a device: one that reads without a name may not.
    pub fn require_packets(&self, device: u64) -> Result<()> {
        if matches!(self.may, May::Reading) {
            let who = &self.who;
            return denied(format!("{who} may not see packets here"));
        }
        self.require(device, None, false)
    }

    /// The rights that the switch grants a role; None: those that its clients claim. With bound
    /// certificates, a role without a description only has the objects of its `role.config`.
    pub fn rights(&self, role: &str) -> Option<RoleRights> {
        let May::Bound(_, bindings) = &self.may else {
            return None;
        };
        if role.is_empty() {
            return None;
        }
        let described = bindings.roles.get(role).cloned();
        Some(described.unwrap_or_else(|| RoleRights {
            name: role.to_owned(),
            packet_in: true,
            ..RoleRights::default()
        }))
    }

    /// Whether the switch describes a role, so its clients need not claim objects.
    pub fn describes(&self, role: &str) -> bool {
        matches!(&self.may, May::Bound(_, bindings) if bindings.roles.contains_key(role))
    }

    /// Checks a gNMI Set: it takes the default role, which may do all, or a role with all paths.
    pub fn require_set(&self, device: u64, paths: &[String]) -> Result<()> {
        let refusal = match self.require(device, Some(""), true) {
            Ok(()) => return Ok(()),
            Err(refusal) => refusal,
        };
        let May::Bound(_, bindings) = &self.may else {
            return Err(refusal);
        };
        for (name, rights) in &bindings.roles {
            if self.require(device, Some(name), true).is_ok()
                && !paths.is_empty()
                && paths
                    .iter()
                    .all(|path| rights.gnmi.iter().any(|top| is_below(path, top)))
            {
                return Ok(());
            }
        }
        Err(refusal)
    }
}

/// Whether a path is the other one or below it.
fn is_below(path: &str, top: &str) -> bool {
    let top = top.trim_end_matches('/');
    let rest = path.strip_prefix(top);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
}

/// The ids of objects; names are looked up by `named`.
pub fn ids_of(objects: &[Object], named: impl Fn(&str) -> BTreeSet<u32>) -> BTreeSet<u32> {
    let ids = objects.iter().map(|object| match object {
        Object::Id(id) => BTreeSet::from([*id]),
        Object::Name(name) => named(name),
    });
    ids.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bindings() -> Arc<Bindings> {
        let routing = RoleRights {
            name: "routing".to_owned(),
            gnmi: vec!["/qos".to_owned()],
            ..RoleRights::default()
        };
        let router = Binding {
            name: "router".to_owned(),
            roles: Some(["routing".to_owned()].into()),
            devices: Some([7].into()),
            read_only: false,
        };
        let monitor = Binding {
            name: "monitor".to_owned(),
            read_only: true,
            ..Binding::default()
        };
        Arc::new(Bindings::new(Authorization {
            clients: vec![router, monitor],
            roles: vec![routing],
        }))
    }

    fn permit(name: &str) -> Permit {
        let peer = Peer::Certificate {
            names: vec![name.to_owned()],
            address: None,
        };
        Permit::of(&peer, Some(&bindings()))
    }

    #[test]
    fn a_binding_says_device_role_and_writing() {
        let words = |result: Result<()>| result.err().map_or(String::new(), |no| no.message);
        let router = permit("router");
        assert_eq!(words(router.require(7, Some("routing"), true)), "");
        assert_eq!(
            words(router.require(7, Some("acl"), false)),
            "the certificate of 'router' is not bound to role 'acl'"
        );
        assert_eq!(
            words(router.require(8, None, false)),
            "the certificate of 'router' is not bound to device 8"
        );
        assert_eq!(
            words(permit("monitor").require(1, Some(""), true)),
            "the certificate of 'monitor' is bound for reading only"
        );
        assert_eq!(
            words(permit("stranger").require(7, None, false)),
            "the certificate of 'stranger' is not bound to anything here"
        );
    }

    #[test]
    fn a_role_sets_its_paths_only() {
        let router = permit("router");
        let set = |path: &str| router.require_set(7, &[path.to_owned()]);
        assert!(set("/qos/scheduler-policies").is_ok());
        assert!(set("/qos").is_ok());
        assert!(set("/qoss").is_err());
        assert!(set("/interfaces").is_err());
        assert!(router.require_set(7, &[]).is_err());
        assert!(
            permit("monitor")
                .require_set(7, &["/qos".to_owned()])
                .is_err()
        );
    }

    #[test]
    fn without_a_certificate_one_reads() {
        let anonymous = Permit::of(&Peer::Anonymous(None), Some(&bindings()));
        assert!(anonymous.require(7, Some(""), false).is_ok());
        assert!(anonymous.require(7, Some(""), true).is_err());
    }

    #[test]
    fn packets_are_seen_by_those_with_a_name() {
        assert!(permit("monitor").require_packets(7).is_ok());
        assert!(permit("router").require_packets(8).is_err());
        assert!(permit("stranger").require_packets(7).is_err());
        for (peer, may) in [(Peer::Anonymous(None), false), (Peer::Local, true)] {
            let permit = Permit::of(&peer, Some(&bindings()));
            assert_eq!(permit.require_packets(7).is_ok(), may, "{peer:?}");
        }
    }

    #[test]
    fn a_role_that_is_not_described_has_what_it_says_of_objects() {
        let rights = permit("monitor").rights("edge").expect("it is bound");
        assert_eq!((rights.pipeline, rights.replication), (false, false));
        assert!(permit("monitor").rights("").is_none());
        assert!(!permit("monitor").describes("edge"));
        assert!(permit("monitor").describes("routing"));
    }
}
