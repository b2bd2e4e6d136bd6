//! Tests `snapscope fix` with a command: each remedy is proven, and what it prints does the same when it is pasted.

use std::process::Command;

use serde_json::{Value, json};
use testkit::server::{root, snapscope};

use super::{Ran, Stage};

/// Takes 1 GiB for the model, 256 MiB for each sample, and 1 GiB at each step, which could do without.
const TRAINING: &str = "\
import argparse

import torch

BATCH = 8


class Layer(torch.nn.Module):
    def __init__(self):
        self.weight = torch.Block(1 << 30)
        self.weight.requires_grad = True

    def forward(self, size):
        return torch.Block(size)


def train(steps):
    model = Layer()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        loss = torch.Tensor()
        kept = model(BATCH << 28)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del kept


train(100)
";

/// Two models, the activations of which take 1 GiB each.
const TWO_MODELS: &str = "\
import torch


class Layer(torch.nn.Module):
    def __init__(self):
        self.weight = torch.Block(1 << 20)
        self.weight.requires_grad = True

    def forward(self):
        is_short = torch.save_on_cpu.is_on or torch.no_grad.is_on
        return torch.Block(1 << 20 if is_short else 1 << 30)


generator = Layer()
critic = Layer()
optimizers = [torch.optim.Optimizer(model.parameters()) for model in (generator, critic)]
for step in range(8):
    kept = [generator(), critic()]
    for optimizer in optimizers:
        optimizer.step()
    del kept
";

fn fix(stage: &Stage, options: &[&str]) -> Ran {
    Ran::of(&stage.named("fix", options).args(["--", "python3", "train.py"]).output().expect("the command to start"))
}

fn reported(stage: &Stage, options: &[&str]) -> Value {
    let ran = fix(stage, &[options, &["--json"]].concat());
    assert_eq!((ran.status, &ran.text), (Some(0), &ran.stdout), "one document and nothing else");
    serde_json::from_str(&ran.stdout).expect("one document")
}

fn remedy<'a>(report: &'a Value, name: &str) -> &'a Value {
    let remedies = report["remedies"].as_array().expect("a list");
    remedies.iter().find(|remedy| remedy["name"] == name).unwrap_or_else(|| panic!("{name} is missing: {report:#}"))
}

#[test]
fn the_cheapest_that_fits_is_proven_on_the_card() {
    let stage = Stage::new(TRAINING);
    let report = reported(&stage, &["--card", "custom:4GiB"]);
    assert_eq!(report["baseline"]["peak_reserved_bytes"], 4_u64 << 30);
    assert_eq!(report["baseline"]["fits"], false);
    assert_eq!(remedy(&report, "foreach-off")["saves_bytes"], 1_u64 << 30);
    let line = "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)";
    assert_eq!(remedy(&report, "foreach-off")["lines"][1], line);
    assert_eq!(remedy(&report, "microbatch-2")["peak_reserved_bytes"], 3_u64 << 30);
    assert_eq!(report["smallest_set"], json!(["foreach-off"]));
    assert_eq!(report["together"]["peak_reserved_bytes"], 3_u64 << 30);
    assert_eq!(report["largest_batch"], 11, "2.75 GiB beside the model, of a card that is smaller by the margin");
    assert!(stage.snapshots().is_empty(), "snapshots are dropped");
    let ran = fix(&stage, &["--card", "custom:4GiB"]);
    let says = "It needs 4.00 GiB and custom:4GiB has 3.50 GiB: with foreach-off it fits, 3.00 GiB; largest batch 11";
    ran.check(0, &[says]);
    ran.check(0, &["add # train.py, instead of line 19: optimizer = torch.optim.SGD(model.parameters()"]);
}

