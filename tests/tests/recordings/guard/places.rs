//! Tests where marked tests run: under pytest-xdist, among other tests, in this process on a real GPU.

use super::{Ran, Stage};

const TWO: &str = "\
    @pytest.mark.gpu_memory(peak='1 MiB')\n\
    @pytest.mark.parametrize('size', [1 << 19, 1 << 21])\n\
    def test_size(size):\n    import torch\n    block = torch.Block(size)\n\
    def test_plain():\n    pass\n";

#[test]
fn workers_share_the_folder() {
    let stage = Stage::new(TWO);
    stage.run(&["-n", "2"]).check(1, &["1 failed, 2 passed", "The peak of 2.00 MiB exceeds", "2 snapshots in"]);
    assert_eq!(stage.snapshots().len(), 2);
}

#[test]
fn options_of_the_suite_hold_on_the_virtual_gpu() {
    let stage = Stage::new(
        "@pytest.mark.gpu_memory()\n\
         def test_it(block, request):\n    assert request.config.getoption('--size') == 7\n",
    );
    stage.scene.write(
        "conftest.py",
        "import pytest\n\
         def pytest_addoption(parser):\n    parser.addoption('--size', type=int, default=1)\n\
         @pytest.fixture\n\
         def block():\n    import torch\n    return torch.Block(5)\n",
    );
    stage.scene.write("pytest.ini", "[pytest]\naddopts = -n 2 --strict-markers\ngpu_memory_args = --size 7\n");
    stage.run(&[]).check(0, &["1 passed"]);
}

#[test]
fn a_real_gpu_is_recorded_in_the_process_itself_and_without_one_auto_is_virtual() {
    let stage = Stage::new(&format!(
        "import os\nhere = os.getpid()\n{TWO}\
         @pytest.mark.gpu_memory()\n\
         def test_is_here():\n    import torch\n    block = torch.Block(5)\n    assert os.getppid() == parent\n"
    ));
    stage.scene.write("conftest.py", "import builtins, os\nbuiltins.parent = os.getppid()\n");
    let ran = stage.run(&["--gpu-memory=real"]);
    ran.check(1, &["1 failed, 3 passed", "The peak of 2.00 MiB exceeds the limit of 1.00 MiB", "3 snapshots in"]);
    assert_eq!(stage.snapshots().len(), 3);
    let mut command = stage.pytest(&["--gpu-memory=real", "-rs"]);
    let ran = Ran::of(&command.env("FAKE_TORCH", "no-gpu").output().unwrap());
    ran.check(0, &["1 passed, 3 skipped", "there is no GPU; --gpu-memory=virtual needs none"]);
    let stage = Stage::new(
        "import os\n\
         @pytest.mark.gpu_memory(card='l4-24gb')\n\
         def test_it():\n    import torch\n    block = torch.Block(5)\n    \
         assert os.environ['SNAPSCOPE_VIRTUAL_GPU'] == 'l4-24gb'\n",
    );
    let mut command = stage.pytest(&["--gpu-memory=auto"]);
    Ran::of(&command.env("FAKE_TORCH", "no-gpu").output().unwrap()).check(0, &["1 passed"]);
}
