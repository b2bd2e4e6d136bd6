//! Tests `snapscope record`.

use std::process::Stdio;

use super::Stage;
use crate::run::Ran;
use testkit::patience::wait_until;
use testkit::process::signal;

const SCRIPT: &str = "import torch\noptimizer = torch.optim.SGD()\nkept = []\n\
    for i in range(4):\n    kept.append(torch.Block(5))\n    optimizer.step()\n";

#[track_caller]
fn record(stage: &Stage, options: &[&str]) -> Ran {
    Ran::of(&stage.record(options).output().expect("the command"))
}

#[test]
fn a_script_is_recorded_unchanged() {
    let stage = Stage::new(&format!("{SCRIPT}print('trained')\n"));
    let ran = record(&stage, &["-o", "out", "--run", "a", "--every", "3"]);
    ran.check(0, &["snapscope: out/a.step4.end.pickle.gz (", "snapscope diagnose out/a.step4.end.pickle.gz explains"]);
    assert_eq!(ran.stdout, "trained\n");
    assert_eq!(stage.names().len(), 4);
    // The folder of the package is gone.
    let command = stage.sidecar("a.step4.end.json")["command"].to_string();
    assert!(command.contains("train.py"), "{command}");
}

#[test]
fn the_exit_status_is_that_of_the_script() {
    record(&Stage::new(&format!("{SCRIPT}raise SystemExit(7)\n")), &["-o", "out"]).check(7, &["out/"]);
    record(&Stage::new("raise SystemExit(3)\n"), &[]).check(3, &["no snapshot was written"]);
    let mut command = Stage::new("").record(&[]);
    let stage = Stage::new("");
    Ran::of(
        &command.current_dir(stage.scene.path("")).args(["x"]).env("PATH", "/nowhere").output().expect("the command"),
    )
    .check(2, &["check the name of the program"]);
}

#[test]
fn options_reach_the_package() {
    let stage = Stage::new(SCRIPT);
    let options = ["-o", "out", "--run", "it's a", "--steps", "1..2", "--raw", "--no-host", "--ranks", "0,1"];
    record(&stage, &options).check(0, &[]);
    assert_eq!(stage.names(), ["it's a.step2.window.json", "it's a.step2.window.pickle"]);
    record(&stage, &["--steps", "5..2"]).check(2, &["steps are a range"]);
    record(&stage, &["--signal", "KILL"]).check(2, &["a signal is one of"]);
}

#[test]
fn signals_reach_the_script() {
    let stage = Stage::new(
        "import signal, sys, time, torch\nkept = torch.Block(5)\n\
         signal.signal(signal.SIGINT, lambda *_: sys.exit(9))\nopen('started', 'w').close()\n\
         while True: time.sleep(0.01)\n",
    );
    let mut command = stage.record(&["-o", "out", "--run", "a", "--signal", "USR1"]);
    let child =
        command.stdin(Stdio::null()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command");
    let await_path = |name: &str| wait_until(name, || stage.scene.path(name).exists());
    await_path("started");
    assert!(signal("USR1", child.id()));
    await_path("out/a.step0.signal.pickle.gz");
    assert!(signal("INT", child.id()));
    let ran = Ran::of(&child.wait_with_output().expect("the command"));
    ran.check(9, &["a.step0.signal.pickle.gz", "a.step0.end.pickle.gz explains the last one"]);
}

#[test]
fn packages_of_the_environment_work_and_asking_for_torch_is_not_importing_it() {
    let stage =
        Stage::new(&format!("import site_says\n{SCRIPT}import snapscope\nprint(site_says.word, snapscope.stop())\n"));
    stage.scene.write("site_says.py", "word = 'hello'\n");
    record(&stage, &["-o", "out", "--run", "a"]).check(0, &["hello", "out/a.step4.end.pickle.gz"]);
    let stage = Stage::new(&format!("import importlib.util\nimportlib.util.find_spec('torch')\n{SCRIPT}"));
    record(&stage, &["-o", "out", "--run", "a"]).check(0, &["out/a.step4.end.pickle.gz"]);
}
