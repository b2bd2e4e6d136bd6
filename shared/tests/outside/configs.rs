//! Tests configs that the fuzzer found, and configs designed to take much memory and time.

use std::time::{Duration, Instant};

use crate::support::configs::{MOST_BYTES, hold, most_memory_bytes};
use crate::support::counting::peak_bytes;
use crate::support::stored::files;

/// A debug build takes a fraction of it; quadratic time takes minutes.
const MOST_TIME: Duration = Duration::from_secs(20);

#[track_caller]
fn check(name: &str, input: &str) {
    let start = Instant::now();
    let ((), peak) = peak_bytes(|| hold(input));
    let most = most_memory_bytes(input.len());
    assert!(peak <= most, "{name}: {} bytes took {peak} bytes, more than {most}", input.len());
    assert!(start.elapsed() < MOST_TIME, "{name}: {:?} for {} bytes", start.elapsed(), input.len());
}

#[test]
fn configs_that_the_fuzzer_met_keep_the_law() {
    for (name, bytes) in files("fuzz/corpus/configs", 5) {
        check(&name, &String::from_utf8_lossy(&bytes));
    }
}

/// Checks a config of a start, a repeated unit and an end, half as long as a config may be.
#[track_caller]
fn check_storm(file: &str, start: &str, unit: impl Fn(usize) -> String, end: &str) {
    let mut input = format!("{file}\n{start}");
    for index in 0.. {
        let unit = unit(index);
        if input.len() + unit.len() + end.len() > MOST_BYTES / 2 {
            break;
        }
        input.push_str(&unit);
    }
    let name: String = input.chars().take(60).collect();
    check(&name, &(input + end));
}

#[test]
fn a_long_config_takes_memory_and_time_in_proportion() {
    let key = "k".repeat(500_000);
    check_storm("a.toml", &format!("[{key}]\n"), |index| format!("a{index}=1\n"), "");
    check_storm("a.yaml", &format!("{key}:\n"), |index| format!(" a{index}: 1\n"), "");
    check_storm("a.json", &format!("{{\"{key}\":{{\"b\":0"), |index| format!(",\"a{index}\":1"), "}}");
    check_storm("a.json", &format!("{{\"{key}\":[0"), |_| ",1".to_owned(), "]}");
    check_storm("a.toml", "", |index| format!("a{index}=1\n"), "");
    check_storm("a.toml", "", |index| format!("[a{index}]\n"), "");
    check_storm("a.toml", "", |_| "[[a]]\n".to_owned(), "");
    check_storm("a.toml", "model=[", |_| "1,".to_owned(), "]");
    check_storm("a.toml", "model=[", |_| "[],".to_owned(), "]");
    check_storm("a.toml", "model={layers=[", |_| "'a',".to_owned(), "]}");
    check_storm("a.toml", "", |_| "#\n".to_owned(), "");
    check_storm("a.yaml", "", |index| format!("a{index}: 1\n"), "");
    check_storm("a.yaml", "a:\n", |_| "- 1\n".to_owned(), "");
    check_storm("a.yaml", "model: [", |_| "1,".to_owned(), "]");
    check_storm("a.yaml", "", |_| "[".to_owned(), "");
    check_storm("a.yaml", "", |_| "{".to_owned(), "");
    check_storm("a.yaml", "", |_| "- ".to_owned(), "");
    check_storm("a.yaml", "", |_| "? ".to_owned(), "");
    check_storm("a.yaml", "a: &a 1\nb: [", |_| "*a,".to_owned(), "]");
    check_storm("a.yaml", "", |index| format!("&a{index} a{index}: 1\n"), "");
    check_storm("a.yaml", "a: |\n", |_| "  b\n".to_owned(), "");
    check_storm("a.yaml", "a: \"", |_| "\\n".to_owned(), "\"");
    check_storm("a.json", "[", |_| "1,".to_owned(), "1]");
    check_storm("a.json", "", |_| "[".to_owned(), "");
    check_storm("a.json", "{\"batch\":1", |index| format!(",\"a{index}\":1"), "}");
    check_storm("a.json", "{\"model_type\":\"gpt2\"", |index| format!(",\"a{index}\":1"), "}");
    check_storm("a.json", "{\"model_type\":\"gpt2\"}\n---args\n{\"a\":1", |index| format!(",\"a{index}\":1"), "}");
    check_storm("a.toml", "model='mlp'\nsweep={batch='1", |index| format!(",{index}"), "'}");
    check_storm("a.toml", "model='mlp'\nallocator='", |_| "max_split_size_mb:20,".to_owned(), "'");
    check_storm("a.toml", "model='mlp'\ncard='", |_| "t4-16gb,".to_owned(), "'");
    check_storm("a.toml", "model={family='cnn',layers=[", |_| "'conv 3',".to_owned(), "]}");
    check_storm("a.toml", "model={family='mlp',hidden=[", |_| "1,".to_owned(), "1]}");
    check_storm("a.toml", "model='gpt2'\nlora={targets=[", |_| "'qkv',".to_owned(), "]}");
}
