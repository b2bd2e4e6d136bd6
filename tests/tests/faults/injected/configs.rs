//! Tests configs that are too large, too deeply nested, or have values that are not valid numbers.

use server::config::SettingsArgs;
use shared::api::ErrorCode;
use testkit::http::{Reply, check_refusal};

use crate::injected::place::Place;

/// Starts a server that accepts jobs, so that refusals are due to the config.
fn place() -> Place {
    Place::with(SettingsArgs { jobs: Some("virtual=1".to_owned()), ..SettingsArgs::default() })
}

fn submit(place: &Place, file_name: &str, config: &[u8]) -> Reply {
    place.post(&format!("/api/v1/jobs?file_name={file_name}"), &[], config)
}

/// Checks that a config is refused with a problem at the key `path` whose message contains `part`.
#[track_caller]
fn check(place: &Place, file_name: &str, config: &[u8], path: &str, part: &str) {
    let reply = submit(place, file_name, config);
    check_refusal(&reply, ErrorCode::InvalidConfig, "");
    let body = reply.json();
    let problems = body["problems"].as_array().expect("problems");
    let has = |problem: &serde_json::Value| {
        problem["path"] == path && problem["message"].as_str().is_some_and(|message| message.contains(part))
    };
    assert!(problems.iter().any(has), "{path}: {part}: {problems:?}");
    assert!(problems.len() <= 50 && reply.body.len() < 32 << 10, "{} problems", problems.len());
}

#[test]
fn configs_of_many_megabytes_or_layers_are_refused_and_numbers_that_are_none_named() {
    let place = place();
    let large = [b"model = \"gpt2\"\n".repeat(2), vec![b'#'; 10 << 20]].concat();
    check_refusal(&submit(&place, "a.toml", &large), ErrorCode::TooLarge, "4194304 bytes");
    let json = [br#"{"config": ""#.as_slice(), &vec![b'x'; 10 << 20], br#""}"#].concat();
    let reply = place.post("/api/v1/jobs", &[("Content-Type", "application/json")], &json);
    check_refusal(&reply, ErrorCode::TooLarge, "bytes");
    // Smaller than the limit of a request, and larger than the limit of a config.
    check(&place, "a.toml", &vec![b'#'; 3 << 20], "", "but a config can have at most");
    check(&place, "a.toml", b"model = { preset = \"gpt2\", layers = 1000000 }", "model.layers", "1,000,000");
    let hidden = format!("[model]\nfamily = \"mlp\"\ninput = 8\nclasses = 2\nhidden = [{}1]", "1, ".repeat(2000));
    check(&place, "a.toml", hidden.as_bytes(), "model.layers", "2,001");
    let hidden = format!("[model]\nfamily = \"mlp\"\ninput = 8\nclasses = 2\nhidden = [{}1]", "1,".repeat(400_000));
    check(&place, "a.toml", hidden.as_bytes(), "", "more than 100000 values");
    let foreign = br#"{"model_type": "gpt2", "n_layer": 1000000, "n_embd": 768, "n_head": 12}"#;
    check(&place, "config.json", foreign, "model.layers", "1,000,000");
    place.check_untouched();

    let toml = |text: &str, path: &str, part: &str| {
        check(&place, "a.toml", format!("model = \"gpt2\"\n{text}").as_bytes(), path, part);
    };
    toml("batch = nan", "batch", "NaN");
    toml("batch = -inf", "batch", "whole number");
    toml("steps = -1", "steps", "-1");
    toml("steps = 0", "steps", "0");
    toml("steps = 9223372036854775807", "steps", "9,223,372,036,854,775,807");
    toml("steps = 99999999999999999999999999", "steps", "whole number");
    toml("sequence = 1.5", "sequence", "1.5");
    toml("[optimizer]\nlearning_rate = inf", "optimizer.learning_rate", "");
    check(&place, "a.yaml", b"model: gpt2\nbatch: .nan\n", "batch", "NaN");
    check(&place, "a.json", br#"{"model": "gpt2", "batch": 1e400}"#, "", "out of range");
    check(&place, "a.json", br#"{"model": "gpt2", "batch": NaN}"#, "", "");
    place.check_untouched();
}

#[test]
fn nothing_is_nested_without_end_or_multiplied_by_aliases() {
    let place = place();
    for depth in [100, 10_000, 500_000] {
        check(&place, "a.json", &b"[".repeat(depth), "", "nested more than 32");
        check(&place, "a.json", &b"{\"a\":".repeat(depth / 5), "", if depth > 200 { "are nested" } else { "" });
        check(&place, "a.yaml", &b"- ".repeat(depth / 2), "", "nested more than 32");
        check(&place, "a.yaml", &b"[".repeat(depth), "", "");
        check(&place, "a.toml", &[b"a = ".to_vec(), b"[".repeat(depth)].concat(), "", "recurs");
        let envelope = [br#"{"config": "#.to_vec(), b"[".repeat(depth)].concat();
        let reply = place.post("/api/v1/jobs", &[("Content-Type", "application/json")], &envelope);
        check_refusal(&reply, ErrorCode::InvalidConfig, "nested more than 32");
    }
    // Each line has the line before nine times: billions of values in half a kilobyte.
    let names = "abcdefghij";
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (before, name) in names.chars().zip(names.chars().skip(1)) {
        bomb += &format!("{name}: &{name} [{}*{before}]\n", format!("*{before}, ").repeat(8));
    }
    check(&place, "a.yaml", bomb.as_bytes(), "", "more than 100000 values");
    check(&place, "a.yaml", b"model: &m\n  preset: *m\n", "", "");
    place.check_untouched();
}

#[test]
fn what_is_no_text_is_no_config_and_not_all_problems_are_said() {
    let place = place();
    let utf16: Vec<u8> = "model = \"gpt2\"".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [b"model = \"\xff\xfe\"".as_slice(), b"\xff\xfem\0o\0", b"\x1f\x8b\x08\0\0\0\0\0\0\xff"] {
        check_refusal(&submit(&place, "a.toml", bytes), ErrorCode::BadRequest, "not text");
    }
    // ASCII letters in UTF-16 are valid UTF-8 with NULs in between.
    check(&place, "a.toml", &utf16, "", "");
    check(&place, "a.toml", b"model = \"gpt2\"\0", "", "not valid TOML");
    check(&place, "a.toml", b"", "model", "");
    let keys: String = (0..20_000).map(|index| format!("key{index} = 1\n")).collect();
    check(&place, "a.toml", keys.as_bytes(), "key0", "unknown key");
    let name = format!("model = \"gpt2\"\nname = \"{}\"", "n".repeat(500_000));
    check(&place, "a.toml", name.as_bytes(), "name", "at most 100");
    let key = format!("{} = 1", "k".repeat(500_000));
    let reply = submit(&place, "a.toml", key.as_bytes());
    check_refusal(&reply, ErrorCode::InvalidConfig, "");
    assert!(reply.body.len() < 32 << 10, "{} bytes about one key", reply.body.len());
    place.check_untouched();
}
