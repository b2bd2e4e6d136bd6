//! Tests comparisons of two commits.

use serde_json::Value;

use super::{Ran, Stage, keeps};

#[test]
fn growth_is_attributed_and_held_to_a_limit() {
    let stage = Stage::new(&[&keeps(100), &keeps(150)]);
    stage.run(&["--base", "HEAD~1"]).check(0, &["the peak changes by +50.0 MiB", "(train.py:2)", "+50×"]);
    let ran = stage.run(&["--base", "HEAD~1", "--max-growth", "10%", "--markdown", "report.md"]);
    ran.check(1, &["peak live memory grows by 50.0 MiB, more than the limit of 10 %"]);
    let report = stage.read("repository/report.md");
    let head = "### GPU memory of python3 train.py on a100-80gb: peak live memory grows by";
    assert!(report.starts_with(head), "{report}");
    for part in
        ["| peak live | 100 MiB | 150 MiB | +50.0 MiB | +50 % | more than the limit of 10 % |", "| +50.0 MiB | +50×"]
    {
        assert!(report.contains(part), "{part} in {report}");
    }
    stage.run(&["--base", "HEAD~1", "--max-growth", "50MiB"]).check(0, &["within the limit of 50.0 MiB"]);
    stage.run(&["--base", "HEAD~1", "--max-reserved-growth", "1MiB"]).check(1, &["peak reserved memory grows by"]);
}

#[test]
fn the_checkout_is_untouched_and_its_changes_count() {
    let stage = Stage::new(&[&keeps(100)]);
    stage.run(&["--base", "HEAD"]).check(0, &["the peak is the same"]);
    stage.scene.write("repository/train.py", &keeps(101));
    stage.run(&["--base", "HEAD", "-o", "out"]).check(0, &["the peak changes by +1.00 MiB", "with changes"]);
    assert_eq!(stage.read("repository/train.py"), keeps(101));
    assert_eq!(stage.git(&["status", "--porcelain"]), " M train.py\n?? out/\n");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(stage.scene.names("repository/out", ""), ["badge.svg", "base.pickle", "head.pickle"]);
    // Nothing is left in the folder for temporary files.
    let left = std::fs::read_dir(stage.scene.top()).unwrap().count();
    assert_eq!(left, 2, "the repository and the virtual GPU");
}

#[test]
fn a_document_has_both_runs_and_the_difference() {
    let stage = Stage::new(&[&keeps(1), &keeps(3)]);
    let ran = stage.run(&["--base", "HEAD~1", "--card", "t4-16gb", "--json"]);
    assert_eq!(ran.status, Some(0), "{}", ran.text);
    let document: Value = serde_json::from_str(&ran.stdout).expect("one document");
    assert_eq!(document["status"], "within-limits");
    assert_eq!((&document["base"]["run"]["card"], &document["head"]["run"]["events"]), (&"t4-16gb".into(), &3.into()));
    assert_eq!(document["comparison"]["delta_bytes"], 2 << 20);
    let peak = &document["peaks"][0];
    assert_eq!((&peak["of"], &peak["delta_bytes"]), (&"live".into(), &(2 << 20).into()));
}

#[test]
fn what_cannot_be_compared_is_named_and_a_head_without_memory_fails() {
    let stage = Stage::new(&["raise SystemExit('no data')\n", &keeps(3)]);
    stage.run(&["--base", "HEAD~1"]).check(3, &["a script failed", "Note: base", "exit status 1", "no data"]);
    let hint = "fetch the history";
    stage.run(&["--base", "v9"]).check(2, &["there is no commit v9", hint]);
    stage.run(&["--base", "--help"]).check(2, &["error:"]);
    let mut outside = stage.command(&["--base", "HEAD"]);
    let output = outside.current_dir(stage.scene.top()).args(["--", "python3", "train.py"]).output().unwrap();
    Ran::of(&output).check(2, &["git: not a git repository", "run the command in a clone"]);
    stage.run(&["--base", "HEAD", "--max-growth", "much"]).check(2, &["neither a share nor a size"]);
    stage.run(&["--base", "HEAD", "--card", "gtx"]).check(2, &["gtx"]);
    let stage = Stage::new(&[&keeps(3), &keeps(1000)]);
    let ran = stage.run(&["--base", "HEAD~1", "--card", "custom:512MiB"]);
    ran.check(1, &["the head runs out of memory", "memory ran out in step 1 at"]);
}

#[test]
fn files_in_no_commit_are_linked_and_each_side_imports_its_own() {
    let script = "import torch\nkept = [torch.Block(int(open('data/size').read()))]\n";
    let stage = Stage::new(&[script]);
    stage.scene.write("repository/data/size", "4096");
    stage.scene.write("repository/.git/info/exclude", "data\n");
    stage.run(&["--base", "HEAD"]).check(3, &["FileNotFoundError"]);
    stage.run(&["--base", "HEAD", "--link", "data"]).check(0, &["the peak is the same"]);
    stage.run(&["--base", "HEAD", "--link", "../x"]).check(2, &["leads out of the current folder"]);
    stage.run(&["--base", "HEAD", "--link", "none"]).check(2, &["there is no such file"]);
    let script = "import torch\nfrom library import COUNT\nkept = [torch.Block(1 << 20) for _ in range(COUNT)]\n";
    let stage = Stage::new(&[script]);
    stage.scene.write("repository/src/library.py", "COUNT = 2\n");
    stage.commit(script);
    stage.scene.write("repository/src/library.py", "COUNT = 5\n");
    let packages = testkit::server::root().join("tests/data/run/site-packages");
    let path = std::env::join_paths([stage.scene.path("repository/src"), packages]).unwrap();
    let mut command = stage.command(&["--base", "HEAD"]);
    let output = command.env("PYTHONPATH", path).args(["--", "python3", "train.py"]).output().unwrap();
    Ran::of(&output).check(0, &["the peak changes by +3.00 MiB"]);
}
