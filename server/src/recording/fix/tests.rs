//! Tests the remedies that are offered, and their lines.

use super::*;

#[track_caller]
fn check_lines(config: &str, remedy: &str, expected: &[&str]) {
    let raw = RawJob::from_toml(config).unwrap();
    let offered = remedies(&raw.clone().resolve().unwrap());
    let remedy = offered.remedies.iter().find(|offered| offered.name == remedy).expect("the remedy is offered");
    let mut after = raw.clone();
    (remedy.apply)(&mut after);
    let lines = lines(&raw, &after);
    assert_eq!(lines, expected);
    let again = RawJob::from_toml(&lines.join("\n")).unwrap();
    assert_eq!(RawJob { model: after.model.clone(), ..again }.resolve().is_ok(), after.resolve().is_ok());
}

#[test]
fn lines_are_keys_of_the_config() {
    check_lines("model = 'gpt2'", "checkpoint", &["checkpointing = true"]);
    check_lines("model = 'gpt2'", "checkpoint-half", &["checkpointing = { every = 2 }"]);
    check_lines("model = 'gpt2'", "loss-chunks", &["loss = { chunks = 8 }"]);
    check_lines(
        "model = 'gpt2'\nallocator = 'max_split_size_mb:64'",
        "expandable-segments",
        &["allocator = \"max_split_size_mb:64,expandable_segments:True\""],
    );
    let adam = "model = 'gpt2'\noptimizer = { kind = 'adam', implementation = 'fused', betas = [0.9, 0.95] }";
    check_lines(adam, "adam-8bit", &["optimizer = { betas = [0.9, 0.95], kind = \"adam\", state = \"8bit\" }"]);
    check_lines("model = 'gpt2'\nbatch = 6\naccumulation = 2", "microbatch-2", &["accumulation = 4", "batch = 3"]);
    check_lines("model = 'gpt2'\nset_to_none = false", "set-to-none", &["set_to_none = true"]);
    check_lines("model = 'gpt2'\ncard = 't4-16gb'", "autocast", &["precision = \"autocast-fp16\""]);
    check_lines("model = 'gpt2'", "offload-optimizer", &["optimizer = { offload = true, offload_gradients = true }"]);
}

#[track_caller]
fn check_offered(config: &str, names: &str) {
    let written = RawJob::from_toml(config).unwrap();
    let Offered { remedies, left_out } = remedies(&written.clone().resolve().unwrap());
    let offered: Vec<&str> = remedies.iter().map(|remedy| remedy.name).collect();
    assert_eq!(offered.join(" "), names, "{left_out:?}");
    for remedy in remedies {
        let mut raw = written.clone();
        (remedy.apply)(&mut raw);
        assert_ne!(lines(&written, &raw), [""; 0], "{}", remedy.name);
        raw.resolve().unwrap();
    }
}

#[test]
fn what_a_config_has_already_is_not_offered() {
    check_offered(
        "model = 'gpt2'\nbatch = 4",
        "expandable-segments release-outputs checkpoint-half checkpoint loss-chunks offload-activations microbatch-2 \
         microbatch-4 autocast bf16-weights fused adam-8bit offload-optimizer sgd",
    );
    check_offered(
        "model = { preset = 'gpt2', attention = 'eager' }\nkeep_outputs = false\ncheckpointing = true\n\
         precision = 'bf16'\noptimizer = 'sgd'\noffload_activations = true\nallocator = 'expandable_segments:True'\n\
         loss = {}\nevaluation = { no_grad = false }",
        "efficient-attention no-grad fused offload-optimizer",
    );
}

#[test]
fn a_share_of_the_memory_limits_it() {
    let cards = Cards::parse("custom:10GiB").unwrap();
    assert_eq!(Room::of(cards.clone(), Some(0.5)).capacity_bytes, 5 << 30);
    assert_eq!(Room::of(cards, None).capacity_bytes, (10 << 30) - Card::TYPICAL_CONTEXT_BYTES);
}
