//! Builds a wheel of the binary under test, installs it into an empty environment, and uses it.
//!
//! maturin asks a script for the program, which is there already; all else is as in `./dev wheel`.

mod examples;

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use testkit::repro::check_output;
use testkit::server::{root, snapscope};

/// Script that answers maturin's `cargo rustc` with the built program.
const CARGO: &str = r#"#!/bin/sh
[ "$1" = rustc ] || exec "$REAL_CARGO" "$@"
printf '%s\n' "$BUILT" '{"reason":"build-finished","success":true}'
"#;

/// Folder with a wheel and an environment.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().expect("a folder")).expect("room");
        fs::write(self.path(name), text).expect("room");
    }

    /// Lays out the project as `./dev wheel` does, with a recorder that is only a script.
    #[track_caller]
    fn lay_out() -> Self {
        let stage = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        let python = root().canonicalize().expect("the sources").join("server/python");
        let project = fs::read_to_string(python.join("pyproject.toml")).expect("the description of the wheel");
        let manifest = python.join("../Cargo.toml").display().to_string();
        let project = project.replace("../Cargo.toml", &manifest).replace("../../target/wheel", "../data");
        stage.write("project/pyproject.toml", &project);
        for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "snapscope.pth"] {
            symlink(python.join(name), stage.path("project").join(name)).expect("a link");
        }
        link_files(&python.join("snapscope"), &stage.path("project/snapscope"));
        let libraries = "data/platlib/snapscope/libraries";
        stage.write(&format!("{libraries}/snapscope-recorder"), "#!/bin/sh\nexit 3\n");
        executable(&stage.path(libraries).join("snapscope-recorder"));
        fs::create_dir_all(stage.path(libraries).join("virtual-gpu")).expect("room");
        for name in ["libsnapscope_virtual_gpu.so", "libsnapscope_audit.so"] {
            let library = root().join("target/virtual-gpu").join(name);
            assert!(library.exists(), "the virtual GPU is not built: run the tests by `./dev test`");
            fs::copy(library, stage.path(libraries).join("virtual-gpu").join(name)).expect("room");
        }
        stage
    }

    #[track_caller]
    fn build(&self) -> PathBuf {
        let maturin = env::var_os("SNAPSCOPE_MATURIN").expect("maturin: run the tests by `./dev test`");
        // The tables of a debugger would be most of the wheel.
        let program = self.path("snapscope");
        let strip = Command::new("strip").arg("-o").arg(&program).arg(snapscope()).output().expect("binutils");
        check_output(&strip, 0, &[], &[]);
        self.write("cargo", CARGO);
        executable(&self.path("cargo"));
        let search = env::join_paths([self.folder.path().to_owned()].into_iter().chain(paths())).expect("a path");
        let output = Command::new(maturin)
            .args(["build", "--release", "--out", "../wheels"])
            .current_dir(self.path("project"))
            .env("PATH", search)
            .env("CARGO", self.path("cargo"))
            .env("REAL_CARGO", env!("CARGO"))
            .env("BUILT", artifact(&program))
            .output();
        check_output(&output.expect("maturin"), 0, &[], &[]);
        let wheels: Vec<_> = fs::read_dir(self.path("wheels")).expect("a folder").flatten().collect();
        assert_eq!(wheels.len(), 1, "{wheels:?}");
        wheels[0].path()
    }

    /// Installs a wheel into an environment without packages, and into a folder of packages, without the network.
    #[track_caller]
    fn install(&self, wheel: &Path) {
        let python = |arguments: &[&str]| {
            let output = Command::new("python3").args(arguments).current_dir(self.folder.path()).output();
            check_output(&output.expect("python3"), 0, &[], &[]);
        };
        python(&["-m", "venv", "--without-pip", "venv"]);
        let install = ["install", "--quiet", "--no-index", "--no-compile", wheel.to_str().expect("text")];
        python(&[&["-m", "pip", "--python", "venv/bin/python3"], &install[..]].concat());
        python(&[&["-m", "pip"], &install[..], &["--target", "packages"]].concat());
    }

    /// Runs a program of the environment, which finds nothing of this clone.
    #[track_caller]
    fn run(&self, program: &str, arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
        self.run_in("venv", program, arguments, variables)
    }

    /// Runs a program of the environment, or of the folder of packages.
    #[track_caller]
    fn run_in(&self, place: &str, program: &str, arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
        let mut command = Command::new(self.path(place).join("bin").join(program));
        command.args(arguments).current_dir(self.folder.path());
        for name in ["SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", "SNAPSCOPE_RECORDER", "SNAPSCOPE_LIBTORCH", "PYTHONPATH"] {
            command.env_remove(name);
        }
        command.env("HOME", self.folder.path()).envs(variables.iter().copied()).output().expect("the program to start")
    }
}

fn paths() -> Vec<PathBuf> {
    env::var_os("PATH").map(|paths| env::split_paths(&paths).collect()).unwrap_or_default()
}

fn executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of this test");
}

/// Makes a folder with the same folders and with links to the files of another one; maturin follows no links to folders.
#[track_caller]
fn link_files(from: &Path, to: &Path) {
    fs::create_dir(to).expect("room");
    for entry in fs::read_dir(from).expect("a folder of the package").flatten() {
        let place = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => link_files(&entry.path(), &place),
            false => symlink(entry.path(), place).expect("a link"),
        }
    }
}

