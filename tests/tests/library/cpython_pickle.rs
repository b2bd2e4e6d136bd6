//! Compares the pickle reader with CPython, and with serde-pickle for pickles without shared objects.
//!
//! Values are compared by a canonical text: `N`, `T`, `F`; `i` and decimal digits; `f` and the 64 bits in hexadecimal
//! or `nan`; `s` and `b` with the bytes in hexadecimal; `[…]`, `(…)`, and `{key:value,…}` sorted by text.

#[path = "../../../shared/tests/outside/support/plain.rs"]
mod plain;

use plain::{KeepAll, read};
use serde_pickle::{DeOptions, HashableValue, Value};
use shared::pickle::{Finished, Kind, Shape, Val};
use testkit::cpython;

/// Line of `random_values.py`.
struct Case {
    protocol: String,
    pickle: Vec<u8>,
    canonical: String,
}

fn cases(seed: u32, count: u32, sharing: &str) -> Vec<Case> {
    let lines = cpython::lines("random_values.py", [&seed.to_string(), &count.to_string(), sharing]);
    assert_eq!(lines.len(), count as usize * 6);
    lines.iter().map(|line| case(line)).collect()
}

fn case(line: &str) -> Case {
    let [protocol, pickle, canonical] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("three words: {line}") };
    Case { protocol: protocol.to_owned(), pickle: unhex(pickle), canonical: canonical.to_owned() }
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    text.as_bytes().chunks(2).map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the canonical text of what our reader reads.
fn text_of(pickle: &[u8]) -> String {
    let finished = read(pickle).unwrap_or_else(|error| panic!("{error}: {}", hex(pickle)));
    text(&finished, finished.root)
}

fn text(all: &Finished<KeepAll>, val: Val) -> String {
    let texts = |items: &[Val]| items.iter().map(|&item| text(all, item)).collect::<Vec<_>>().join(",");
    match val.kind() {
        Kind::None => "N".to_owned(),
        Kind::Bool(value) => if value { "T" } else { "F" }.to_owned(),
        Kind::Int(value) => format!("i{value}"),
        Kind::WideInt(number) => format!("i{}", all.heap.wide_int(number)),
        Kind::Float(number) => float(all.heap.float(number)),
        Kind::Str(id) => format!("s{}", hex(all.builder.0.whole(id).as_bytes())),
        Kind::Bytes(number) => format!("b{}", hex(all.heap.byte_string(number))),
        Kind::Pair(first, second) => format!("(i{first},i{second})"),
        Kind::EmptyTuple => "()".to_owned(),
        Kind::EmptyList | Kind::FreshList(_) => "[]".to_owned(),
        Kind::EmptyDict | Kind::FreshDict(_) => "{}".to_owned(),
        Kind::Handle(..) => panic!("nothing is taken"),
        Kind::Node(number) => match (all.heap.node(number).shape, &all.heap.node(number).items) {
            (Shape::List, items) => format!("[{}]", texts(items)),
            (Shape::Tuple, items) => format!("({})", texts(items)),
            (Shape::Dict, items) => {
                let mut entries: Vec<_> =
                    items.chunks(2).map(|pair| format!("{}:{}", text(all, pair[0]), text(all, pair[1]))).collect();
                entries.sort();
                format!("{{{}}}", entries.join(","))
            }
            (Shape::Set, _) => panic!("the cases have no sets"),
        },
    }
}

fn float(value: f64) -> String {
    if value.is_nan() { "fnan".to_owned() } else { format!("f{:016x}", value.to_bits()) }
}

fn canonical(value: &Value) -> String {
    match value {
        Value::None => "N".to_owned(),
        Value::Bool(value) => if *value { "T" } else { "F" }.to_owned(),
        Value::I64(value) => format!("i{value}"),
        Value::Int(value) => format!("i{value}"),
        Value::F64(value) => float(*value),
        Value::String(value) => format!("s{}", hex(value.as_bytes())),
        Value::Bytes(value) => format!("b{}", hex(value)),
        Value::List(items) => format!("[{}]", joined(items)),
        Value::Tuple(items) => format!("({})", joined(items)),
        Value::Dict(items) => {
            let entry = |(key, value): (&HashableValue, &Value)| {
                format!("{}:{}", canonical(&key.clone().into_value()), canonical(value))
            };
            let mut entries: Vec<_> = items.iter().map(entry).collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        Value::Set(_) | Value::FrozenSet(_) => panic!("the cases have no sets"),
    }
}

fn joined(items: &[Value]) -> String {
    items.iter().map(canonical).collect::<Vec<_>>().join(",")
}

#[test]
fn random_values_read_as_cpython_wrote_them() {
    for Case { protocol, pickle, canonical: expected } in cases(1, 150, "shared") {
        assert_eq!(text_of(&pickle), expected, "protocol {protocol}: {}", hex(&pickle));
    }
}

#[test]
fn serde_pickle_reads_the_same_where_nothing_is_shared() {
    for Case { protocol, pickle, .. } in cases(2, 100, "unshared") {
        let other = serde_pickle::value_from_slice(&pickle, DeOptions::new()).expect("serde-pickle reads it");
        assert_eq!(text_of(&pickle), canonical(&other), "protocol {protocol}: {}", hex(&pickle));
    }
}

#[test]
fn a_value_that_contains_itself_is_counted() {
    for line in cpython::lines("recursive_values.py", [""; 0]) {
        assert!(!read(&unhex(&line)).is_ok_and(|finished| finished.recursive_containers == 0), "{line}");
    }
}
