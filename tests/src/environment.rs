//! A Python environment whose PyTorch is the small one of the tests, for scripts that see nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::built::root;

/// Environment in a temporary folder, with a virtual GPU that its PyTorch does not need.
pub struct Environment(TempDir);

/// A data loader that starts a process for each worker, as PyTorch's does, and refuses to be changed.
const LOADER: &str = "import os\n\n\nclass DataLoader:\n    \
    def __init__(self, data, num_workers=0):\n        \
    self.__dict__.update(data=data, num_workers=num_workers)\n\n    \
    def __setattr__(self, name, value):\n        raise ValueError(name)\n\n    \
    def __iter__(self):\n        \
    for _ in range(self.num_workers):\n            if os.fork() == 0:\n                os._exit(0)\n        \
    return iter(self.data)\n";

impl Environment {
    /// Makes one with the system's Python.
    #[track_caller]
    pub fn new() -> Self {
        let environment = Self(tempfile::tempdir().expect("a folder"));
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "--without-pip"]).arg(environment.folder());
        assert!(venv.status().expect("a Python").success());
        let libraries = fs::read_dir(environment.folder().join("lib")).expect("a folder").flatten().next();
        let packages = libraries.expect("that of a version").path().join("site-packages");
        copy(&root().join("tests/data/run/site-packages"), &packages);
        let loader = packages.join("torch/utils/data");
        fs::create_dir_all(&loader).expect("room");
        fs::write(packages.join("torch/utils/__init__.py"), "").expect("room");
        fs::write(loader.join("__init__.py"), "").expect("room");
        fs::write(loader.join("dataloader.py"), LOADER).expect("room");
        fs::create_dir(environment.virtual_gpu()).expect("room");
        fs::write(environment.virtual_gpu().join("libsnapscope_virtual_gpu.so"), "").expect("room");
        environment
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    pub fn python(&self) -> PathBuf {
        self.folder().join("bin/python3")
    }

    pub fn virtual_gpu(&self) -> PathBuf {
        self.folder().join("virtual-gpu")
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::new()
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            fs::create_dir_all(&target).expect("room");
            copy(&source, &target);
        } else {
            fs::copy(&source, &target).expect("room");
        }
    }
}
