//! Tests what the command says about scripts that fit, do not fit, fail, or are not understood.

use std::process::Command;

use serde_json::Value;
use testkit::server::snapscope;

use super::{Ran, Stage};

const TRAINING: &str = "import torch\n\
    def hold(): return torch.Block(1 << 30)\n\
    optimizer = torch.optim.SGD()\n\
    kept = [hold()]\n\
    for step in range(5):\n    activation = torch.Block(1 << 20)\n    optimizer.step()\n\
    print('the end')\n";

#[test]
fn a_script_that_fits_says_how_much_is_free() {
    let stage = Stage::new(TRAINING);
    let ran = stage.run(&["--card", "custom:4096MiB"]);
    let says = ["the end", "custom:4096MiB · train.py · torch 2.11.0+fake · ran to its end, 5 steps"];
    ran.check(0, &says);
    ran.check(0, &["peak reserved 1.00 GiB of 4.00 GiB: it fits, 3.00 GiB free", "snapscope diagnose train.pickle"]);
    let mut peak = Command::new(snapscope());
    peak.args(["peak", "--json"]).arg(stage.scene.path("train.pickle"));
    let inspected = Ran::of(&peak.output().expect("the command to start"));
    inspected.check(0, &["hold", "train.py"]);
    assert!(!inspected.text.contains("snapscope_run"), "the hook is in no stack: {}", inspected.text);
}

#[test]
fn the_document_has_the_promised_names() {
    let runs = Stage::new(TRAINING).document(&["--card", "t4-16gb", "--steps", "2"], 0);
    let keys: Vec<_> = runs[0].as_object().unwrap().keys().map(String::as_str).collect();
    let promised = [
        "capacity_bytes",
        "card",
        "cuda",
        "events",
        "exit_status",
        "peak_allocated_bytes",
        "peak_live_bytes",
        "peak_reserved_bytes",
        "rank",
        "seconds",
        "snapshot",
        "status",
        "steps",
        "torch",
        "unsupported",
        "values_read",
    ];
    assert!(promised.iter().all(|key| keys.contains(key)), "{keys:?}");
    let run = [&runs[0]["status"], &runs[0]["steps"], &runs[0]["stopped"]];
    assert_eq!(run, [&Value::from("fits"), &Value::from(2), &Value::from("steps")]);
    assert_eq!(runs[0]["snapshot"], "train.pickle");
}

#[test]
fn steps_of_an_optimizer_that_is_made_anew_add_up() {
    let steps = |script: &str| {
        let begin = "import torch\nweights = [torch.Block(1 << 20)]\n\
            def new(): return torch.optim.SGD(weights, foreach=False)\n";
        Stage::new(&format!("{begin}{script}")).document(&["--card", "t4-16gb"], 0)[0]["steps"].clone()
    };
    assert_eq!(steps("for _ in range(3):\n    one = new()\n    for _ in range(4): one.step()\n"), 12);
    assert_eq!(steps("for _ in range(5): new().step()\n"), 5);
    let wrapped = "class Wrap(torch.optim.Optimizer):\n    def step(self): self.inner.step()\n\
        outer = Wrap(weights)\nouter.inner = new()\nfor _ in range(6): outer.step()\n";
    assert_eq!(steps(wrapped), 6, "an optimizer within another takes the same steps");
    let two = "one, other = [torch.optim.SGD([torch.Block(1 << 20)], foreach=False) for _ in range(2)]\n";
    assert_eq!(steps(&format!("{two}for optimizer in [one, other] * 5: optimizer.step()\n")), 5, "of one training");
    let folds = format!("{two}for optimizer in [one] * 4 + [other] * 6: optimizer.step()\n");
    assert_eq!(steps(&folds), 10, "a training that follows another");
}

#[test]
fn events_that_are_lost_are_counted_and_a_script_sees_its_own() {
    let stage = Stage::new("import torch\nfor _ in range(5): block = torch.Block(1 << 20)\n");
    // Five allocations, and two events for each of the four blocks that are freed.
    stage.run(&["--max-events", "6"]).check(0, &["The snapshot lacks the first 7 events", "--max-events keeps more"]);
    let lost = |most: &str| stage.document(&["--max-events", most], 0)[0]["events_lost"].clone();
    assert_eq!((lost("6"), lost("14")), (7.into(), 0.into()));
    let stage = Stage::new(
        "import torch\n\
         kept = [torch.Block(5) for _ in range(4)]\n\
         torch.cuda.memory._record_memory_history()\n\
         more = [torch.Block(7) for _ in range(3)]\n\
         trace = torch.cuda.memory._snapshot()['device_traces'][0]\n\
         print('sees', [entry['size'] for entry in trace])\n",
    );
    stage.run(&["--max-events", "5"]).check(0, &["sees [7, 7, 7]", "lacks the first 2 events"]);
}

