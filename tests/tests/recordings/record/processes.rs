//! Tests recordings of ranks and of child processes.

use super::{Stage, names};
use crate::run::Ran;

#[track_caller]
fn ranks(options: &str) -> Stage {
    let stage = Stage::new(&format!(
        "import os, subprocess, sys\n\
         if 'RANK' not in os.environ:\n    \
         ranks = [dict(os.environ, RANK=str(rank), WORLD_SIZE='2', SNAPSCOPE_RUN='job') for rank in range(2)]\n    \
         started = [subprocess.Popen([sys.executable, 'train.py'], env=rank) for rank in ranks]\n    \
         sys.exit(max(process.wait() for process in started))\n\
         import snapscope, torch\n\
         with snapscope.record('out'{options}): kept = torch.Block(5)\n"
    ));
    let ran = stage.run();
    assert_eq!((ran.status, ran.text.as_str()), (Some(0), ""));
    stage
}

#[test]
fn each_rank_has_its_file() {
    let stage = ranks("");
    let snapshots: Vec<_> = stage.names().into_iter().filter(|name| name.ends_with("gz")).collect();
    assert_eq!(snapshots, ["job.rank0.step0.end.pickle.gz", "job.rank1.step0.end.pickle.gz"]);
    let sidecar = stage.sidecar("job.rank1.step0.end.json");
    assert_eq!((&sidecar["rank"], &sidecar["world"]), (&1.into(), &2.into()));
    assert_eq!(ranks(", ranks='1'").names(), ["job.rank1.step0.end.json", "job.rank1.step0.end.pickle.gz"]);
}

#[test]
fn workers_and_children_are_recorded_if_they_use_cuda() {
    let stage = Stage::new(
        "import multiprocessing, snapscope, torch\n\
         multiprocessing.set_start_method('fork')\n\
         def work():\n    torch.optim.SGD().step()\n    snapscope.dump()\n    print('worked')\n\
         with snapscope.record('out', run='a', every=1, seconds=0.5):\n    \
         kept = torch.Block(5)\n    worker = multiprocessing.Process(target=work)\n    worker.start()\n    worker.join()\n",
    );
    let ran = stage.run();
    assert_eq!((ran.status, ran.text.trim()), (Some(0), "worked"));
    assert_eq!(stage.names(), ["a.step0.end.json", "a.step0.end.pickle.gz"]);
    let stage = Stage::new(
        "import multiprocessing, snapscope, torch\n\
         multiprocessing.set_start_method('fork')\n\
         def work():\n    global kept\n    kept = torch.Block(5)\n\
         snapscope.start('out', run='a')\n\
         workers = [multiprocessing.Process(target=work) for _ in range(2)]\n\
         for worker in workers: worker.start()\n\
         for worker in workers: worker.join()\n\
         kept = torch.Block(7)\n",
    );
    stage.run().check(0, &[]);
    assert_eq!(stage.names().iter().filter(|name| name.ends_with(".gz")).count(), 3, "{:?}", stage.names());
    let stage = Stage::new(
        "import multiprocessing\n\
         def work():\n    import torch\n    global kept\n    kept = torch.Block(5)\n\
         if __name__ == '__main__':\n    \
         child = multiprocessing.get_context('spawn').Process(target=work)\n    child.start()\n    child.join()\n    work()\n",
    );
    Ran::of(&stage.record(&["-o", "out"]).output().expect("the command")).check(0, &["snapscope diagnose out/"]);
    assert_eq!(stage.names().iter().filter(|name| name.ends_with(".gz")).count(), 2, "{:?}", stage.names());
}

#[test]
fn a_name_that_another_process_has_packed_meanwhile_is_left_to_it() {
    let names = names(
        "import os, snapscope, torch\n\
         link = os.link\n\
         def late(source, path):\n    \
         if path.endswith('end.pickle'): open(path + '.gz', 'wb').close()\n    link(source, path)\n\
         os.link = late\n\
         snapscope.start('out', run='a')\n\
         kept = torch.Block(7)\n",
    );
    assert_eq!(names, ["a.step0.end.pickle.gz", "a.step0.end2.json", "a.step0.end2.pickle.gz"]);
}
