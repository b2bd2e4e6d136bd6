//! Tests that the snapshot is there whatever ends the script, and that limits end it.

use std::process::{Child, Stdio};

use super::{Ran, Stage, lives};
use testkit::patience::{ask_until, wait_until};
use testkit::process::signal;

/// Uses CUDA, leaves its number in a file, and waits.
const WAITING: &str = "import os, time, torch\n\
    block = torch.Block(1 << 20)\n\
    open('pid', 'w').write(f'{os.getpid()}\\n')\n\
    time.sleep(100)\n";

#[track_caller]
fn start(stage: &Stage, options: &[&str]) -> Child {
    let mut command = stage.command(options);
    command.args(["--", "python3", "train.py"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command to start")
}

/// Waits until the script has written a file, and returns its text.
#[track_caller]
fn await_file(stage: &Stage, name: &str) -> String {
    let text = || std::fs::read_to_string(stage.scene.path(name)).unwrap_or_default();
    ask_until(text, |text| text.ends_with('\n')).trim().to_owned()
}

#[track_caller]
fn end(child: Child) -> Ran {
    Ran::of(&child.wait_with_output().expect("the command to end"))
}

#[test]
fn whatever_ends_a_script_leaves_the_snapshot_and_nothing_running() {
    let stage = Stage::new(WAITING);
    let child = start(&stage, &[]);
    let script = await_file(&stage, "pid");
    assert!(signal("INT", child.id()));
    end(child).check(0, &["interrupted after 0 steps", "it fits so far"]);
    assert!(!lives(&script));
    assert_eq!(stage.snapshots(), ["train.pickle"]);
    let stage = Stage::new(WAITING);
    let child = start(&stage, &[]);
    assert!(signal("TERM", await_file(&stage, "pid")));
    end(child).check(3, &["ended by a signal after 0 steps", "snapscope diagnose train.pickle"]);
    let stage = Stage::new(WAITING);
    let child = start(&stage, &[]);
    let script = await_file(&stage, "pid");
    wait_until("there is a snapshot while the script runs", || stage.snapshots() == ["train.pickle"]);
    assert!(signal("KILL", script));
    end(child).check(3, &["exit status 137", "snapscope diagnose train.pickle"]);
    let stage = Stage::new(WAITING);
    let mut child = start(&stage, &[]);
    let script = await_file(&stage, "pid");
    assert!(signal("KILL", child.id()));
    child.wait().expect("the command to end");
    wait_until("the script ends", || !lives(&script));
    assert_eq!(stage.snapshots(), ["train.pickle"]);
}

#[test]
fn time_memory_disk_and_steps_end_a_script() {
    let stage = Stage::new(WAITING);
    let runs = stage.document(&["--time", "2s"], 0);
    assert_eq!((&runs[0]["stopped"], &runs[0]["exit_status"]), (&"time".into(), &serde_json::Value::Null));
    let stage = Stage::new("import time, torch\ntime.sleep(100)\n");
    stage.run(&["--time", "1s"]).check(2, &["The script did not use CUDA within 1.00 s"]);
    let stage =
        Stage::new("import torch\nblock = torch.Block(5)\nkept = b'x' * (300 << 20)\nimport time; time.sleep(100)\n");
    stage.run(&["--memory-limit", "200MiB"]).check(3, &["it took more than 200 MiB of this machine's memory"]);
    let stage = Stage::new(
        "import os, torch\n\
         block = torch.Block(5)\n\
         with open('big', 'wb') as big:\n    \
         while True: big.write(bytes(1 << 20)); big.flush(); os.fsync(big.fileno())\n",
    );
    stage.run(&["--disk-limit", "20MiB"]).check(3, &["it wrote more than 20.0 MiB to the disk"]);
    let stage = Stage::new(
        "import torch\noptimizer = torch.optim.SGD()\nblock = torch.Block(5)\nwhile True: optimizer.step()\n",
    );
    stage.run(&["--steps", "3"]).check(0, &["stopped after 3 steps, as asked"]);
}

/// A step is over once all optimizers of the step before have taken it, such as those of each parameter in backward.
#[test]
fn a_step_ends_with_its_last_optimizer() {
    let stage = Stage::new(
        "import torch\na, b, c = (torch.optim.Optimizer() for _ in range(3))\n\
         for step in range(9):\n    a.step()\n    kept = torch.Block(1 << 20 + step)\n    b.step()\n    del kept\n    \
         if step == 0: c.step()\n",
    );
    let peak = |steps: &str| {
        let runs = stage.document(&["--steps", steps], 0);
        (runs[0]["steps"].clone(), runs[0]["peak_live_bytes"].clone())
    };
    // The third optimizer steps only once: it is not waited for longer than until the next step.
    assert_eq!([peak("2"), peak("4")], [2, 4].map(|steps: u64| (steps.into(), (1_u64 << (19 + steps)).into())));
}
