//! Tests what lies beside a snapshot.

use super::Stage;
use crate::run::Ran;
use std::process::Command;

#[test]
fn a_sidecar_says_where_the_snapshot_is_from_without_secrets() {
    let stage = Stage::new("import snapscope, torch\nwith snapscope.record('out', run='a'): kept = torch.Block(5)\n");
    std::fs::create_dir_all(stage.scene.path(".git/refs/heads")).expect("room");
    stage.scene.write(".git/HEAD", "ref: refs/heads/main\n");
    stage.scene.write(".git/refs/heads/main", "0123456789abcdef0123456789abcdef01234567\n");
    let mut python = stage.python();
    python.env("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True").env("SECRET_TOKEN", "x");
    Ran::of(&python.output().expect("python3")).check(0, &[]);
    let sidecar = stage.sidecar("a.step0.end.json");
    assert_eq!(sidecar["commit"], "0123456789abcdef0123456789abcdef01234567");
    assert_eq!(sidecar["settings"]["PYTORCH_CUDA_ALLOC_CONF"], "expandable_segments:True");
    assert_eq!((&sidecar["torch"], &sidecar["reason"]), (&"2.11.0+fake".into(), &"end".into()));
    let card = &sidecar["cards"][0];
    let (used, outside) = (&card["used_bytes"], &card["outside_bytes"]);
    assert_eq!((&card["name"], used, outside), (&"Fake GPU".into(), &5.into(), &0.into()));
    assert!(sidecar["host"].is_string() && !sidecar.to_string().contains("SECRET_TOKEN"));
    let stage = Stage::new("import snapscope, torch\nwith snapscope.record('out', run='a'): kept = torch.Block(5)\n");
    // A repository of a stranger.
    stage.scene.write("id_rsa", "the text of another file\n");
    stage.scene.write(".git/HEAD", "ref: ../id_rsa\n");
    let (words, shown): (Vec<_>, Vec<_>) = WORDS.into_iter().unzip();
    Ran::of(&stage.python().args(&words).output().expect("python3")).check(0, &[]);
    let sidecar = stage.sidecar("a.step0.end.json");
    let command: Vec<_> = sidecar["command"].as_array().unwrap().iter().filter_map(|word| word.as_str()).collect();
    assert_eq!(command[command.len() - words.len()..], shown);
    assert!(sidecar["commit"].is_null(), "{sidecar}");
    // `/dev/zero` has no end.
    let refs = ["ref: /dev/zero\n", "ref: refs/../../../../../../../../../../dev/zero\n"];
    for (text, name) in refs.into_iter().zip(["a.step0.end2.json", "a.step0.end3.json"]) {
        stage.scene.write(".git/HEAD", text);
        Ran::of(&stage.python().output().expect("python3")).check(0, &[]);
        assert!(stage.sidecar(name)["commit"].is_null(), "{text}");
    }
}

