//! Tests what becomes of a test whose memory is judged.

use super::Stage;
use crate::readme::example;

const WITHIN: &str = "\
    @pytest.mark.gpu_memory(card='t4-16gb', peak='2 GiB')\n\
    def test_fits():\n    import torch\n    block = torch.Block(1 << 30)\n";

#[test]
fn tests_within_their_limits_pass_and_those_above_fail_with_the_finding_in_words() {
    let stage = Stage::new(WITHIN);
    let folder = stage.scene.path("gpu-memory").display().to_string();
    stage.run(&[]).check(0, &["1 passed", &format!("1 snapshot in {folder}")]);
    assert_eq!(stage.snapshots(), ["test_memory.py-test_fits.pickle"]);
    let says = "test_memory.py::test_fits: Model setup in test_memory.py on GPU 0: peak 1.00 GiB live";
    stage.run(&["-v"]).check(0, &[says]);
    let stage = Stage::new(
        "@pytest.mark.gpu_memory(peak='1 GiB')\n\
         def test_grows():\n    import torch\n    blocks = [torch.Block(3 << 28) for _ in range(2)]\n",
    );
    let ran = stage.run(&[]);
    let says = ["1 failed", "The peak of 1.50 GiB exceeds the limit of 1.00 GiB", "(test_memory.py:5)"];
    ran.check(1, &says);
    ran.check(1, &["Snapshot: gpu-memory/test_memory.py-test_grows.pickle"]);
    assert!(!ran.text.contains("guard/"), "no line of the plugin's own: {}", ran.text);
    let test = "\n\
        def test_keeps():\n    import torch, torch.profiler\n    kept = []\n    \
        for step in range(8):\n        with torch.profiler.record_function(f'ProfilerStep#{step}'):\n            \
        kept.append(torch.Block(3 << 20))\n            work = torch.Block(64 << 20)\n            del work\n";
    let stage = Stage::new(&format!("@pytest.mark.gpu_memory(growth='1 MiB'){test}"));
    stage.run(&[]).check(1, &["Memory grows by 3.00 MiB per step, more than the limit of 1.00 MiB"]);
    let stage = Stage::new(&format!("@pytest.mark.gpu_memory(growth='4 MiB'){test}"));
    stage.run(&[]).check(0, &["1 passed"]);
}

#[test]
fn failures_and_errors_of_the_test_are_its_own() {
    let stage = Stage::new(
        "@pytest.mark.gpu_memory(peak='1 GiB')\n\
         def test_fails():\n    import torch\n    block = torch.Block(1 << 20)\n    print('seen')\n    \
         assert block.size == 7\n",
    );
    let ran = stage.run(&[]);
    ran.check(1, &["1 failed", "assert block.size == 7", "test_memory.py:7: AssertionError", "seen"]);
    assert!(!ran.text.contains("exceeds the limit"), "{}", ran.text);
    let stage = Stage::new(
        "@pytest.mark.gpu_memory(card='custom:1024MiB')\n\
         def test_runs_out():\n    import torch\n    \
         blocks = [torch.Block(300 << 20) for _ in range(4)]\n",
    );
    let parts = ["OutOfMemoryError: CUDA out of memory.", "memory ran out in step 1 at test_memory.py:5", "1 failed"];
    stage.run(&[]).check(1, &parts);
}

#[test]
fn skips_and_expected_failures_are_decided_on_the_virtual_gpu() {
    let stage = Stage::new(
        "import os\n\
         is_virtual = 'SNAPSCOPE_VIRTUAL_GPU' in os.environ\n\
         pytestmark = [pytest.mark.gpu_memory(peak='1 GiB'), pytest.mark.skipif(not is_virtual, reason='no GPU')]\n\
         def test_runs():\n    import torch\n    block = torch.Block(5)\n\
         @pytest.mark.skipif(is_virtual, reason='has a GPU')\n\
         def test_is_left_out():\n    assert False\n\
         @pytest.mark.xfail(is_virtual, reason='known')\n\
         def test_is_known():\n    import torch\n    block = torch.Block(5)\n    assert False\n",
    );
    stage.run(&["-rs"]).check(0, &["1 passed, 1 skipped, 1 xfailed", "has a GPU"]);
}

#[test]
fn fixtures_classes_and_parameters_come_along() {
    let stage = Stage::new(
        "@pytest.fixture\n\
         def block():\n    import torch\n    yield torch.Block(1 << 30)\n    print('returned')\n\
         class TestBlocks:\n    \
         @pytest.mark.gpu_memory(peak='2 GiB')\n    \
         @pytest.mark.parametrize('gib', [0, 3], ids=['none', 'a/b'])\n    \
         def test_more(self, block, gib):\n        import torch\n        more = torch.Block((gib << 30) + 1)\n",
    );
    let ran = stage.run(&["-rA"]);
    ran.check(1, &["1 failed, 1 passed", "The peak of 4.00 GiB exceeds", "returned", "TestBlocks.test_more[a/b]"]);
    let snapshots = stage.snapshots();
    assert_eq!(snapshots[1], "test_memory.py-TestBlocks-test_more-none.pickle");
    assert!(snapshots[0].starts_with("test_memory.py-TestBlocks-test_more-a-b"), "{snapshots:?}");
}

#[test]
fn the_example_of_readme_works() {
    let stage = Stage::new("");
    stage.scene.write("test_training.py", &example("python", "gpu_memory"));
    stage.scene.write(
        "conftest.py",
        "import builtins\n\
         def train(steps):\n    import torch\n    optimizer = torch.optim.SGD()\n    weights = torch.Block(8 << 30)\n    \
         for _ in range(steps):\n        work = torch.Block(512 << 20)\n        del work\n        optimizer.step()\n\
         builtins.train = train\n",
    );
    stage.run(&[]).check(0, &["1 passed"]);
}
