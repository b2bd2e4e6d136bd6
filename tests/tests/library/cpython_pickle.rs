//! Compares the pickle reader with CPython, and with serde-pickle for pickles without shared objects.
//!
//! Values are compared by a canonical text: `N`, `T`, `F`; `i` and decimal digits; `f` and the 64 bits in hexadecimal
//! or `nan`; `s` and `b` with the bytes in hexadecimal; `[…]`, `(…)`, and `{key:value,…}` sorted by text.

use serde_pickle::{DeOptions, HashableValue, Value};
use shared::pickle::value_from_slice;
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

fn canonical(value: &Value) -> String {
    match value {
        Value::None => "N".to_owned(),
        Value::Bool(value) => if *value { "T" } else { "F" }.to_owned(),
        Value::I64(value) => format!("i{value}"),
        Value::Int(value) => format!("i{value}"),
        Value::F64(value) if value.is_nan() => "fnan".to_owned(),
        Value::F64(value) => format!("f{:016x}", value.to_bits()),
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
fn random_values_read_as_cpython_wrote_them_and_as_serde_pickle_reads_them() {
    for Case { protocol, pickle, canonical: expected } in cases(1, 150, "shared") {
        let value =
            value_from_slice(&pickle).unwrap_or_else(|error| panic!("protocol {protocol}: {error}: {expected}"));
        assert_eq!(canonical(&value), expected, "protocol {protocol}: {}", hex(&pickle));
    }
    for Case { protocol, pickle, .. } in cases(2, 100, "unshared") {
        let value = value_from_slice(&pickle).unwrap_or_else(|error| panic!("protocol {protocol}: {error}"));
        let other = serde_pickle::value_from_slice(&pickle, DeOptions::new()).expect("serde-pickle reads it");
        assert_eq!(canonical(&value), canonical(&other), "protocol {protocol}: {}", hex(&pickle));
    }
}

#[test]
fn a_value_that_contains_itself_is_refused() {
    for line in cpython::lines("recursive_values.py", [""; 0]) {
        assert!(value_from_slice(&unhex(&line)).is_err(), "{line}");
    }
}
