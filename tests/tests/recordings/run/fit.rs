//! Tests `snapscope fit` with a command: the largest value of a placeholder, and the frontier of two.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::patience::ask_until;
use testkit::process::signal;

use super::{Ran, Stage, lives};

/// Takes 64 MiB for each sample of 1,024 tokens beside 100 MiB, for as many steps as its samples allow.
const TRAINING: &str = "import os, sys, torch\n\
    print('training', flush=True)\n\
    batch = int(os.environ.get('BATCH') or sys.argv[1])\n\
    length = int(sys.argv[2]) if len(sys.argv) > 2 else 1024\n\
    optimizer = torch.optim.SGD()\n\
    model = torch.Block(100 << 20)\n\
    if length > 4096: raise ValueError('too long')\n\
    left = int(os.environ.get('SAMPLES', 1000))\n\
    while left >= batch:\n    left -= batch\n    block = torch.Block(batch * length << 16)\n    optimizer.step()\n    del block\n";

const CARD: [&str; 2] = ["--card", "custom:1200MiB"];

fn fit(stage: &Stage, options: &[&str], command: &[&str]) -> Ran {
    Ran::of(&search(stage, options, command).output().expect("the command to start"))
}

fn search(stage: &Stage, options: &[&str], command: &[&str]) -> Command {
    let mut search = stage.named("fit", options);
    search.args(["--", "env"]).args(command);
    search
}

#[test]
fn the_largest_value_is_proven_by_the_next_in_forks_of_one_process() {
    let stage = Stage::new(TRAINING);
    let ran = fit(&stage, &CARD, &["python3", "train.py", "{}"]);
    ran.check(0, &["value 17 is the largest that fits", "custom:1200MiB · train.py · 4 runs of 2 steps"]);
    ran.check(0, &["value 17 fits: peak reserved 1.16 GiB of 1.17 GiB, 12.0 MiB free"]);
    ran.check(0, &["value 18 runs out of memory in step 1 of 2, train.py:11, allocating 1.12 GiB"]);
    ran.check(0, &["value 2 · 228 MiB reserved"]);
    assert!(!ran.text.contains("training"), "what the script prints is not shown: {}", ran.text);
    assert!(stage.snapshots().is_empty(), "snapshots are dropped");
    // Only forks have room.
    let stage = Stage::new(
        "import os, sys, torch\nkept = torch.Block(int(sys.argv[1]) << (30 if torch.imported_by == os.getpid() else 20))\n",
    );
    let command = [&CARD[..], &["--", "python3", "train.py", "{2..9}"]].concat();
    let ran = Ran::of(&stage.named("fit", &command).output().expect("the command to start"));
    ran.check(0, &["value 9 is the largest that fits", "4 runs"]);
}

#[test]
fn the_document_is_that_of_configs() {
    let stage = Stage::new(TRAINING);
    let options = [&CARD[..], &["--json"]].concat();
    let ran = fit(&stage, &options, &["BATCH={3..9}", "python3", "train.py"]);
    assert_eq!((ran.status, &ran.text), (Some(0), &ran.stdout), "nothing while it runs");
    let report: Value = serde_json::from_str(&ran.stdout).expect("one document");
    assert_eq!(report["variable"], "BATCH={}");
    assert_eq!((&report["batch"], &report["limit"], &report["gaps"]), (&json!(9), &json!(9), &json!([])));
    assert_eq!(report["memory_bytes"], 1200 << 20);
    let batches: Vec<_> = report["probes"].as_array().expect("runs").iter().map(|probe| &probe["batch"]).collect();
    assert_eq!(batches, [&json!(3), &json!(6), &json!(9)], "the peaks of the first two lead to the end");
    assert_eq!(report["probes"][2]["peak_reserved_bytes"], (100 + 9 * 64) << 20);
    let ran = fit(&stage, &CARD, &["BATCH={3..9}", "python3", "train.py"]);
    ran.check(0, &["BATCH=9 is the largest that fits", "note: BATCH=9 ends the range"]);
}

