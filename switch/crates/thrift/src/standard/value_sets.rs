//! Parser value sets. A member is one number: the fields of the select behind each other, at the right of whole bytes.

use phb_node::{Failure, SwitchNode, Update};
use phb_pipeline::{Match, Pipeline};

use crate::artifact::Artifact;
use crate::call::{Fault, Outcome, Services};
use crate::wire::{Fields, Value};

/// Codes of InvalidParseVSetOperation.
const INVALID_PARSE_VSET_NAME: i32 = 1;
const ERROR: i32 = 2;

type Member = Vec<Match>;

pub fn call(services: &Services, method: &str, arguments: Fields<'_>) -> Outcome {
    let (name, value) = (arguments.text(2), arguments.bytes(3));
    let change = |change: &dyn Fn(&mut Vec<Member>, Member)| {
        let plan = |_: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let (bits, mut members) = known(pipeline, name)?;
            change(&mut members, member(value, &bits)?);
            let name = name.to_owned();
            Ok(vec![Update::ValueSet { name, members }])
        };
        services.make(plan, refused)
    };
    match method {
        "bm_parse_vset_add" => change(&|members, member| {
            if !members.contains(&member) {
                members.push(member);
            }
        }),
        "bm_parse_vset_remove" => change(&|members, member| members.retain(|each| *each != member)),
        "bm_parse_vset_clear" => {
            let plan = |_: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
                known(pipeline, name)?;
                let (name, members) = (name.to_owned(), Vec::new());
                Ok(vec![Update::ValueSet { name, members }])
            };
            services.make(plan, refused)
        }
        "bm_parse_vset_get" => services.read(|_, pipeline| {
            let (bits, members) = known(pipeline, name)?;
            let values = members
                .iter()
                .map(|member| Value::Bytes(joined(member, &bits)));
            Ok(Value::List(values.collect()))
        }),
        _ => Err(Fault::NoMethod),
    }
}

fn refused(_: &Failure) -> Fault {
    Fault::Code(ERROR)
}

/// The widths of a set's fields, and its members.
fn known(pipeline: &Pipeline, name: &str) -> Result<(Vec<u32>, Vec<Member>), Fault> {
    let mut sets = pipeline.value_sets().into_iter();
    let found = sets.find(|set| set.name == name);
    let set = found.ok_or(Fault::Code(INVALID_PARSE_VSET_NAME))?;
    let members = pipeline.value_set_read(name);
    Ok((set.bits, members.map_err(|_| Fault::Code(ERROR))?))
}

/// A number's fields, each as the pipeline gives exact ones.
fn member(value: &[u8], bits: &[u32]) -> Result<Member, Fault> {
    let all: u32 = bits.iter().sum();
    let bit = |place: u32| {
        let place = place as usize;
        let byte = value.len().checked_sub(place / 8 + 1).map(|at| value[at]);
        byte.unwrap_or(0) >> (place % 8) & 1
    };
    // Nothing may be lost at the left.
    if bits.is_empty() || (all..value.len() as u32 * 8).any(|place| bit(place) != 0) {
        return Err(Fault::Code(ERROR));
    }
    let mut left = all;
    let fields = bits.iter().map(|bits| {
        left -= bits;
        let mut bytes = vec![0; bits.div_ceil(8) as usize];
        for place in 0..*bits {
            let at = bytes.len() - 1 - place as usize / 8;
            bytes[at] |= bit(left + place) << (place % 8);
        }
        Match::Exact(bytes)
    });
    Ok(fields.collect())
}

/// The number of a member; the masks that P4Runtime can give are left out.
fn joined(member: &[Match], bits: &[u32]) -> Vec<u8> {
    let all: u32 = bits.iter().sum();
    let mut bytes = vec![0; all.div_ceil(8) as usize];
    let mut left = all;
    for (field, bits) in member.iter().zip(bits) {
        left -= bits;
        let (Match::Exact(value) | Match::Ternary { value, .. }) = field else {
            continue;
        };
        for place in 0..*bits {
            let at = value.len().checked_sub(place as usize / 8 + 1);
            let bit = at.map_or(0, |at| value[at]) >> (place % 8) & 1;
            let to = (left + place) as usize;
            let at = bytes.len() - 1 - to / 8;
            bytes[at] |= bit << (to % 8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_fields_behind_each_other() {
        let exact = |bytes: &[u8]| Match::Exact(bytes.to_vec());
        for (value, bits, fields) in [
            (&[0x08, 0][..], &[16][..], vec![exact(&[0x08, 0])]),
            (&[0x0a, 0xbc], &[4, 8], vec![exact(&[0x0a]), exact(&[0xbc])]),
            (&[0x01, 0xff], &[1, 8], vec![exact(&[1]), exact(&[0xff])]),
        ] {
            assert_eq!(member(value, bits), Ok(fields.clone()), "{value:?}");
            assert_eq!(joined(&fields, bits), value);
        }
        assert_eq!(member(&[1, 0, 0], &[16]), Err(Fault::Code(ERROR)));
        assert_eq!(member(&[0, 0, 5], &[16]), Ok(vec![exact(&[0, 5])]));
    }
}
