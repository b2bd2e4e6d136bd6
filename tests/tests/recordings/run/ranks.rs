//! Tests `--world`: some ranks run, and the others are answered for.

use super::{Ran, Stage};

/// Runs the script as torchrun would be asked to.
#[track_caller]
fn run(stage: &Stage, options: &[&str]) -> Ran {
    let mut command = stage.command(options);
    command.args(["--", "python3", "-m", "torch.distributed.run", "--nproc-per-node", "4", "train.py"]);
    Ran::of(&command.output().expect("the command to start"))
}

#[test]
fn the_named_ranks_run_as_torchrun_starts_them() {
    let stage = Stage::new(
        "import os, torch\n\
         names = ('RANK', 'LOCAL_RANK', 'WORLD_SIZE', 'LOCAL_WORLD_SIZE', 'GROUP_RANK')\n\
         print('variables', *(os.environ[name] for name in names))\n\
         block = torch.Block(1 << 20 << int(os.environ['RANK']))\n",
    );
    let ran = run(&stage, &["--world", "8", "--ranks", "5,0", "--card", "custom:4096MiB"]);
    let says = ["variables 0 0 8 4 0", "variables 5 1 8 4 1", "1 more rank to come", "4x custom:4096MiB"];
    ran.check(0, &says);
    ran.check(0, &["Of a world of 8 ranks, ranks 0, 5 ran", "torchrun and its own options were left out"]);
    assert_eq!(stage.snapshots(), ["train.rank0.pickle", "train.rank5.pickle"]);
}

#[test]
fn the_store_and_objects_answer_for_ranks_that_do_not_run() {
    let stage = Stage::new(
        "import torch\nfrom torch import distributed as dist\n\
         block = torch.Block(5)\nstore = dist.TCPStore('first', 1, 8, False)\n\
         store.set('address/3', 'here')\nstore.wait(['what others set'])\n\
         print(store.get('address/7'), store.add('arrived', 1), len(store.get('0//cuda//0')), store.check(['failed']))\n\
         store.get('name of the first')\n",
    );
    let says =
        ["b'here' 8 128 False", "rank 3 asks the store for 'name of the first', which a rank sets that does not run"];
    run(&stage, &["--world", "8", "--ranks", "3", "--card", "a100-80gb"]).check(3, &says);
    let stage = Stage::new(
        "import torch\nfrom torch import distributed as dist\n\
         block = torch.Block(5)\ngathered, sent, received = [None] * 3, ['mine'], ['kept']\n\
         dist.all_gather_object(gathered, {'rank': 1})\ndist.broadcast_object_list(sent, src=0)\n\
         dist.recv_object_list(received, src=0)\ngroup = dist.ProcessGroupGloo(None, 1, 3)\n\
         dist.monitored_barrier(group)\nprint(gathered, sent, received, group.size)\n",
    );
    let says = [
        "[{'rank': 1}, {'rank': 1}, {'rank': 1}] ['mine'] ['kept'] 3",
        "Rank 1 received nothing by recv_object_list, because the rank that sends does not run",
    ];
    run(&stage, &["--world", "3", "--ranks", "1", "--card", "a100-80gb"]).check(0, &says);
}

#[test]
fn ranks_that_leave_wait_for_nobody_and_those_that_cannot_run_are_refused() {
    let stage = Stage::new(
        "import torch\nblock = torch.Block(5)\noptimizer = torch.optim.SGD()\n\
         while True: optimizer.step()\n",
    );
    let start = std::time::Instant::now();
    run(&stage, &["--world", "4", "--ranks", "0,1", "--steps", "2"]).check(0, &["stopped after 2 steps, as asked"]);
    assert!(start.elapsed().as_secs() < 25, "{:?}", start.elapsed());
    let stage = Stage::new("import torch\n");
    run(&stage, &["--world", "4", "--ranks", "4"]).check(2, &["rank 4 is outside of a world of 4 ranks"]);
    run(&stage, &["--ranks", "1"]).check(2, &["--world"]);
    let cards = ["--world", "4", "--card", "2x t4-16gb"];
    run(&stage, &cards).check(2, &["a machine has 4 ranks and 2 cards"]);
    let mut command = stage.command(&["--world", "4"]);
    let ran = Ran::of(&command.args(["--", "mpirun", "-n", "4", "train.py"]).output().expect("to start"));
    ran.check(2, &["mpirun starts ranks in a way of its own", "give the command of one rank"]);
}

#[test]
fn a_launcher_becomes_the_rank_that_it_would_start() {
    let stage = Stage::new("import torch\nfrom deepspeed.launcher.runner import main\nmain()\n");
    let runner = "from types import SimpleNamespace\n\
        def parse_args(args):\n    \
        is_not = dict.fromkeys(('no_python', 'module', 'no_local_rank'), False)\n    \
        return SimpleNamespace(user_script='rank.py', user_args=['--fast'], **is_not)\n\
        def main(args=None): raise SystemExit('starts them all')\n";
    for file in ["deepspeed/__init__.py", "deepspeed/launcher/__init__.py"] {
        stage.scene.write(file, "");
    }
    stage.scene.write("deepspeed/launcher/runner.py", runner);
    stage.scene.write("rank.py", "import sys, torch\nblock = torch.Block(5)\nprint('words', *sys.argv[1:])\n");
    let ran = run(&stage, &["--world", "8", "--ranks", "6", "--card", "a100-80gb"]);
    ran.check(0, &["words --local_rank=2 --fast", "it fits"]);
}