#[test]
fn what_fits_nowhere_or_fails_for_its_own_reason_is_told() {
    let ran = fit(&Stage::new(TRAINING), &["--card", "custom:256MiB"], &["python3", "train.py", "{3..9}"]);
    ran.check(0, &["value 3 does not fit", "value 3 runs out of memory in step 1 of 2"]);
    assert!(ran.text.contains("1 run of 2 steps"), "{}", ran.text);
    let stage = Stage::new(TRAINING);
    let ran = fit(&stage, &CARD, &["SAMPLES=10", "python3", "train.py", "{}"]);
    ran.check(0, &["value 5 is the largest that the script runs with, and it fits"]);
    ran.check(0, &["value 6 fails: it ended after 1 step where a smaller value made 2, perhaps for lack of data"]);
    let ran = fit(&stage, &CARD, &["python3", "train.py", "2", "{3..5}000"]);
    ran.check(0, &["4000 is the largest that the script runs with", "fails: ValueError at train.py:7: too long"]);
    let ran = fit(&stage, &CARD, &["python3", "-c", "exit('no such ' + '{}')"]);
    ran.check(2, &["the script ended with exit status 1 before it used CUDA: no such 1"]);
}

#[test]
fn commands_that_cannot_be_searched_are_refused_in_a_sentence() {
    let stage = Stage::new(TRAINING);
    let check = |command: &[&str], part: &str| fit(&stage, &CARD, command).check(2, &[part]);
    check(&["python3", "train.py"], "the command has no placeholder");
    check(&["python3", "{}", "{}", "{}"], "the command has 3 placeholders");
    check(&["python3", "train.py", "8", "9", "10"], "quote it: '{8..10}'");
    check(&["python3", "-c", "import torch; {}"], "the script ended without using CUDA");
    let same = "the value changes nothing: train.py has the same peak of 164 MiB reserved with";
    check(&["python3", "train.py", "1", "1024", "--seed", "{}"], &format!("{same} --seed 1, 2, 32, 512"));
    check(&["python3", "train.py", "1", "1024", "--seed", "{1..5}"], &format!("{same} --seed 1, 2, 5"));
    let config = fit(&stage, &["--seq-len", "5"], &["python3", "{}"]);
    config.check(2, &["'--seq-len <N>' cannot be used with '[COMMAND]...'"]);
}

#[test]
fn two_placeholders_are_a_frontier() {
    let stage = Stage::new(TRAINING);
    let command = ["python3", "train.py", "{}", "{512..8192}"];
    let ran = fit(&stage, &CARD, &command);
    ran.check(0, &["second first product peak reserved of the GPU the next"]);
    ran.check(0, &["first 34 second 512 · 1.16 GiB reserved"]);
    ran.check(0, &["512 34 17,408 1.16 GiB 99 % 35 runs out of memory in step 1 of 2, train.py:11"]);
    ran.check(0, &["1,024 17 17,408", "2,048 8 16,384", "4,096 4 16,384"]);
    ran.check(0, &["8,192 none 1 fails: ValueError at train.py:7: too long"]);
    let options = [&CARD[..], &["--json"]].concat();
    let report: Value = serde_json::from_str(&fit(&stage, &options, &command).stdout).expect("one document");
    assert_eq!((&report["batch"], &report["probes"]), (&Value::Null, &json!([])));
    let rows = report["frontier"]["rows"].as_array().expect("rows");
    // Each is proven by two runs, which the row before has led to.
    let runs: Vec<_> = rows.iter().map(|row| row["probes"].as_array().expect("runs").len()).collect();
    assert_eq!(runs[1..4], [2, 2, 2], "{rows:?}");
}

#[test]
fn an_interrupt_tells_what_is_known() {
    let waiting = "import os, time\n\
        if batch > 2: open('pid', 'w').write(f'{os.getpid()}\\n'); time.sleep(100)\n";
    let stage = Stage::new(&TRAINING.replace("optimizer = ", &format!("{waiting}optimizer = ")));
    let mut command = search(&stage, &CARD, &["python3", "train.py", "{}"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command to start");
    let text = || std::fs::read_to_string(stage.scene.path("pid")).unwrap_or_default();
    let script = ask_until(text, |text| text.ends_with('\n'));
    assert!(signal("INT", child.id()));
    let ran = Ran::of(&child.wait_with_output().expect("the command to end"));
    ran.check(2, &["value 2 fits, and nothing larger was tried", "the search was interrupted"]);
    assert!(!lives(&script));
}
