//! Builds the libraries under test, because `cargo test` does not build a `cdylib`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the path of the virtual GPU, beside which is its audit library.
///
/// `./dev test` has already built both in this profile.
pub(crate) fn path() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let test = env::current_exe().expect("a test has a path");
        let target = test.ancestors().nth(3).expect("tests lie in target/debug/deps");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--release", "--package", "snapscope-virtual-gpu"]);
        cargo.args(["--package", "snapscope-audit", "--target-dir"]).arg(target);
        let status = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo can be started");
        assert!(status.success(), "cargo build: {status}");
        target.join("release/libsnapscope_virtual_gpu.so")
    })
}
