//! Tests that the processes which a script starts are recorded, and that none of them is left running.

use super::{Stage, lives};

#[test]
fn processes_and_ranks_below_the_script_have_snapshots_of_their_own() {
    let stage = Stage::new(
        "import subprocess, sys, torch\n\
         block = torch.Block(5)\n\
         if len(sys.argv) == 1: subprocess.run([sys.executable, 'train.py', 'child'], check=True)\n",
    );
    let runs = stage.document(&[], 0);
    assert_eq!(runs.len(), 2);
    assert_eq!(stage.snapshots(), ["train.2.pickle", "train.pickle"]);
    let stage = Stage::new(
        "import os, subprocess, sys\n\
         if 'RANK' not in os.environ:\n    \
         ranks = [dict(os.environ, RANK=str(rank), WORLD_SIZE='2', LOCAL_RANK=str(rank)) for rank in range(2)]\n    \
         started = [subprocess.Popen([sys.executable, 'train.py'], env=rank) for rank in ranks]\n    \
         sys.exit(max(process.wait() for process in started))\n\
         import torch\n\
         optimizer = torch.optim.SGD()\n\
         block = torch.Block(1 << 20 << int(os.environ['RANK']))\n\
         while True: optimizer.step()\n",
    );
    let runs = stage.document(&["--steps", "2"], 0);
    let ranks: Vec<_> = runs.iter().map(|run| (&run["rank"], &run["peak_reserved_bytes"], &run["steps"])).collect();
    let expected =
        [(0, 1 << 20, 2), (1, 2 << 20, 2)].map(|(rank, peak, steps)| (rank.into(), peak.into(), steps.into()));
    assert_eq!(ranks, expected.each_ref().map(|(rank, peak, steps)| (rank, peak, steps)));
    assert_eq!(stage.snapshots(), ["train.rank0.pickle", "train.rank1.pickle"]);
}

#[test]
fn a_recording_inside_is_written_as_well() {
    let stage = Stage::new(
        "import torch\nkept = []\noptimizer = torch.optim.SGD()\n\
         for i in range(3):\n    kept.append(torch.Block(5))\n    optimizer.step()\n",
    );
    let mut command = stage.command(&["-o", "run.pickle"]);
    command.arg("--").arg(testkit::server::snapscope());
    command.args(["record", "-o", "out", "--run", "a", "--raw", "--", "python3", "train.py"]);
    let ran = super::Ran::of(&command.output().expect("the command to start"));
    ran.check(0, &["it fits", "out/a.step3.end.pickle"]);
    assert_eq!(stage.snapshots(), ["run.pickle"]);
}

#[test]
fn forked_workers_leave_their_parent_alone_and_spawned_ones_are_recorded_to_their_end() {
    let stage = Stage::new(
        "import multiprocessing, torch\n\
         multiprocessing.set_start_method('fork')\n\
         kept = [torch.Block(5) for _ in range(7)]\n\
         worker = multiprocessing.Process(target=print, args=('worked',))\n\
         worker.start()\nworker.join()\n\
         more = torch.Block(9)\n",
    );
    let runs = stage.document(&[], 0);
    assert_eq!((runs.len(), &runs[0]["events"]), (1, &8.into()));
    assert_eq!(stage.snapshots(), ["train.pickle"]);
    let stage = Stage::new(
        "import multiprocessing\n\
         def work():\n    import torch\n    global kept\n    kept = torch.Block(5)\n\
         if __name__ == '__main__':\n    \
         child = multiprocessing.get_context('spawn').Process(target=work)\n    child.start()\n    child.join()\n",
    );
    let runs = stage.document(&[], 0);
    assert_eq!((runs.len(), &runs[0]["events"]), (1, &1.into()));
}

#[test]
fn nvidia_smi_is_that_of_the_virtual_gpu() {
    let stage = Stage::new(
        "import subprocess, torch\n\
         block = torch.Block(5)\n\
         print(subprocess.run(['nvidia-smi', '-L'], capture_output=True, text=True).stdout)\n",
    );
    // A folder with links is used as it is.
    stage.scene.write("virtual-gpu/libcuda.so.1", "");
    stage.scene.write("virtual-gpu/bin/nvidia-smi", "#!/bin/sh\necho \"virtual $SNAPSCOPE_VIRTUAL_GPU $1\"\n");
    let path = stage.scene.path("virtual-gpu/bin/nvidia-smi");
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a file of our own");
    stage.run(&["--card", "t4-16gb"]).check(0, &["virtual t4-16gb -L"]);
}

#[test]
fn nothing_is_left_running() {
    let stage = Stage::new(
        "import subprocess, torch\n\
         block = torch.Block(5)\n\
         left = subprocess.Popen(['sleep', '100'], start_new_session=True)\n\
         open('pid', 'w').write(str(left.pid))\n",
    );
    stage.run(&[]).check(0, &["it fits"]);
    let pid = std::fs::read_to_string(stage.scene.path("pid")).unwrap();
    assert!(!lives(&pid), "{pid}");
}

#[test]
fn the_environments_own_sitecustomize_still_runs() {
    let stage = Stage::new("import sys, torch\nblock = torch.Block(5)\nprint('site:', sys.site_says)\n");
    stage.scene.write("site/sitecustomize.py", "import sys\nsys.site_says = 'hello'\n");
    let mut command = stage.command(&[]);
    let path =
        std::env::join_paths([stage.scene.path("site"), testkit::server::root().join("tests/data/run/site-packages")])
            .unwrap();
    let output = command.env("PYTHONPATH", path).args(["--", "python3", "train.py"]).output().unwrap();
    super::Ran::of(&output).check(0, &["site: hello", "it fits"]);
}
