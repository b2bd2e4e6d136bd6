//! What is built and under test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

#[track_caller]
pub fn snapscope() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| built("snapscope"))
}

/// Builds a binary and returns its path.
///
/// Cargo builds binaries only for the tests of their own package; building here keeps tests from using a stale one.
#[track_caller]
pub fn built(binary: &str) -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--workspace", "--bin", binary]).current_dir(root());
    // Cargo sets these variables for this test's package. Build scripts that watch them (ring's) would cause half of
    // the server to be rebuilt, and once more by the next cargo that is not run by a test.
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
        build.env_remove(name);
    }
    let built = build.status();
    assert!(built.expect("cargo").success(), "building the binary `{binary}` failed");
    let program = std::env::current_exe().expect("the path of this program");
    let folder = program.parent().expect("a folder");
    // target/debug/deps/test or target/debug/tool → target/debug/snapscope
    let target = if folder.ends_with("deps") { folder.parent() } else { Some(folder) };
    target.expect("a target folder").join(binary)
}

/// Returns the folder of the page that `./dev` built, or that `SNAPSCOPE_TEST_DIST` names.
#[track_caller]
pub fn built_page() -> PathBuf {
    let named = std::env::var_os("SNAPSCOPE_TEST_DIST").map(PathBuf::from);
    let dist = root().join(named.unwrap_or_else(|| "target/dist".into()));
    assert!(dist.join("index.html").is_file(), "the page is not built: run the tests by `./dev test`");
    dist
}

pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
