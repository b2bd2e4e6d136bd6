//! Tests the options, from keywords and from the variable.

use super::{Stage, warns};
use crate::run::Ran;

const SCRIPT: &str = "import torch\noptimizer = torch.optim.SGD()\nkept = []\n\
    for i in range(4):\n    kept.append(torch.Block(5))\n    optimizer.step()\n";

/// Runs a script that imports the package, with the variable.
#[track_caller]
fn with_variable(text: &str) -> (Stage, Ran) {
    let stage = Stage::new(&format!("import snapscope\n{SCRIPT}"));
    let ran = Ran::of(&stage.python().env("SNAPSCOPE_RECORD", text).output().expect("python3"));
    (stage, ran)
}

#[test]
fn the_variable_has_the_same_options() {
    let (stage, ran) = with_variable("out run=a steps=1..3 compress=no host=no");
    assert_eq!(ran.text, "");
    assert_eq!(stage.names(), ["a.step3.window.json", "a.step3.window.pickle"]);
    assert!(stage.sidecar("a.step3.window.json").get("host").is_none());
    let (stage, _) = with_variable("0");
    assert!(!stage.scene.path("snapshots").exists());
    let (stage, _) = with_variable("1");
    assert!(stage.scene.path("snapshots").is_dir());
}

#[test]
fn trackers_of_the_program_get_the_figures() {
    const TRACKER: &str = "import sys, types\n\
        class SummaryWriter:\n    def add_scalar(self, name, value, step): print(name, value, step)\n    \
        def add_text(self, name, value, step): print(name, value.rsplit('/')[-1], step)\n\
        class Summary:\n    def update(self, values): print(sorted(values))\n\
        sys.modules['tensorboardX'] = types.SimpleNamespace(SummaryWriter=SummaryWriter)\n\
        sys.modules['wandb'] = types.SimpleNamespace(run=types.SimpleNamespace(summary=Summary()))\n\
        writer = SummaryWriter()\n";
    let told = |options: &str| {
        let stage = Stage::new(&format!("import snapscope\n{TRACKER}{SCRIPT}"));
        let ran = stage.python().env("SNAPSCOPE_RECORD", format!("out run=a {options}")).output().expect("python3");
        Ran::of(&ran).stdout
    };
    let all = told("");
    for line in [
        "snapscope/growth_bytes_per_step 5.0 4\n",
        "snapscope/peak_reserved_bytes 20 4\n",
        "snapscope/snapshot a.step4.end.pickle.gz 4\n",
        "['snapscope/growth_bytes_per_step', 'snapscope/peak_allocated_bytes', 'snapscope/peak_reserved_bytes', \
         'snapscope/snapshot']\n",
    ] {
        assert!(all.contains(line), "{line:?} in {all}");
    }
    assert_eq!(told("trackers=no"), "");
}

#[test]
fn the_file_of_the_environment_starts_it_without_an_import() {
    let stage = Stage::new(&format!(
        "import site, sys\nsite.addsitedir(sys.argv[1])\n{SCRIPT}assert 'snapscope' in sys.modules\n"
    ));
    let mut python = stage.python();
    python.arg(testkit::server::root().join("server/python")).env("SNAPSCOPE_RECORD", "out run=a");
    Ran::of(&python.output().expect("python3")).check(0, &[]);
    assert_eq!(stage.names(), ["a.step4.end.json", "a.step4.end.pickle.gz"]);
}

#[test]
fn a_wrong_value_leaves_the_default_and_texts_and_values_mean_the_same() {
    let stage = warns(
        "import snapscope, torch\nwith snapscope.record('out', run='a', steps='x'): kept = torch.Block(5)\n",
        "the option steps cannot be 'x'",
    );
    assert_eq!(stage.names().len(), 2);
    let stage = Stage::new(
        "from snapscope.options import of_keywords, of_text\n\
         text = of_text(\"'a folder' steps=2..5 entries=7 every=3 seconds=1.5 keep=4 signal=usr1 trigger=now \\\n\
         ranks=0,8 stacks=all frees=yes compress=no annotate=0 modules=1 holders=true run=x host=no trackers=no out_of_memory=off\")\n\
         import os, signal\n\
         value = of_keywords('a folder', dict(steps=(2, 5), entries=7, every=3, seconds=1.5, keep=4,\n    \
         signal=signal.SIGUSR1, trigger='now', ranks=[0, 8], stacks='all', frees=True, compress=False, annotate=False,\n    \
         modules=True, holders=True, run='x', host=False, trackers=False,\n    out_of_memory=False))\n\
         assert text == value, (text, value)\n\
         default = of_keywords('a', {})\n\
         for name in value.__dataclass_fields__:\n    assert getattr(value, name) != getattr(default, name), name\n\
         assert of_text('1 steps=3') == of_text('steps=3') == of_keywords('snapshots', dict(steps='3'))\n",
    );
    stage.run().check(0, &[]);
}
