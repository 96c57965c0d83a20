//! A filter's text.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;

use phb_pipeline::Time;

use super::FilterError;
use super::condition::{AtArrival, AtEnd, Condition, Prefix, Side};
use super::expression::Expression;
use super::frame::Network;
use super::words::{Word, Words};

type Parsed = Expression<(usize, Condition)>;

/// Bytes of a filter's text.
const LONGEST: usize = 4096;

/// Parentheses and `not` in each other.
const DEEPEST: usize = 64;

const CONDITIONS: &str = "a condition (ingress-port, host, src, dst, ether, proto, tcp, udp, icmp, ip, ip6, arp, port, tos, \
    dscp, vlan, every, dropped, waited, egress-port), 'not' or '('";

/// What a text says; nothing, if it is empty.
pub(super) fn parse(text: &str) -> Result<Option<Parsed>, FilterError> {
    if text.len() > LONGEST {
        return Err(FilterError {
            at: LONGEST,
            message: format!("found {} bytes; expected at most {LONGEST}", text.len()),
        });
    }
    let strange = |letter: char| !letter.is_ascii_graphic() && !letter.is_ascii_whitespace();
    if let Some(at) = text.chars().position(strange) {
        let letter = text.chars().nth(at).unwrap_or_default();
        return Err(FilterError {
            at,
            message: format!("found {letter:?}; expected letters, digits and signs of ASCII"),
        });
    }
    let mut words = Words::new(text);
    if words.peek().text.is_empty() {
        return Ok(None);
    }
    let whole = any(&mut words, 0)?;
    match words.peek() {
        Word { text: "", .. } => Ok(Some(whole)),
        other => Err(other.instead_of("'and', 'or', or the end")),
    }
}

fn any(words: &mut Words<'_>, depth: usize) -> Result<Parsed, FilterError> {
    let mut parts = vec![all(words, depth)?];
    while words.take(&["or", "||"]) {
        parts.push(all(words, depth)?);
    }
    Ok(joined(parts, Expression::Any))
}

fn all(words: &mut Words<'_>, depth: usize) -> Result<Parsed, FilterError> {
    let mut parts = vec![one(words, depth)?];
    while words.take(&["and", "&&"]) {
        parts.push(one(words, depth)?);
    }
    Ok(joined(parts, Expression::All))
}

fn joined(mut parts: Vec<Parsed>, by: impl Fn(Vec<Parsed>) -> Parsed) -> Parsed {
    if parts.len() > 1 {
        return by(parts);
    }
    parts.swap_remove(0)
}

fn one(words: &mut Words<'_>, depth: usize) -> Result<Parsed, FilterError> {
    let begin = words.peek();
    if depth > DEEPEST {
        return Err(begin.instead_of(&format!(
            "at most {DEEPEST} parentheses and 'not' in each other"
        )));
    }
    if words.take(&["not", "!"]) {
        return Ok(Expression::Not(Box::new(one(words, depth + 1)?)));
    }
    if words.take(&["("]) {
        let inner = any(words, depth + 1)?;
        return match words.next() {
            Word { text: ")", .. } => Ok(inner),
            other => Err(other.instead_of("'and', 'or', or ')'")),
        };
    }
    Ok(Expression::Is((begin.at, condition(words)?)))
}

fn condition(words: &mut Words<'_>) -> Result<Condition, FilterError> {
    let word = words.next();
    Ok(Condition::AtArrival(match word.text {
        "dropped" => return Ok(Condition::AtEnd(AtEnd::Dropped)),
        "waited" => return Ok(Condition::AtEnd(AtEnd::Waited(duration(words.next())?))),
        "egress-port" => {
            let port = number(words.next(), "a port, 0 to 65535", u16::MAX)?;
            return Ok(Condition::AtEnd(AtEnd::EgressPort(port)));
        }
        "every" => {
            let word = words.next();
            let count = number(word, "a number from 1", u64::MAX)?;
            return match count {
                0 => Err(word.instead_of("a number from 1")),
                _ => Ok(Condition::Every(count)),
            };
        }
        "ingress-port" => {
            AtArrival::IngressPort(number(words.next(), "a port, 0 to 65535", u16::MAX)?)
        }
        "host" => AtArrival::Host(Side::Either, prefix(words.next())?),
        "port" => AtArrival::Port(Side::Either, ports(words.next())?),
        "src" => of_side(words, Side::Source)?,
        "dst" => of_side(words, Side::Destination)?,
        "ether" => {
            let which = words.next();
            let side = match which.text {
                "host" => Side::Either,
                "src" => Side::Source,
                "dst" => Side::Destination,
                _ => return Err(which.instead_of("host, src or dst")),
            };
            AtArrival::EtherHost(side, ether(words.next())?)
        }
        "proto" => {
            let word = words.next();
            match protocol(word.text) {
                Some(named) => named,
                None => AtArrival::Protocol(number(
                    word,
                    "tcp, udp, icmp or a number, 0 to 255",
                    u8::MAX,
                )?),
            }
        }
        "ip" => AtArrival::Network(Network::Ip),
        "ip6" => AtArrival::Network(Network::Ip6),
        "arp" => AtArrival::Network(Network::Arp),
        "tos" => AtArrival::Tos(number(
            words.next(),
            "a byte, 0 to 255 or 0x00 to 0xff",
            u8::MAX,
        )?),
        "dscp" => AtArrival::Dscp(dscp(words.next())?),
        "vlan" => AtArrival::Vlan(number(words.next(), "a VLAN, 0 to 4095", 4095)?),
        other => protocol(other).ok_or_else(|| word.instead_of(CONDITIONS))?,
    }))
}