#[test]
fn the_output_of_the_script_is_not_in_the_document() {
    let stage = Stage::new(TRAINING);
    let ran = stage.run(&["--json"]);
    assert!(!ran.stdout.contains("the end") && ran.text.contains("the end"), "{}", ran.text);
}

#[test]
fn memory_that_runs_out_is_found_before_anything_unwinds_unless_the_script_goes_on() {
    let stage = Stage::new(
        "import torch\n\
         def hold(): return torch.Block(1 << 30)\n\
         def fill():\n    kept = []\n    while True: kept.append(hold())\n\
         fill()\n",
    );
    let ran = stage.run(&["--card", "custom:3500MiB"]);
    let says =
        ["it does not fit", "Memory ran out in step 1 at train.py:2: 1.00 GiB were requested, 428 MiB were free"];
    ran.check(1, &says);
    // The blocks are freed when the error leaves `fill`.
    let runs = stage.document(&["--card", "custom:3500MiB"], 1);
    assert_eq!((&runs[0]["events"], &runs[0]["status"]), (&3.into(), &"out-of-memory".into()));
    assert_eq!(runs[0]["ooms"][0]["function"], "hold");
    let stage = Stage::new(
        "import torch\n\
         loss = torch.Block(5)\n\
         try: loss.backward(1 << 40)\n\
         except torch.OutOfMemoryError: print('caught')\n",
    );
    stage.run(&[]).check(1, &["caught", "it does not fit", "Memory ran out in step 1 at train.py:3"]);
    let stage = Stage::new(
        "import torch\n\
         try: torch.Block(1 << 40)\n\
         except torch.OutOfMemoryError: pass\n\
         torch.optim.SGD().step()\n",
    );
    let says = [
        "it fits after 1 out-of-memory error",
        "The script went on with less memory after 1 out-of-memory error",
        "train.py:2",
    ];
    stage.run(&[]).check(0, &says);
    let with = |rest: &str| {
        let failed = "import torch\ntry: torch.Block(16 << 30)\nexcept torch.OutOfMemoryError: pass\n";
        Stage::new(&format!("{failed}{rest}")).run(&["--card", "t4-16gb"])
    };
    with("").check(1, &["it does not fit"]);
    with("for _ in range(200): torch.Block(5)\n").check(1, &["it does not fit"]);
    with("for _ in range(2): torch.Block(8 << 30)\n").check(0, &["it fits after 1 out-of-memory error"]);
    with("torch.Block(16 << 30)\n").check(1, &["it does not fit"]);
}

#[test]
fn failures_of_the_script_and_functions_that_are_not_modeled_are_named() {
    let stage = Stage::new("import torch\nblock = torch.Block(5)\nraise ValueError('bad data')\n");
    stage.run(&[]).check(3, &["exit status 1", "ValueError at train.py:3: bad data"]);
    let runs = stage.document(&[], 3);
    assert_eq!((&runs[0]["status"], &runs[0]["exit_status"]), (&"failed".into(), &1.into()));
    let stage = Stage::new("import torch, os\nblock = torch.Block(5)\nos._exit(7)\n");
    stage.run(&[]).check(3, &["The script ended with exit status 7"]);
    let stage = Stage::new(
        "import os, torch\n\
         block = torch.Block(5)\n\
         with open(os.environ['SNAPSCOPE_VIRTUAL_GPU_LOG'], 'a') as log:\n    \
         log.write('virtual GPU: cudaMemcpy3D (cudart) is not implemented; it failed with status 801\\n')\n\
         raise RuntimeError('CUDA error: operation not supported')\n",
    );
    let says = ["RuntimeError at train.py:5: CUDA error", "Not modeled, and refused by name: cudaMemcpy3D (cudart)"];
    stage.run(&[]).check(2, &says);
    assert_eq!(stage.document(&[], 2)[0]["unsupported"][0], "cudaMemcpy3D (cudart)");
    let stage = Stage::new(
        "import torch\nblock = torch.Block(5)\nraise ImportError('cuda_utils.so: undefined symbol: cuStreamIsCapturing')\n",
    );
    stage.run(&[]).check(2, &["ImportError at train.py:3: cuda_utils.so: undefined symbol: cuStreamIsCapturing"]);
}

#[test]
fn what_cannot_be_recorded_is_one_sentence() {
    let with = |kind: &str| {
        let stage = Stage::new("import torch\n");
        let mut command = stage.command(&[]);
        Ran::of(&command.env("FAKE_TORCH", kind).args(["--", "python3", "train.py"]).output().expect("it starts"))
    };
    with("cpu").check(2, &["PyTorch 2.11.0+fake is built without CUDA: install the wheel for CUDA"]);
    with("rocm").check(2, &["PyTorch 2.11.0+fake is built for AMD's GPUs"]);
    with("broken").check(2, &["PyTorch cannot be imported: ImportError: ", "undefined symbol: cuptiGetCallbackName"]);
    Stage::new("import torch\n").run(&[]).check(2, &["The script ended without using CUDA"]);
    Stage::new("print(1)\n")
        .run(&[])
        .check(2, &["no process of the command imported PyTorch".replacen('n', "N", 1).as_str()]);
    Stage::new("raise SystemExit(4)\n").run(&[]).check(3, &["exit status 4 before it used CUDA"]);
}

