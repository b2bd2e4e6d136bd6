//! Checks the table of ways to save memory in the recorder's README, with one recording for each row.
//!
//! `UPDATE=1` rewrites the table.

use std::path::PathBuf;
use std::thread;

use serde_json::{Value, json};
use shared::base::format;

use crate::recorded;

const HEADING: &str = "## Ways to save memory\n";
const HEAD: &str = "| way | config | peak allocated | saved | peak reserved |\n| --- | --- | --: | --: | --: |\n";

/// Returns the name of each row and its changes of the config.
fn ways() -> Vec<(&'static str, Value)> {
    let everything = json!({
        "lora": { "rank": 16 }, "checkpointing": true, "loss": { "chunks": 8 }, "optimizer": { "state": "8bit" },
        "offload_activations": true,
    });
    vec![
        ("none", json!({})),
        ("no autocast", json!({ "precision": "fp32" })),
        ("weights in bfloat16", json!({ "precision": "bf16" })),
        ("flash attention", json!({ "model": { "preset": "llama-3.2-1b", "attention": "flash" } })),
        ("outputs dropped before backward", json!({ "keep_outputs": false })),
        ("gradients stay allocated", json!({ "set_to_none": false })),
        ("four micro batches of one", json!({ "batch": 1, "accumulation": 4 })),
        ("fused optimizer", json!({ "optimizer": { "implementation": "fused" } })),
        ("8-bit state", json!({ "optimizer": { "state": "8bit" } })),
        ("state on the host", json!({ "optimizer": { "offload": true } })),
        ("state and gradients on the host", json!({ "optimizer": { "offload": true, "offload_gradients": true } })),
        ("loss in chunks", json!({ "loss": { "chunks": 8 } })),
        ("checkpointing", json!({ "checkpointing": true })),
        ("checkpointing of every second layer", json!({ "checkpointing": { "every": 2 } })),
        ("checkpointing that keeps attention", json!({ "checkpointing": { "keep": "attention" } })),
        ("checkpointing that keeps products", json!({ "checkpointing": { "keep": "matmul" } })),
        ("activations on the host", json!({ "offload_activations": true })),
        ("adapters", json!({ "lora": { "rank": 16 } })),
        ("adapters, 8-bit state, and all of activations, checkpointing and loss", everything),
    ]
}

/// Returns the config with the changes of a row.
fn config(changes: &Value) -> Value {
    let config = json!({
        "model": "llama-3.2-1b", "batch": 4, "sequence": 2048, "steps": 2, "precision": "autocast-bf16",
        "card": "h200-141gb",
    });
    recorded::changed(config, changes)
}

/// Records all ways and returns their peaks; two run at a time, because the smallest machines have two cores.
fn peaks(ways: &[(&str, Value)]) -> Vec<(u64, u64)> {
    let record_all = |ways: &[(&str, Value)]| ways.iter().map(|(_, way)| recorded::peaks(&config(way))).collect();
    let (first, second) = ways.split_at(ways.len() / 2);
    thread::scope(|scope| {
        let halves = [first, second].map(|half| scope.spawn(move || -> Vec<_> { record_all(half) }));
        halves.into_iter().flat_map(|half| half.join().expect("recordings")).collect()
    })
}

fn table() -> String {
    let ways = ways();
    let peaks = peaks(&ways);
    let plain = peaks[0].0;
    let row = |((name, way), (allocated, reserved)): (&(&str, Value), &(u64, u64))| {
        let keys = if way == &json!({}) { String::new() } else { format!("`{way}`") };
        let saved = 100.0 * (plain as f64 - *allocated as f64) / plain as f64;
        let saved = if saved.abs() < 0.05 { "0 %".to_owned() } else { format!("{saved:.1} %") };
        let (allocated, reserved) = (format::bytes(*allocated), format::bytes(*reserved));
        format!("| {name} | {keys} | {allocated} | {saved} | {reserved} |\n")
    };
    HEAD.to_owned() + &ways.iter().zip(&peaks).map(row).collect::<String>()
}

#[test]
fn the_table_of_the_readme_is_up_to_date() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&path).expect("the README");
    let section = text.find(HEADING).expect("a section");
    let start = section + text[section..].find("| way |").expect("a table");
    let end = text[start..].find("\n\n").map_or(text.len(), |length| start + length + 1);
    let table = table();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &text[..start], &text[end..])).expect("room");
        return;
    }
    assert!(text[start..end] == table, "the table is not up to date: run this test with UPDATE=1\n{table}");
}
