//! Tests what is said about marks, and about what is missing.

use super::Stage;

#[track_caller]
fn check(mark: &str, status: i32, part: &str) {
    let test = "def test_it():\n    import torch\n    block = torch.Block(5)\n";
    let ran = Stage::new(&format!("@pytest.mark.gpu_memory({mark})\n{test}")).run(&["-rs"]);
    ran.check(status, &[part]);
    assert!(!ran.text.contains("Traceback"), "{}", ran.text);
}

#[test]
fn marks_that_cannot_be_understood_are_failures_and_the_nearest_counts() {
    check("card='gtx-9999'", 1, "gtx-9999");
    check("card=7", 1, "the card of the mark gpu_memory is a name such as \"t4-16gb\", not 7");
    check("peak='nine'", 1, "peak='nine' of the mark gpu_memory is not a size; use for example \"512 MiB\"");
    check("peak=True", 1, "peak=True of the mark gpu_memory is not a size");
    check("peek='1 GiB'", 1, "the mark gpu_memory has no limit 'peek': it has card, peak, reserved, growth");
    check("'1 GiB'", 1, "takes its limits by name");
    check("peak=1 << 30", 0, "1 passed");
    check("", 0, "1 passed");
    let stage = Stage::new(
        "pytestmark = pytest.mark.gpu_memory(card='t4-16gb', peak='1 MiB')\n\
         @pytest.mark.gpu_memory(peak='1 GiB')\n\
         def test_one():\n    import torch\n    block = torch.Block(5 << 20)\n\
         def test_other():\n    import torch\n    block = torch.Block(5 << 20)\n",
    );
    stage.run(&[]).check(1, &["1 failed, 1 passed", "exceeds the limit of 1.00 MiB"]);
}

#[test]
fn what_is_missing_or_dies_is_named() {
    let stage = Stage::new("@pytest.mark.gpu_memory()\ndef test_it():\n    pass\n");
    let mut command = stage.pytest(&[]);
    command.env("SNAPSCOPE_PROGRAM", "/no/such/program");
    let ran = super::Ran::of(&command.output().unwrap());
    ran.check(1, &["/no/such/program cannot be run"]);
    let stage = Stage::new("@pytest.mark.gpu_memory()\ndef test_it():\n    import torch\n    torch.Block(5)\n");
    let mut command = stage.pytest(&["-rs"]);
    let ran = super::Ran::of(&command.env("FAKE_TORCH", "cpu").output().unwrap());
    ran.check(0, &["1 skipped", "test_memory.py:2: gpu_memory: PyTorch 2.11.0+fake is built without CUDA"]);
    let stage = Stage::new("@pytest.mark.gpu_memory()\ndef test_it():\n    pass\n");
    stage.run(&[]).check(1, &["the test has the mark gpu_memory and used no GPU memory"]);
    let stage = Stage::new(
        "@pytest.mark.gpu_memory()\n\
         def test_it():\n    import os, torch\n    block = torch.Block(5)\n    os._exit(9)\n",
    );
    let says = "the process of the test ended before the test did: the script ended with exit status 9";
    stage.run(&[]).check(1, &[says]);
}
