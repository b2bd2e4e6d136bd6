//! Tests of documents that are equal in all formats, and of documents that are refused.

use super::*;

fn table(entries: &[(&str, Value)]) -> Value {
    Value::Table(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

#[track_caller]
fn check(format: Format, text: &str, value: &Value) {
    assert_eq!(Value::parse(text, format).as_ref(), Ok(value));
}

/// Checks that the error message starts with `start`.
#[track_caller]
fn check_error(format: Format, text: &str, start: &str) {
    let message = Value::parse(text, format).unwrap_err().to_string();
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn the_same_document_in_each_format() {
    let model = table(&[("hidden", Value::List(vec![Value::Whole(64), Value::Whole(32)]))]);
    let value = table(&[
        ("a", Value::Whole(4)),
        ("b", Value::Real(1e-5)),
        ("c", Value::Bool(true)),
        ("d", Value::Text("x y".to_owned())),
        ("model", model),
    ]);
    check(Format::Toml, "a = 4\nb = 1e-5\nc = true\nd = 'x y'\n[model]\nhidden = [64, 32]", &value);
    check(Format::Yaml, "a: 4\nb: 1e-5\nc: true\nd: x y\nmodel:\n  hidden: [64, 32]", &value);
    check(Format::Json, r#"{"a": 4, "b": 1e-5, "c": true, "d": "x y", "model": {"hidden": [64, 32]}}"#, &value);
}

#[test]
fn yaml_scalars_follow_the_core_schema() {
    let value = |text: &str| Value::parse(text, Format::Yaml).unwrap();
    assert_eq!(value("no"), Value::Text("no".to_owned()));
    assert_eq!(value("0x10"), Value::Whole(16));
    assert_eq!(value("'4'"), Value::Text("4".to_owned()));
    assert_eq!(value("!!str 4"), Value::Text("4".to_owned()));
    assert_eq!(value("infinity"), Value::Text("infinity".to_owned()));
    assert_eq!(value("-.inf"), Value::Real(f64::NEG_INFINITY));
    assert_eq!(value(".5"), Value::Real(0.5));
    assert_eq!(value("99999999999999999999"), Value::Real(1e20));
    assert_eq!(value(""), Value::Null);
    assert_eq!(value("a: &x {b: 1}\nc: *x").get("c"), Some(&table(&[("b", Value::Whole(1))])));
}

#[test]
fn formats_are_told_by_name_or_content() {
    let of = Format::of;
    assert_eq!(of("gpt2.toml", "{"), Format::Toml);
    assert_eq!(of("args.YML", ""), Format::Yaml);
    assert_eq!(of("config.json", ""), Format::Json);
    assert_eq!(of("-", " \n{\"a\": 1}"), Format::Json);
    assert_eq!(of("-", "# comment\n[model]\n"), Format::Toml);
    assert_eq!(of("-", "name = \"a: b\""), Format::Toml);
    assert_eq!(of("-", "name: \"a = b\""), Format::Yaml);
    assert_eq!(of("job.txt", "batch = 4"), Format::Toml);
}

#[test]
fn syntax_errors_have_a_place() {
    check_error(Format::Toml, "a = 1\nb = = 2", "line 2, column 5: not valid TOML: ");
    check_error(Format::Yaml, "a: 1\nb: [1, 2", "line 3, column 1: not valid YAML: while parsing a flow sequence");
    check_error(Format::Json, "{\"a\": 1,\n \"b\": }", "line 2, column 7: not a valid JSON config: expected");
    check_error(Format::Json, "{} {}", "line 1, column 4: not a valid JSON config: trailing");
    check_error(Format::Yaml, "a: 1\n---\nb: 2", "line 2, column 1: a second document begins here");
}

#[test]
fn keys_stand_once() {
    check_error(Format::Toml, "a = 1\na = 2", "line 2, column 1: not valid TOML: duplicate key");
    check_error(Format::Yaml, "a: 1\nb: 2\na: 3", "line 3, column 1: the key `a` appears twice; keep one of them");
    let twice = "{\"a\": 1, \"a\": 2}";
    check_error(Format::Json, twice, "line 1, column 12: not a valid JSON config: the key `a` appears");
    check_error(Format::Yaml, "? [1]\n: 2", "line 1, column 5: a key cannot be a list or a table");
}

#[test]
fn bombs_are_refused() {
    let deep = "[".repeat(100_000);
    check_error(Format::Json, &deep, "line 1, column 33: not a valid JSON config: values are nested");
    check_error(Format::Yaml, &deep, "line 1, column 256: not valid YAML: recursion limit exceeded");
    let deep_lists = format!("{}{}", "[".repeat(40), "]".repeat(40));
    check_error(Format::Yaml, &deep_lists, "line 1, column 34: values are nested more than 32 levels");
    check_error(Format::Toml, &format!("a = {deep}"), "line 1, column ");
    let deep_lists = format!("a = {}1{}", "[".repeat(40), "]".repeat(40));
    check_error(Format::Toml, &deep_lists, "line 1, column 37: values are nested");
    check_error(Format::Yaml, &"x".repeat(10_000_000), "the text has 10000000 bytes");
    check_error(Format::Json, &format!("[{}0]", "0,".repeat(200_000)), "line 1, column ");

    let nine = |name: char| format!("[{}]", vec![format!("*{name}"); 9].join(", "));
    let laughs = ('b'..='i').map(|c| format!("{c}: &{c} {}\n", nine((c as u8 - 1) as char))).collect::<String>();
    check_error(Format::Yaml, &format!("a: &a ha\n{laughs}"), "line 6, column ");
    let long = format!("a: &a {}\nb: [{}]", "x".repeat(900_000), ["*a"; 1000].join(", "));
    check_error(Format::Yaml, &long, "line 2, column 5: aliases expand to more than 1048576 bytes");
    check_error(Format::Yaml, "a: &a [*a]", "line 1, column 8: ");
}