#[test]
fn wrong_options_are_refused_before_anything_runs() {
    let stage = Stage::new("open('ran', 'w')\n");
    stage.run(&["--card", "a100"]).check(2, &["write a100-40gb or a100-80gb", "snapscope cards"]);
    stage.run(&["-o", "no/such/folder/out.pickle"]).check(2, &["the folder no/such/folder cannot be written"]);
    stage.scene.write("weights.pickle", "the weights of a year");
    stage.run(&["-o", "weights.pickle"]).check(2, &["weights.pickle already exists and is not a snapshot"]);
    let missing = Ran::of(&stage.command(&["--", "no-such-program"]).output().expect("it starts"));
    missing.check(2, &["no-such-program: ", "check the name of the program"]);
    assert!(!stage.scene.path("ran").exists());
}

#[test]
fn a_snapshot_that_cannot_be_written_is_told() {
    let stage = Stage::new("import shutil, torch\nkept = torch.Block(1 << 30)\nshutil.rmtree('out')\n");
    std::fs::create_dir(stage.scene.path("out")).expect("room");
    stage.run(&["-o", "out/train.pickle"]).check(0, &["the script went on without it: the snapshot: [Errno 2]"]);
}

#[test]
fn several_cards_make_one_table() {
    let stage = Stage::new("import torch\nblock = torch.Block(15 << 30)\n");
    let ran = stage.run(&["--cards", "t4-16gb,l4-24gb"]);
    ran.check(1, &["t4-16gb", "out of memory train.t4-16gb.pickle", "15.0 GiB 22.0 GiB 0 fits train.l4-24gb.pickle"]);
    let ran = stage.run(&["--fit", "--cards", "a100-80gb,l4-24gb,a100-40gb,t4-16gb"]);
    ran.check(0, &["The smallest card that holds it is l4-24gb"]);
    assert!(!ran.text.contains("a100-40gb") && !ran.text.contains("t4-16gb"), "{}", ran.text);
    let stage = Stage::new("import torch\nblock = torch.Block(30 << 30)\n");
    stage.run(&["--fit", "--cards", "l4-24gb,t4-16gb"]).check(1, &["does not fit"]);
}

#[test]
fn asking_for_torch_is_not_importing_it() {
    let script =
        "import importlib.util\nassert importlib.util.find_spec('torch')\nimport torch\nkept = torch.Block(1 << 30)\n";
    Stage::new(script).run(&["--card", "t4-16gb"]).check(0, &["it fits"]);
}

#[test]
fn holders_of_what_grows_are_named_while_they_are_there() {
    let stage = Stage::new(
        "import torch\ndef train():\n    optimizer = torch.optim.SGD()\n    kept = []\n    for i in range(9):\n        \
         temporary = torch.Block(1 << 20)\n        kept.append(torch.Block(1 << 20))\n        optimizer.step()\n        \
         del temporary\ntrain()\nlate = torch.Block(1 << 20)\n",
    );
    stage.run(&[]).check(0, &["it fits"]);
    let output = Command::new(snapscope())
        .current_dir(stage.scene.top())
        .args(["peak", "train.pickle", "--filter", "held by kept (local of train, train.py)", "--json"])
        .output()
        .expect("the command");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    // After four steps: what came later, perhaps at the address of what was freed, has no name.
    assert_eq!((document["allocations"].as_u64(), document["bytes"].as_u64()), (Some(4), Some(4 << 20)), "{document}");
}

#[test]
fn a_line_that_is_noted_keeps_nothing_alive() {
    let stage = Stage::new(
        "import gc, torch\nfrom snapscope_run import lines\ngc.disable()\n\
         def read(block): return lines.user_line()\n\
         print(read(torch.Block(5 << 20)), torch.cuda.memory_allocated())\n",
    );
    stage.run(&[]).check(0, &["train.py', 4, 'read') 0"]);
}

#[test]
fn a_scripted_function_knows_wrapped_ones() {
    let stage = Stage::new(
        "import torch, types\nfrom snapscope_run.values import patch\n\
         known = {id(len): 'aten::len'}\n\
         find = lambda function: known.get(id(function))\n\
         add = lambda function, operator: known.update({id(function): operator})\n\
         torch.jit = types.SimpleNamespace(_builtins=types.SimpleNamespace(_find_builtin=find, _register_builtin=add))\n\
         owner = types.SimpleNamespace(len=len, sum=sum)\n\
         for name in ('len', 'sum'): patch.wrap(owner, name, lambda function: lambda result, *args: result)\n\
         kept = torch.Block(5 << 20)\nprint(owner.len([1, 2]), owner.sum([3]), find(owner.len), find(owner.sum))\n",
    );
    stage.run(&[]).check(0, &["2 3 aten::len None"]);
}
