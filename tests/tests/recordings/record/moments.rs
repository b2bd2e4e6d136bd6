//! Tests when snapshots are written.

use super::{Stage, names, warns};
use testkit::patience::wait_until;

/// Five steps, each of which keeps a block.
const LOOP: &str = "\
kept, optimizer = [], torch.optim.SGD()
def train():
    for i in range(5):
        kept.append(torch.Block(1 << 20))
        optimizer.step()
";

fn script(rest: &str) -> String {
    format!("import snapscope, torch\n{LOOP}{rest}")
}

#[test]
fn blocks_functions_and_programs_are_recorded_to_their_end() {
    let stage = Stage::new(&script("with snapscope.record('out', run='a') as r: train()\nprint(r.path)\n"));
    let ran = stage.run();
    ran.check(0, &["out/a.step5.end.pickle.gz"]);
    assert_eq!(stage.names(), ["a.step5.end.json", "a.step5.end.pickle.gz"]);
    // What comes after the last step is no step.
    assert_eq!(stage.events("a.step5.end.pickle.gz"), (5, 10));
    let found =
        names(&script("record = snapscope.record('out', run='a', compress=False)\nrecord(train)()\nrecord(train)()\n"));
    let expected = ["a.step5.end.json", "a.step5.end.pickle", "a.step5.end2.json", "a.step5.end2.pickle"];
    assert_eq!(found, expected);
    let found = names(&script("snapscope.start('out', run='a')\ntrain()\n"));
    assert_eq!(found, ["a.step5.end.json", "a.step5.end.pickle.gz"]);
}

#[test]
fn a_window_has_only_its_steps_and_one_that_never_begins_is_told() {
    let stage = Stage::new(&script("with snapscope.record('out', run='a', steps='2..4'): train()\n"));
    stage.run().check(0, &[]);
    assert_eq!(stage.names(), ["a.step4.window.json", "a.step4.window.pickle.gz"]);
    assert_eq!(stage.events("a.step4.window.pickle.gz"), (2, 4));
    let script = script("with snapscope.record('out', run='a', steps='7..9'): train()\n");
    let stage = warns(&script, "recording begins after step 7, and 5 were counted");
    assert!(stage.names().is_empty(), "{:?}", stage.names());
}

#[test]
fn marked_steps_count_and_only_the_latest_of_every_step_are_kept() {
    let found = names(&script(
        "with snapscope.record('out', run='a', steps=2):\n    for i in range(3):\n        snapscope.step()\n        train()\n",
    ));
    assert_eq!(found, ["a.step2.window.json", "a.step2.window.pickle.gz"]);
    let found = names(&script("with snapscope.record('out', run='a', every=1, keep=2): train()\n"));
    let snapshots: Vec<_> = found.iter().filter(|name| name.contains("pickle")).collect();
    assert_eq!(snapshots, ["a.step4.every.pickle.gz", "a.step5.end.pickle.gz", "a.step5.every.pickle.gz"]);
    assert_eq!(found.len(), 6);
}

#[test]
fn a_signal_writes_and_still_does_what_it_did() {
    let found = names(&script(
        "import os, signal\nseen = []\nsignal.signal(signal.SIGUSR1, lambda *_: seen.append(1))\n\
         with snapscope.record('out', run='a', signal='USR1'):\n    \
         train()\n    os.kill(os.getpid(), signal.SIGUSR1)\n    assert seen\n    train()\n\
         os.kill(os.getpid(), signal.SIGUSR1)\nassert len(seen) == 2\n",
    ));
    assert_eq!(found.iter().filter(|name| name.contains("pickle")).count(), 2);
    assert!(found.contains(&"a.step5.signal.pickle.gz".to_owned()), "{found:?}");
    let stage = Stage::new(&script(
        "import os, signal\nsnapscope.start('out', run='a', signal='TERM')\ntrain()\nos.kill(os.getpid(), signal.SIGTERM)\n\
         import time; time.sleep(60)\n",
    ));
    let ran = stage.run();
    assert_eq!((ran.status, ran.text.as_str()), (None, ""));
    assert_eq!(stage.names(), ["a.step5.signal.json", "a.step5.signal.pickle.gz"]);
}

#[test]
fn a_file_that_appears_writes_and_a_killed_program_leaves_its_last_snapshot() {
    let found = names(&script(
        "import os, time\n\
         with snapscope.record('out', run='a', trigger='now'):\n    \
         train()\n    open('now', 'w').close()\n    limit = time.time() + 30\n    \
         while not os.path.exists('out/a.step5.trigger.pickle.gz') and time.time() < limit: time.sleep(0.01)\n",
    ));
    assert!(found.contains(&"a.step5.trigger.pickle.gz".to_owned()), "{found:?}");
    let stage = Stage::new(&script(
        "import time\nsnapscope.start('out', run='a', seconds=0.05)\ntrain()\nopen('started', 'w').close()\ntime.sleep(60)\n",
    ));
    let mut child = stage.python().spawn().expect("python3");
    wait_until("there is a snapshot", || {
        stage.scene.path("started").exists() && stage.names().iter().any(|name| name.ends_with(".gz"))
    });
    child.kill().expect("a child");
    child.wait().expect("a child");
    let names = stage.names();
    let last = names.iter().find(|name| !name.starts_with('.') && name.contains(".pickle")).expect("a snapshot");
    assert!(stage.events(last).0 > 0);
}

#[test]
fn memory_that_runs_out_is_recorded_before_anything_unwinds_at_most_three_times() {
    let stage = Stage::new(&script(
        "def fill():\n    local = [torch.Block(1 << 20)]\n    local.append(torch.Block(1 << 50))\n\
         with snapscope.record('out', run='a'):\n    train()\n    fill()\n",
    ));
    stage.run().check(1, &["CUDA out of memory"]);
    assert_eq!(stage.names(), ["a.step5.out-of-memory.json", "a.step5.out-of-memory.pickle.gz"]);
    // Nothing has been freed.
    assert_eq!(stage.events("a.step5.out-of-memory.pickle.gz").0, 6);
    assert_eq!(stage.sidecar("a.step5.out-of-memory.json")["out_of_memory"][0]["requested"], 1_u64 << 50);
    let stage = super::warns(
        &script(
            "with snapscope.record('out', run='a'):\n    for i in range(9):\n        \
             try: torch.Block(1 << 50)\n        except torch.OutOfMemoryError: optimizer.step()\n",
        ),
        "memory ran out more than 3 times",
    );
    assert_eq!(stage.names().iter().filter(|name| name.contains("out-of-memory.pickle")).count(), 3);
    let caught = "snapscope.start('out', run='a')\ntry: torch.Block(1 << 50)\nexcept torch.OutOfMemoryError: pass\n";
    assert!(names(&script(caught)).contains(&"a.step0.end.pickle.gz".to_owned()));
    let stage = Stage::new(&script("snapscope.start('out', run='a')\ntorch.Block(1 << 50)\n"));
    stage.run().check(1, &["CUDA out of memory"]);
    assert_eq!(stage.names(), ["a.step0.out-of-memory.json", "a.step0.out-of-memory.pickle.gz"]);
}
