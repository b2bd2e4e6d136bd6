//! Tests that each failure of the recorder is one warning, and that the program goes on.

use super::{Stage, check_warning, names, warns};
use crate::run::Ran;

const TRAIN: &str = "with snapscope.record('out', run='a'):\n    kept = torch.Block(5)\nprint('trained')\n";

fn script(rest: &str) -> String {
    format!("import snapscope, torch\n{rest}")
}

/// Runs a script with a kind of small `torch`.
#[track_caller]
fn with(kind: &str, script: &str) -> (Stage, Ran) {
    let stage = Stage::new(script);
    let ran = Ran::of(&stage.python().env("FAKE_TORCH", kind).output().expect("python3"));
    (stage, ran)
}

#[test]
fn other_kinds_of_pytorch_and_none() {
    let (stage, ran) = with("cpu", "import snapscope\nwith snapscope.record('out'): print('trained')\n");
    check_warning(&ran, "this PyTorch is built without CUDA");
    assert!(ran.text.contains("trained") && stage.names().is_empty());
    let (stage, ran) = with("rocm", &script(TRAIN));
    assert_eq!((ran.text.trim(), stage.names().len()), ("trained", 2));
    let (stage, ran) = with("old", &script(&TRAIN.replace("Block(5)\n", "Block(5)\n    snapscope.step()\n")));
    assert_eq!(ran.text.trim(), "trained");
    assert_eq!(stage.events("a.step1.end.pickle.gz"), (1, 2));
    let (_, ran) = with("broken", "import snapscope\nwith snapscope.record('out'): print('trained')\n");
    check_warning(&ran, "PyTorch cannot be imported");
    let stage = Stage::new("import snapscope\nwith snapscope.record('out'): print('trained')\n");
    let package = testkit::server::root().join("server/python");
    let ran = Ran::of(&stage.python().env("PYTHONPATH", package).output().expect("python3"));
    if ran.text.contains("SnapscopeWarning: nothing was recorded") {
        // The machine's Python has a PyTorch.
        return;
    }
    check_warning(&ran, "PyTorch cannot be imported");
}

#[test]
fn recordings_and_histories_that_do_not_go_together() {
    warns("import snapscope, torch\nwith snapscope.record('out'): pass\n", "CUDA was not used");
    let inner = "with snapscope.record('out', run='a'):\n    \
                 with snapscope.record('out', run='b'): kept = torch.Block(5)\n";
    let stage = warns(&script(inner), "a recording is already going on");
    assert_eq!(stage.names().len(), 2);
    let stage = warns(
        &script(&format!(
            "torch.cuda.memory._record_memory_history()\n{TRAIN}assert torch._C._cuda_isHistoryEnabled()\n"
        )),
        "the history of memory was already on",
    );
    assert_eq!(stage.names().len(), 2);
    let ended = "with snapscope.record('out', run='a'):\n    kept = torch.Block(5)\n    \
                 torch.cuda.memory._record_memory_history(None)\n";
    warns(&script(ended), "the program has ended the history");
}

#[test]
fn what_cannot_be_kept_or_written() {
    let stage = warns(
        &script("with snapscope.record('out', run='a', entries=3):\n    kept = [torch.Block(5) for _ in range(9)]\n"),
        "more than 3 events",
    );
    assert_eq!(stage.sidecar("a.step0.end.json")["ring"]["is_full"], true);
    let stage = warns(
        &script("open('out', 'w').close()\nwith snapscope.record('out/x'): torch.Block(5)\n"),
        "cannot be written",
    );
    assert!(stage.scene.path("out").is_file());
    // A limit of the size of files fails as a full disk does.
    let full = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n\
                with snapscope.record('out', run='a', every=1):\n    kept = [torch.Block(5) for _ in range(999)]\n    \
                resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))\n    \
                torch.optim.SGD().step()\n    print('trained')\n    \
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n";
    let stage = warns(&script(full), "later ones are tried again");
    assert_eq!(stage.names(), ["a.step1.end.json", "a.step1.end.pickle.gz"]);
    let name = "f'out/.a.step0.end.pickle.{os.getpid()}.{bytes(8).hex()}.partial'";
    let linked = format!(
        "import os\nos.urandom = bytes\nos.mkdir('out')\nopen('kept', 'w').write('kept')\nos.symlink('../kept', {name})\n\
         {TRAIN}assert open('kept').read() == 'kept'\n"
    );
    warns(&script(&linked), "File exists");
}

#[test]
fn faults_in_what_pytorch_calls_are_caught_and_exceptions_pass_through() {
    let faults = "import snapscope.recorder as r\ndef fail(*args, **kwargs): raise RuntimeError('a fault')\n\
                  for name in ('_step', '_dump', '_record', 'dump', 'out_of_memory', 'stepped'):\n    \
                  kept = getattr(r.Recorder, name)\n    setattr(r.Recorder, name, fail)\n    \
                  with snapscope.record('out', every=1):\n        \
                  block = torch.Block(5)\n        torch.optim.SGD().step()\n        \
                  for take in (torch.Block, block.backward):\n            \
                  try: take(1 << 40)\n            \
                  except torch.OutOfMemoryError: print('caught')\n    \
                  setattr(r.Recorder, name, kept)\n";
    let ran = Stage::new(&script(faults)).run();
    ran.check(0, &["RuntimeError('a fault')"]);
    assert_eq!(ran.text.matches("caught").count(), 12, "{}", ran.text);
    let stage = Stage::new(&script("with snapscope.record('out', run='a'):\n    kept = torch.Block(5)\n    1 / 0\n"));
    stage.run().check(1, &["ZeroDivisionError"]);
    assert_eq!(stage.names(), ["a.step0.exception.json", "a.step0.exception.pickle.gz"]);
}

#[test]
fn functions_of_pytorch_that_fail_and_warnings_that_are_errors() {
    let broken = "def fail(*args, **kwargs): raise RuntimeError('driver')\ntorch.cuda.memory._snapshot = fail\n";
    let stage = warns(&script(&format!("{broken}{TRAIN}")), "RuntimeError('driver')");
    assert!(stage.names().is_empty());
    let broken = "def fail(*args, **kwargs): raise RuntimeError('driver')\ntorch.cuda._lazy_call = fail\n";
    warns(&script(&format!("{broken}{TRAIN}")), "RuntimeError('driver')");
    let stage = Stage::new(&script("with snapscope.record('out', colour='red'): kept = torch.Block(5)\n"));
    let ran = Ran::of(&stage.python().env("PYTHONWARNINGS", "error").output().expect("python3"));
    ran.check(0, &["snapscope: there is no option 'colour'"]);
    assert_eq!(stage.names().len(), 2);
}

#[test]
fn a_folder_of_another_time_keeps_its_files() {
    let twice = "for _ in range(2):\n    with snapscope.record('out', run='a'): kept = torch.Block(5)\n";
    let found = names(&script(twice));
    assert_eq!(found.iter().filter(|name| name.ends_with(".gz")).count(), 2, "{found:?}");
}
