//! Tests comparisons of two versions of PyTorch.

use std::os::unix::fs::PermissionsExt as _;

use super::{Stage, keeps};

#[test]
fn another_python_runs_the_base() {
    let stage = Stage::new(&[&keeps(2)]);
    stage.scene.write("other", "#!/bin/sh\nFAKE_TORCH_VERSION=2.6.0 exec python3 \"$@\"\n");
    let other = stage.scene.path("other");
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let other = other.display().to_string();
    let ran = stage.run(&["--base-python", &other]);
    ran.check(0, &["the peak is the same", "PyTorch differs: 2.6.0 in the base, 2.11.0+fake in the head"]);
    stage.run(&["--base-python", "/no/python"]).check(2, &["/no/python"]);
    stage.run(&[]).check(2, &["--base"]);
}