/// Words of a command, and how a sidecar shows them.
const WORDS: [(&str, &str); 27] = [
    ("--hf-token", "--hf-token"),
    ("hf_abcdef", "*"),
    ("--api_key=sk1", "--api_key=*"),
    ("hf_ghi", "*"),
    ("--max-tokens", "--max-tokens"),
    ("512", "512"),
    ("--tokenizer", "--tokenizer"),
    ("x", "x"),
    ("--author", "--author"),
    ("x", "x"),
    ("--key-size", "--key-size"),
    ("3", "3"),
    ("--name=key", "--name=key"),
    ("/data/hf_cache", "/data/hf_cache"),
    ("postgres://u:hunter2@h/db", "postgres://*@h/db"),
    ("--accessToken=x", "--accessToken=*"),
    ("--hfToken", "--hfToken"),
    ("x", "*"),
    ("--pat", "--pat"),
    ("x", "*"),
    (r#"{"token":"x","n":2}"#, r#"{"token":*,"n":2}"#),
    ("Authorization:Bearer x", "Authorization:*"),
    ("Authorization:Bearer", "Authorization:*"),
    ("x", "*"),
    ("train --auth x --n 3; PGPASSWORD=x psql", "train --auth * --n 3; PGPASSWORD=* psql"),
    ("xapp-1 nvapi-x AIzaSy eyJhbGci.eyJz.x", "* * * *"),
    ("--password", "--password"),
];

#[test]
fn holders_are_named() {
    let stage = Stage::new(
        "import snapscope, torch\n\
         class Trainer:\n    seen = [torch.Block(80)]\n    def __init__(self):\n        self.losses = []\n        self.best = {'x': {'y': [torch.Block(70)]}}\n\
         def closure():\n    block = torch.Block(7)\n    return lambda: block\n\
         hook, cache = closure(), {}\n\
         def train():\n    \
         trainer = Trainer()\n    \
         for i in range(3):\n        \
         trainer.losses.append(torch.Block(1 << 20))\n        cache[i] = torch.Block(100)\n        \
         torch.optim.SGD().step()\n        cycle = [torch.Block(9)]\n        cycle.append(cycle)\n        del cycle\n        \
         snapscope.step()\n\
         with snapscope.record('out', run='a', holders=True, every=1): train()\n",
    );
    let ran = stage.run();
    assert_eq!((ran.status, ran.text.as_str()), (Some(0), ""));
    let found = stage.sidecar("a.step3.every.json")["holders"].clone();
    let first = &found["held"][0];
    assert_eq!(first["holder"], "trainer (local of train, train.py).losses[…]", "{found}");
    assert_eq!((&first["tensors"], &first["grown_bytes"]), (&3.into(), &(1 << 20).into()), "{found}");
    let holders: Vec<_> = found["held"].as_array().unwrap().iter().filter_map(|row| row["holder"].as_str()).collect();
    assert!(holders.contains(&"__main__.cache[…]"), "{holders:?}");
    assert!(holders.iter().any(|holder| holder.contains("(closure block)")), "{holders:?}");
    assert!(holders.contains(&"class __main__.Trainer.seen[…]"), "{holders:?}");
    // The way to it ends at an object that leads to others by a shorter way.
    assert!(holders.contains(&"trainer (local of train, train.py).best['x']['y'][…]"), "{holders:?}");
    assert_eq!((&found["cycles"][0]["holder"], &found["cycles"][0]["bytes"]), (&"list[…]".into(), &9.into()));
}

/// Checks what `snapscope diagnose` says about a snapshot.
#[track_caller]
fn check_diagnosis(stage: &Stage, snapshot: &str, parts: &[&str]) {
    let mut diagnose = Command::new(testkit::server::snapscope());
    diagnose.arg("diagnose").arg(stage.scene.path(snapshot));
    let found = Ran::of(&diagnose.output().expect("snapscope"));
    found.check(found.status.unwrap_or_default(), parts);
}

#[test]
fn a_finding_names_the_holder_or_the_reference_cycle() {
    let stage = Stage::new(
        "import snapscope, torch\n\
         def train():\n    \
         cache = {}\n    \
         for i in range(6):\n        \
         cache[i] = torch.Block(1 << 20)\n        torch.optim.SGD().step()\n        snapscope.step()\n    \
         snapscope.dump()\n\
         with snapscope.record('out', run='a', holders=True): train()\n",
    );
    stage.run().check(0, &[]);
    let held = ["Look at `cache (local of train, train.py)[…]`", "it held 6 of these allocations"];
    check_diagnosis(&stage, "out/a.step6.asked.pickle.gz", &held);
    let stage = Stage::new(
        "import gc, snapscope, torch\n\
         class Node:\n    def __init__(self): self.block, self.own = torch.Block(1 << 20), self\n\
         gc.disable()\n\
         with snapscope.record('out', run='a', holders=True):\n    \
         for i in range(6):\n        \
         Node()\n        torch.optim.SGD().step()\n        snapscope.step()\n",
    );
    stage.run().check(0, &[]);
    let cycle = ["Break the reference cycle with `__main__.Node.block`", "nothing else held 6 of these"];
    check_diagnosis(&stage, "out/a.step6.end.pickle.gz", &cycle);
}

#[test]
fn a_search_leaves_the_sidecar_and_holds_nothing() {
    let script = "import snapscope, torch\n\
         with snapscope.record('out', run='a', holders=True):\n    \
         kept = torch.Block(5)\n    \
         try: torch.Block(1 << 50)\n    except torch.OutOfMemoryError: pass\n";
    let stage = Stage::new(script);
    let ran = stage.run();
    assert_eq!((ran.status, ran.text.as_str()), (Some(0), ""));
    let sidecar = stage.sidecar("a.step0.out-of-memory.json");
    assert_eq!(sidecar["holders"]["held"][0]["tensors"], 1);
    let broken = "import gc\ndef fail(): raise MemoryError('host')\ngc.get_objects = fail\n";
    let stage = super::warns(&format!("{broken}{script}"), "holders failed");
    assert!(stage.sidecar("a.step0.out-of-memory.json")["holders"].is_null());
    let stage = Stage::new(
        "import gc, snapscope, torch, weakref\n\
         def train():\n    block = torch.Block(5)\n    snapscope.dump()\n    seen = weakref.ref(block)\n    del block\n    \
         assert seen() is None\n\
         with snapscope.record('out', run='a', holders=True): train()\n",
    );
    stage.run().check(0, &[]);
}

#[test]
fn frameworks_call_back() {
    let stage = Stage::new(
        "import sys, types, torch, snapscope\n\
         class Base: pass\n\
         sys.modules['transformers'] = types.SimpleNamespace(TrainerCallback=Base)\n\
         sys.modules['lightning'] = sys.modules['lightning.pytorch'] = types.SimpleNamespace(Callback=Base)\n\
         trainer = snapscope.callbacks.transformers('out', run='trainer')\n\
         trainer.on_train_begin(None, None, None)\nkept = torch.Block(5)\n\
         trainer.on_step_end(None, None, None)\ntrainer.on_train_end(None, None, None)\n\
         lightning = snapscope.callbacks.lightning('out', run='lightning')\n\
         lightning.on_fit_start(None, None)\nlightning.on_fit_end(None, None)\n\
         class Accelerator:\n    def end_training(self): return 'ended'\n\
         accelerator = Accelerator()\n\
         snapscope.callbacks.accelerate(accelerator, 'out', run='accelerate')\n\
         assert accelerator.end_training() == 'ended'\n",
    );
    let ran = stage.run();
    assert_eq!((ran.status, ran.text.as_str()), (Some(0), ""));
    let snapshots: Vec<_> = stage.names().into_iter().filter(|name| name.ends_with("gz")).collect();
    let expected = ["accelerate.step0.end", "lightning.step0.end", "trainer.step1.end"];
    assert_eq!(snapshots, expected.map(|name| format!("{name}.pickle.gz")));
}

#[test]
fn a_notebook_shows_the_page() {
    let stage = Stage::new(
        "import snapscope, torch\nwith snapscope.record('out', run='a') as r: kept = torch.Block(5)\n\
         page = snapscope.show(r.path)._repr_html_()\nassert '<iframe srcdoc=' in page and 'train.py' in page\n",
    );
    let mut python = stage.python();
    python.env("SNAPSCOPE_PROGRAM", testkit::server::snapscope());
    Ran::of(&python.output().expect("python3")).check(0, &[]);
}

#[test]
fn looking_for_holders_makes_no_cycle() {
    let stage = Stage::new(
        "import gc\nfrom snapscope import frames\nframes.locals_of_frames()\ngc.collect()\ngc.disable()\n\
         frames.locals_of_frames()\nprint('garbage:', gc.collect())\n",
    );
    stage.run().check(0, &["garbage: 0"]);
}