fn artifact(program: &Path) -> String {
    let server = root().canonicalize().expect("the sources").join("server");
    let manifest = server.join("Cargo.toml");
    let id = Command::new(env!("CARGO"))
        .args(["pkgid", "--offline", "-p", "snapscope-server"])
        .current_dir(&server)
        .output();
    let id = String::from_utf8(id.expect("cargo").stdout).expect("text");
    serde_json::json!({
        "reason": "compiler-artifact",
        "package_id": id.trim(),
        "manifest_path": manifest,
        "target": {
            "kind": ["bin"], "crate_types": ["bin"], "name": "snapscope", "src_path": server.join("src/main.rs"),
            "edition": "2024", "doc": true, "doctest": false, "test": true,
        },
        "profile": {
            "opt_level": "3", "debuginfo": 0, "debug_assertions": false, "overflow_checks": false, "test": false,
        },
        "features": [],
        "filenames": [program],
        "executable": program,
        "fresh": true,
    })
    .to_string()
}

#[test]
fn a_wheel_is_installed_and_used() {
    let stage = Stage::lay_out();
    let wheel = stage.build();
    let check = root().join("server/python/packaging/check_wheel.py");
    let checked = Command::new("python3").arg(check).arg(&wheel).output().expect("python3");
    check_output(&checked, 0, &["snapscope-", "-py3-none-manylinux_2_", "virtual GPU", "Python"], &[]);
    stage.install(&wheel);

    check_output(&stage.run("snapscope", &["--version"], &[]), 0, &["snapscope "], &[]);
    check_output(&stage.run("python3", &["-c", ABOUT], &[]), 0, &["typed", "MIT OR Apache-2.0", "['recorder']"], &[]);
    let loaded = "import sys; print('snapscope' in sys.modules)";
    check_output(&stage.run("python3", &["-c", loaded], &[]), 0, &["False"], &[]);
    // The .pth file imports the package, which says that this environment has no torch to record.
    let recorded = stage.run("python3", &["-c", loaded], &[("SNAPSCOPE_RECORD", Path::new("snapshots"))]);
    check_output(&recorded, 0, &["True"], &[]);
    let off = stage.run("python3", &["-c", loaded], &[("SNAPSCOPE_RECORD", Path::new("0"))]);
    check_output(&off, 0, &["False"], &[]);
    stage.write("broken/snapscope.py", "raise SystemExit(4)\n");
    let variables = [("SNAPSCOPE_RECORD", Path::new("out")), ("PYTHONPATH", &stage.path("broken"))];
    let broken = stage.run("python3", &["-c", "print('goes on')"], &variables);
    check_output(&broken, 0, &["goes on"], &["snapscope: nothing is recorded: SystemExit(4)"]);

    let torch = root().join("tests/data/run/site-packages").canonicalize().expect("the small torch");
    stage.write("train.py", "import torch\nkept = torch.Block(1 << 30)\n");
    let run = ["run", "--card", "t4-16gb", "--", "venv/bin/python3", "train.py"];
    check_output(&stage.run("snapscope", &run, &[("PYTHONPATH", &torch)]), 0, &["it fits"], &[]);
    // With `pip install --target`, the program and the package find each other without an environment.
    let in_packages =
        |arguments: &[&str], path: &Path| stage.run_in("packages", "snapscope", arguments, &[("PYTHONPATH", path)]);
    check_output(&in_packages(&run, &torch), 0, &["it fits"], &[]);
    let found =
        ["run", "--", "venv/bin/python3", "-S", "-c", "import snapscope.binary; print(snapscope.binary.binary())"];
    check_output(&in_packages(&found, &stage.path("packages")), 2, &["packages/bin/snapscope"], &[]);

    examples::check(&stage);

    let config = root().join("static/gallery/bert-base-t4.toml").canonicalize().expect("a config of the gallery");
    let refused = stage.run("snapscope", &["repro", config.to_str().expect("text")], &[]);
    check_output(&refused, 2, &[], &["the recorder needs PyTorch 2.11", "has no package `torch`", "-m pip install"]);
    let refused = in_packages(&["repro", config.to_str().expect("text")], &stage.path("packages"));
    check_output(&refused, 2, &[], &["the recorder needs PyTorch 2.11"]);
    let of_module = ["-m", "snapscope", "repro", config.to_str().expect("text")];
    let refused = stage.run("python3", &of_module, &[("PYTHONPATH", &stage.path("packages"))]);
    check_output(&refused, 2, &[], &["venv/bin/python3 has no package `torch`"]);
    let refused = stage.run("snapscope", &["serve"], &[]);
    check_output(&refused, 2, &[], &["this program was built without web pages", "--dist"]);
}

/// Prints facts about the installed package, and fails if a file is not where it belongs.
const ABOUT: &str = r#"
import importlib.metadata, pathlib, snapscope
about = importlib.metadata.distribution("snapscope")
package = pathlib.Path(snapscope.__file__).parent
print("typed" if (package / "py.typed").exists() else "untyped")
print(about.metadata["License-Expression"], about.metadata.get_all("Provides-Extra"))
files = {str(file) for file in about.files}
assert {"snapscope.pth", "../../../bin/snapscope"} <= files, files
assert all((package.parent / file).exists() for file in files), files
assert not any("__pycache__" in file or file.startswith(("hook", "run", "record")) for file in files), files
assert any("LICENSE-MIT" in file for file in files), files
"#;
