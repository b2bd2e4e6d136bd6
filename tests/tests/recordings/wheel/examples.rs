//! Does with an installed wheel what README and `docs/` say, each example as it stands there.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::{env, fs};

use serde_json::Value;
use testkit::repro::check_output;
use testkit::server::root;

use super::Stage;
use crate::readme::example;

/// The user's function that the examples call.
const TRAIN: &str = "\
    import torch\n\
    def train(steps=12):\n    optimizer = torch.optim.SGD()\n    kept = []\n    \
    for _ in range(steps):\n        kept.append(torch.Block(1 << 18))\n        optimizer.step()\n";

/// First message of a client of the Model Context Protocol.
const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

#[track_caller]
pub(super) fn check(stage: &Stage) {
    let recording = example("python", "with snapscope.record");
    stage.write("train.py", &format!("{TRAIN}{recording}"));
    check_output(&shell(stage, "python train.py"), 0, &[], &[]);
    assert_eq!(snapshots(stage, ".step10.window.pickle.gz"), 1);
    assert_eq!(snapshots(stage, ".step10.window.json"), 1);

    let (_, decorator) = recording.split_once("also a decorator: ").expect("the decorator");
    let decorator = decorator.lines().next().unwrap_or_default();
    stage.write(
        "train.py",
        &format!("import snapscope\n{}train()\n", TRAIN.replace("def", &format!("{decorator}\ndef"))),
    );
    check_output(&shell(stage, "python train.py"), 0, &[], &[]);
    assert_eq!(snapshots(stage, ".pickle.gz"), 2);

    stage.write("train.py", &format!("{TRAIN}train()\n"));
    for (line, count) in example("sh", "train.py\nSNAPSCOPE_RECORD=").lines().zip(3..) {
        check_output(&shell(stage, line), 0, &[], &[]);
        assert_eq!(snapshots(stage, ".pickle.gz"), count, "{line}");
    }
    let first = example("sh", "snapscope open --text");
    let line = |begin: &str| first.lines().find(|line| line.starts_with(begin)).expect("README's line");
    check_output(&shell(stage, line("snapscope record")), 0, &[], &["snapscope diagnose"]);
    check_output(&shell(stage, line("snapscope run")), 0, &["t4-16gb", "it fits"], &[]);
    check_output(&shell(stage, line("snapscope open --text")), 0, &["train.py"], &[]);

    stage.write("conftest.py", &format!("import builtins\n{TRAIN}builtins.train = train\n"));
    stage.write("test_training.py", &example("python", "gpu_memory"));
    check_output(&shell(stage, "python -m pytest -p no:cacheprovider test_training.py"), 0, &["1 passed"], &[]);

    let settings: Value = serde_json::from_str(&example("json", "mcpServers")).expect("README's settings");
    let server = &settings["mcpServers"]["snapscope"];
    let words = [&server["command"], &server["args"][0]].map(|word| word.as_str().expect("a word"));
    let answer = shell(stage, &format!("printf '%s\\n' '{HELLO}' | {}", words.join(" ")));
    check_output(&answer, 0, &["serverInfo", "snapscope"], &[]);
}

/// Runs a line in the folder, with the environment's programs, the small `torch` and a pytest of the tests' own.
#[track_caller]
fn shell(stage: &Stage, line: &str) -> Output {
    let packages = [root().join("tests/data/run/site-packages"), root().join("target/pytest/site-packages")];
    let packages = packages.map(|folder| folder.canonicalize().expect("a folder of packages: run ./dev test"));
    let own = env::var_os("PATH").unwrap_or_default();
    let programs: Vec<PathBuf> = [stage.path("venv/bin")].into_iter().chain(env::split_paths(&own)).collect();
    let [programs, packages] = [programs, packages.into()].map(|paths| env::join_paths(paths).expect("a search path"));
    let variables = [
        ("PATH", Path::new(&programs)),
        ("PYTHONPATH", Path::new(&packages)),
        ("PYTHONDONTWRITEBYTECODE", Path::new("1")),
    ];
    stage.run("/bin/bash", &["-ec", line], &variables)
}

/// Returns the number of files in `snapshots` whose names end with a text.
fn snapshots(stage: &Stage, end: &str) -> usize {
    let entries = fs::read_dir(stage.path("snapshots")).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(end)).count()
}
