//! Tests that no failure inside of the hook reaches the script, by faults in each of its functions.

use std::collections::BTreeSet;

use super::{Ran, Stage};

/// Raises at the begin of the function that `FAULT` names, or lists the functions which the hook calls.
///
/// A function that PyTorch or the script calls is where its own errors are caught.
const FAULTS: &str = "import atexit, os, sys, threading\n\
    called = set()\n\
    def trace(frame, event, argument):\n    \
    code, above = frame.f_code, frame.f_back\n    \
    inside = [f is not None and '/hook/snapscope_' in f.f_code.co_filename for f in (frame, above)]\n    \
    if all(inside) and not code.co_filename.endswith('/notices.py') and code.co_name[0] != '<':\n        \
    called.add(f'{os.path.basename(code.co_filename)}:{code.co_name}')\n        \
    if f'{os.path.basename(code.co_filename)}:{code.co_name}' == os.environ.get('FAULT'): raise RuntimeError('a fault')\n\
    if 'FAULT' not in os.environ: atexit.register(lambda: print('called', *sorted(called)))\n\
    threading.settrace(trace)\nsys.settrace(trace)\n";

/// Meets everything that PyTorch and scripts call of the hook.
const SCRIPT: &str = "import torch\n\
    kept = [torch.Block(1 << 30)]\n\
    torch.optim.SGD().step()\n\
    torch.cuda.memory._record_memory_history()\n\
    more = torch.Block(7)\n\
    print('sees', bool(torch.cuda.memory._snapshot()['device_traces'][0]))\n\
    torch.cuda.memory.reset_peak_memory_stats()\n\
    torch.cuda.memory._record_memory_history(None)\n\
    for take in (torch.Block, kept[0].backward):\n    \
    try: take(1 << 40)\n    \
    except torch.OutOfMemoryError: print('caught')\n\
    print('the end')\n";

#[track_caller]
fn run(fault: Option<&str>) -> Ran {
    let stage = Stage::new(&format!("{FAULTS}{SCRIPT}"));
    let mut command = stage.command(&[]);
    command.envs(fault.map(|name| ("FAULT", name))).args(["--", "python3", "train.py"]);
    Ran::of(&command.output().expect("the command to start"))
}

#[test]
fn a_fault_in_any_function_of_the_hook_is_no_error_of_the_script() {
    let ran = run(None);
    ran.check(1, &["it does not fit"]);
    let called = ran.text.lines().find_map(|line| line.strip_prefix("called ")).expect("a list");
    let called: BTreeSet<&str> = called.split(' ').collect();
    let met =
        ["recorder.py:_allocated", "lines.py:user_line", "snapshot.py:_write", "steps.py:_after", "history.py:cut"];
    assert!(met.iter().all(|name| called.contains(name)), "{called:?}");
    let called: Vec<&str> = called.into_iter().collect();
    std::thread::scope(|scope| {
        for part in called.chunks(called.len().div_ceil(4)) {
            scope.spawn(move || part.iter().for_each(|name| check(name)));
        }
    });
}

#[track_caller]
fn check(fault: &str) {
    let ran = run(Some(fault));
    let text = &ran.text;
    assert_eq!(text.matches("caught\n").count(), 2, "{fault}: {text}");
    assert!(text.contains("sees True") && text.contains("the end"), "{fault}: {text}");
    assert!(!text.contains("Traceback") && !text.contains("Exception ignored"), "{fault}: {text}");
    // The verdict is that of the script, or says what is missing.
    let said = ["Memory ran out", "A part of the recording failed", "cannot be recorded", "command imported PyTorch"];
    assert!(said.iter().any(|part| text.contains(part)), "{fault}: {text}");
}

#[test]
fn warnings_and_the_last_traceback_name_the_script() {
    let stage = Stage::new(
        "import torch\n\
         block = torch.Block(5)\n\
         torch.cuda.memory.reset_peak_memory_stats()\n\
         def fail(): raise ValueError('of the script')\n\
         torch.cuda.memory.fail = fail\n\
         torch.cuda.memory.fail()\n",
    );
    let ran = stage.run(&[]);
    ran.check(3, &["train.py:3: UserWarning: peaks are reset", "ValueError: of the script"]);
    assert!(!ran.text.contains("/hook/"), "{}", ran.text);
}