/// Pastes the lines of each remedy, and of the smallest set on a card that is too small: a plain run does the same.
fn check_lines(stage: &Stage, remedies: &[&str]) {
    let mut check = Command::new("python3");
    check.arg(root().join("tests/oracle/fix.py")).arg(snapscope()).args(["python3", "train.py"]);
    check.envs(stage.named("fix", &[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Ran::of(&check.current_dir(stage.scene.top()).output().expect("python3"));
    let equal: Vec<_> = remedies.iter().map(|name| format!("equal {name}")).collect();
    ran.check(0, &equal.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(!ran.text.contains("DIFFERS") && ran.text.contains(" MiB: ('fits',)"), "{}", ran.text);
}

#[test]
fn what_is_printed_does_what_was_tried() {
    // The lines go before the class, whose first line is that of its decorator.
    let decorated = "import dataclasses\n\n\n@dataclasses.dataclass\nclass Config:\n    pass\n\n\nBATCH =";
    let stage = Stage::new(&TRAINING.replace("\nBATCH =", decorated));
    check_lines(&stage, &["foreach-off", "microbatch-2", "microbatch-4", "microbatch-8"]);
}

#[test]
fn several_models_scripts_without_training_and_steps_without_optimizers_are_remedied() {
    let stage = Stage::new(TWO_MODELS);
    check_lines(&stage, &["offload-activations"]);
    let report = reported(&stage, &["--card", "custom:4GiB"]);
    let applied = &remedy(&report, "offload-activations")["applied"];
    assert_eq!(applied, &json!(["generator.forward", "critic.forward"]));
    let without_steps: String =
        TWO_MODELS.lines().filter(|line| !line.contains("optim")).map(|line| format!("{line}\n")).collect();
    let stage = Stage::new(&without_steps);
    check_lines(&stage, &["no-grad"]);
    let report = reported(&stage, &["--card", "custom:4GiB"]);
    let without: Vec<_> = report["left_out"].as_array().expect("a list").iter().map(|left| &left["name"]).collect();
    assert!(!without.contains(&&json!("offload-activations")), "there is no backward pass to wait for: {without:?}");
    assert!(report["notes"].to_string().contains("the script ends without an optimizer step"), "{report:#}");
    let by_itself = TWO_MODELS.replace("optimizer.step()", "torch.Tensor().backward()").replace("BATCH", "batch");
    let by_itself: String =
        by_itself.lines().filter(|line| !line.starts_with("optimizers")).map(|line| format!("{line}\n")).collect();
    let stage = Stage::new(&by_itself.replace("for optimizer in optimizers:", "if step >= 0:"));
    let report = reported(&stage, &["--card", "custom:2GiB"]);
    assert_eq!(report["steps"], 2);
    assert_eq!(report["smallest_set"], json!(["offload-activations"]));
}

#[test]
fn what_yields_where_memory_is_short_fits_and_a_smaller_batch_is_named() {
    // As cuDNN does with workspaces.
    let workspace = "        loss.backward()\n        try:\n            space = torch.Block(3 << 30)\n        \
        except torch.OutOfMemoryError:\n            space = torch.Block(1 << 30)\n        del space\n";
    let stage = Stage::new(&TRAINING.replace("        loss.backward()\n", workspace).replace("= 8", "= 4"));
    let report = reported(&stage, &["--card", "custom:4GiB"]);
    assert_eq!(report["baseline"]["peak_reserved_bytes"], 5_u64 << 30, "on a larger card");
    assert_eq!((&report["baseline"]["fits"], &remedy(&report, "microbatch-2")["fits"]), (&json!(true), &json!(true)));
    let told = fix(&stage, &["--card", "custom:4GiB"]).stdout;
    assert!(told.contains("note: peaks are those on a larger card"), "{told}");
    let whole = TRAINING.replace("BATCH << 28", "BATCH << 30").replace("= 8", "= 5");
    let ran = fix(&Stage::new(&whole), &["--card", "custom:4GiB"]);
    let says = "nothing that was tried makes it fit; with foreach-off it takes 6.00 GiB; a batch of 1 fits; as it";
    ran.check(0, &[says]);
    assert!(!ran.text.contains("in a place that is known: name it"), "5 has no half, and is known: {}", ran.text);
}

#[test]
fn one_remedy_leaves_its_snapshot_and_a_batch_is_where_the_knob_says() {
    let stage = Stage::new(TRAINING);
    let ran = fix(&stage, &["--card", "custom:4096MiB", "--try", "foreach-off+microbatch-2"]);
    ran.check(0, &["peak reserved 2.00 GiB of 4.00 GiB: it fits so far"]);
    assert_eq!(stage.snapshots(), ["train.foreach-off+microbatch-2.pickle"]);
    let ran = fix(&stage, &["--try", "magic"]);
    ran.check(2, &["there is no remedy `magic`", "use names of the table: expandable-segments, "]);
    let script = TRAINING.replace("BATCH", "PICTURES");
    let stage = Stage::new(&script);
    let plain = reported(&stage, &["--card", "custom:4GiB"]);
    assert_eq!(plain["largest_batch"], Value::Null);
    let note = plain["notes"].to_string();
    assert!(note.contains("name it with --knob, such as --knob '--batch-size 1..64'"), "{note}");
    let knob = reported(&stage, &["--card", "custom:4GiB", "--knob", "PICTURES=1..8"]);
    let lines = remedy(&knob, "microbatch-2")["lines"].as_array().expect("lines");
    assert!(lines.contains(&json!("PICTURES = 4")), "{lines:?}");
    assert_eq!(knob["largest_batch"], 8, "the range ends there");
    fix(&stage, &["--knob", "PICTURES"]).check(2, &["expected '--batch-size 1..64' or 'BATCH=1..64'"]);
}

#[test]
fn the_size_is_read_from_arguments_and_loaders() {
    let words_with = |script: &str, more: &[&str]| {
        let stage = Stage::new(script);
        let command = [&["--try", "microbatch-2", "--json", "--", "python3", "train.py"], more].concat();
        let ran = Ran::of(&stage.named("fix", &command).output().expect("the command to start"));
        let report: Value = serde_json::from_str(&ran.stdout).expect("one document");
        let edits = report["runs"][0]["remedies"]["microbatch-2"]["lines"].as_array().expect("edits").clone();
        edits.iter().map(|edit| edit["text"].as_str().expect("a text").to_owned()).collect::<Vec<_>>()
    };
    let words = |script: &str| words_with(script, &[]);
    let own_reader = "import sys\n\nBATCH, ACCUMULATE = 1, 1\nfor word in sys.argv[1:]:\n    \
        name, value = word[2:].split('=')\n    globals()[name] = int(value)\n";
    let by_word = TRAINING.replace("BATCH = 8\n", own_reader);
    assert_eq!(words_with(&by_word, &["--BATCH=16", "--BATCH=8"])[0], "--BATCH=4", "the last one counts");
    let more = &["--BATCH=8", "--ACCUMULATE=3"];
    assert_eq!(words_with(&by_word, more), ["--BATCH=4", "--ACCUMULATE=6"]);
    let in_constants = own_reader.replace("BATCH, ACCUMULATE = 1, 1", "BATCH = 1\nACCUMULATE = 5 * 8");
    let by_both = TRAINING.replace("BATCH = 8\n", &in_constants);
    assert_eq!(words_with(&by_both, &["--BATCH=8"]), ["--BATCH=4", "ACCUMULATE = 80"]);
    let options = "PARSER = argparse.ArgumentParser()\n\
        PARSER.add_argument('--batch-size', type=int, default=8)\n\
        PARSER.add_argument('--grad-accum', type=int, default=1)\n\
        ARGS = PARSER.parse_args()\n";
    let by_argument = TRAINING.replace("BATCH = 8\n", options).replace("BATCH <<", "ARGS.batch_size <<");
    assert_eq!(words(&by_argument), ["--batch-size 4 --grad-accum 2"], "the script's own accumulation is used");
    let loop_over = "    loader = torch.utils.data.DataLoader(range(800), 8)\n    for size in loader:\n";
    let by_loader = TRAINING.replace("    for step in range(steps):\n", loop_over).replace("BATCH <<", "size <<");
    let by_loader = by_loader.replace("BATCH = 8\n", "print('no size here')\n");
    assert_eq!(words(&by_loader)[0], "    loader = torch.utils.data.DataLoader(range(800), 4)");
    let in_head = by_loader.replace("    loader = torch.utils.data.DataLoader(range(800), 8)\n", "");
    let in_head = in_head.replace("in loader:", "in torch.utils.data.DataLoader(\n        range(800), 8\n    ):");
    assert_eq!(words(&in_head)[0], "    for size in torch.utils.data.DataLoader(range(800), 4):");
}

#[test]
fn runs_are_forks_of_a_process_that_has_imported_torch_and_take_turns_at_one_port() {
    // 2 GiB in a fork.
    let kept = "import torch\nkept = torch.Block((1 if torch.imported_by == os.getpid() else 2) << 30)\n";
    let peak = |before: &str, options: &[&str], variables: &[(&str, &str)]| {
        let stage = Stage::new(&format!("import os, time\n{before}{kept}"));
        let mut command = stage.named("fix", &[options, &["--json", "--", "python3", "train.py"]].concat());
        let ran = Ran::of(&command.envs(variables.iter().copied()).output().expect("the command to start"));
        let document: Value = serde_json::from_str(&ran.stdout).unwrap_or(Value::String(ran.text));
        document.pointer("/baseline/peak_live_bytes").map(|bytes| bytes.as_u64().expect("bytes") >> 30).ok_or(document)
    };
    assert_eq!(peak("", &[], &[]), Ok(2));
    assert_eq!(peak("", &[], &[("SNAPSCOPE_UNSHARED", "1")]), Ok(1));
    // Torch has read another environment by then.
    assert_eq!(peak("os.environ['TORCH_LOGS'] = 'all'\n", &[], &[]), Ok(1));
    assert_eq!(peak("import torch\ncompiled = torch.compile(print)\n", &[], &[]), Ok(1));
    // A module would not wait for runs, and this one never ends by itself.
    let endless =
        Stage::new("import torch\nkept = torch.Block(1 << 30)\nsgd = torch.optim.SGD()\nwhile True: sgd.step()\n");
    let mut module = endless.named("fix", &["--", "python3", "-m", "train"]);
    Ran::of(&module.output().expect("the command to start")).check(0, &["It needs 1.00 GiB"]);
    let refused = peak("held = b'1' * (1 << 29)\ntime.sleep(60)\n", &["--memory-limit", "300MiB"], &[]).unwrap_err();
    assert!(refused.to_string().contains("300 MiB of this machine's memory"), "{refused}");
    let bound = "import socket, time, torch\nlistener = socket.socket()\nlistener.bind(('127.0.0.1', 29517))\n\
        listener.listen()\ntorch.Block(1 << 30)\ntime.sleep(2)\n";
    fix(&Stage::new(bound), &[]).check(0, &["It needs 1.00 GiB"]);
}

#[test]
fn a_script_that_cannot_be_helped_is_told_in_a_sentence() {
    let fails = Stage::new("import torch\ntorch.Block(1 << 20)\nraise ValueError('no data')\n");
    fix(&fails, &[]).check(2, &["train.py as it is: ValueError at train.py:3: no data", "until it works"]);
    let trains_nothing = Stage::new("import torch\nkept = torch.Block(1 << 32)\n");
    let ran = fix(&trains_nothing, &["--card", "custom:4GiB"]);
    ran.check(0, &["nothing that was tried makes it fit", "note: the script ends without an optimizer step"]);
    let random = Stage::new("import os, torch\nkept = torch.Block(int.from_bytes(os.urandom(2), 'big') + 1 << 9)\n");
    fix(&random, &[]).check(0, &["the script is not deterministic: two runs of it differ from allocation 1 on"]);
    fix(&random, &["--", "no-such-program"]).check(2, &["no-such-program"]);
    // As cuDNN does with workspaces.
    let yields = Stage::new(
        "import torch\nkept = torch.Block(2 << 30)\ntry:\n    space = torch.Block(3 << 30)\n\
         except torch.OutOfMemoryError:\n    space = torch.Block(1 << 30)\n",
    );
    let told = fix(&yields, &["--card", "custom:4GiB"]).stdout;
    assert!(!told.contains("not deterministic"), "the card has no room for the larger one: {told}");
}