fn protocol(name: &str) -> Option<AtArrival> {
    match name {
        "tcp" => Some(AtArrival::Protocol(6)),
        "udp" => Some(AtArrival::Protocol(17)),
        "icmp" => Some(AtArrival::Icmp),
        _ => None,
    }
}

/// After `src` or `dst`: an address, `host` and an address, or `port` and a number.
fn of_side(words: &mut Words<'_>, side: Side) -> Result<AtArrival, FilterError> {
    if words.take(&["port"]) {
        return Ok(AtArrival::Port(side, ports(words.next())?));
    }
    if words.take(&["host"]) {
        return Ok(AtArrival::Host(side, prefix(words.next())?));
    }
    let word = words.next();
    let read = prefix(word);
    let prefix = read.map_err(|error| match error.message.contains("prefix") {
        true => error,
        false => word.instead_of("an address of IPv4 or IPv6, host or port"),
    })?;
    Ok(AtArrival::Host(side, prefix))
}

/// A number, decimal or after `0x`, up to `most`.
fn number<T: TryFrom<u64> + Into<u64>>(
    word: Word<'_>,
    expected: &str,
    most: T,
) -> Result<T, FilterError> {
    let read = match word.text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok()
        }
        None if word.text.bytes().all(|digit| digit.is_ascii_digit()) => word.text.parse().ok(),
        _ => None,
    };
    let most: u64 = most.into();
    let read = read.filter(|number| *number <= most);
    let read = read.and_then(|number| T::try_from(number).ok());
    read.ok_or_else(|| word.instead_of(expected))
}

fn ports(word: Word<'_>) -> Result<RangeInclusive<u16>, FilterError> {
    let expected = "a port or a range of ports, as 80 or 1024-2047";
    let (first, last) = word.text.split_once('-').unwrap_or((word.text, word.text));
    let read = |text| number(Word { text, ..word }, expected, u16::MAX);
    match (read(first), read(last)) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        _ => Err(word.instead_of(expected)),
    }
}

fn prefix(word: Word<'_>) -> Result<Prefix, FilterError> {
    let (address, length) = match word.text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (word.text, None),
    };
    let expected = "an address of IPv4 or IPv6, as 10.0.0.0/8 or 2001:db8::1";
    let address = IpAddr::from_str(address).map_err(|_| word.instead_of(expected))?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let length = match length {
        None => longest,
        Some(text) => {
            let expected = format!("a prefix of 0 to {longest} bits");
            let read = number(Word { text, ..word }, &expected, longest);
            read.map_err(|_| word.instead_of(&expected))?
        }
    };
    Ok(Prefix { address, length })
}

fn ether(word: Word<'_>) -> Result<[u8; 6], FilterError> {
    let expected = "an address of Ethernet, as 02:00:00:00:00:01";
    let mut address = [0; 6];
    let mut parts = word.text.split([':', '-']);
    for byte in &mut address {
        let part = parts.next().filter(|part| {
            (1..=2).contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        let read = part.and_then(|part| u8::from_str_radix(part, 16).ok());
        *byte = read.ok_or_else(|| word.instead_of(expected))?;
    }
    match parts.next() {
        None => Ok(address),
        Some(_) => Err(word.instead_of(expected)),
    }
}

/// Names of code points: RFC 2474 (class selectors), 2597 (AF), 3246 (EF), 5865 (VOICE-ADMIT), 8622 (LE).
fn dscp(word: Word<'_>) -> Result<u8, FilterError> {
    let name = word.text.to_ascii_lowercase();
    let digit = |at: usize| {
        name.as_bytes()
            .get(at)
            .map_or(0xff, |digit| digit.wrapping_sub(b'0'))
    };
    match (&name[..], name.len()) {
        ("be" | "df", _) => Ok(0),
        ("le", _) => Ok(1),
        ("ef", _) => Ok(46),
        ("va" | "voice-admit", _) => Ok(44),
        (_, 3) if name.starts_with("cs") && digit(2) < 8 => Ok(digit(2) * 8),
        (_, 4)
            if name.starts_with("af")
                && (1..=4).contains(&digit(2))
                && (1..=3).contains(&digit(3)) =>
        {
            Ok(digit(2) * 8 + digit(3) * 2)
        }
        _ => number(
            word,
            "a code point: be, le, cs0 to cs7, af11 to af43, ef, va, or 0 to 63",
            63,
        ),
    }
}

fn duration(word: Word<'_>) -> Result<Time, FilterError> {
    let expected = "a time with its unit, as 5ms, 1.5s, 20us or 100ns";
    let digits = word
        .text
        .trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit: Time = match &word.text[digits.len()..] {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return Err(word.instead_of(expected)),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let read = |text: &str| -> Option<Time> {
        let all_digits = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        all_digits.then(|| text.parse().ok())?
    };
    let time = || {
        let scale = Time::checked_pow(10, u32::try_from(part.len()).ok()?)?;
        let part = read(part)?.checked_mul(unit)? / scale;
        read(whole)?.checked_mul(unit)?.checked_add(part)
    };
    time().ok_or_else(|| word.instead_of(expected))
}
