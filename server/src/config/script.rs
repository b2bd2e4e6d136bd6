//! Locates the virtual GPU for scripts.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::companions::Companions;
use super::program;
use crate::failure::Failure;
use crate::virtual_gpu;

/// Location of the virtual GPU that scripts see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptConfig {
    /// Folder of the stand-ins: `SNAPSCOPE_VIRTUAL_GPU_LIBRARIES`, or the one that belongs to this program.
    pub virtual_gpu: PathBuf,
    /// This program, which others start for a run of their own.
    pub program: PathBuf,
    /// How to get a virtual GPU that is missing.
    remedy: &'static str,
    /// Variables of the user that are put together with those of the virtual GPU.
    own: BTreeMap<&'static str, OsString>,
}

/// Variables with the settings of PyTorch's allocator: since version 2.9, and that of before, which all versions read.
pub(crate) const ALLOCATOR: [&str; 2] = ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"];

/// Variables of the user that a run reads or adds to.
const SHARED: [&str; 9] = [
    "PATH",
    "PYTHONPATH",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "GLIBC_TUNABLES",
    "OMP_NUM_THREADS",
    "SNAPSCOPE_VIRTUAL_GPU_VALUES",
    ALLOCATOR[0],
    ALLOCATOR[1],
];

impl ScriptConfig {
    /// Reads the environment, with the folder that belongs to this program as default.
    pub fn from_environment() -> Result<Self, Failure> {
        let named = env::var_os("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES").filter(|value| !value.is_empty());
        let companions = Companions::find("set SNAPSCOPE_VIRTUAL_GPU_LIBRARIES to the folder of the virtual GPU")?;
        let folder = named.map_or_else(|| companions.virtual_gpu(), PathBuf::from);
        // The script may change its folder, and then a relative path would lead elsewhere.
        let virtual_gpu = std::path::absolute(&folder).unwrap_or(folder);
        let value = |name: &&'static str| Some((*name, env::var_os(name).filter(|value| !value.is_empty())?));
        let (program, remedy) = (program()?, companions.remedy());
        Ok(Self { virtual_gpu, program, remedy, own: SHARED.iter().filter_map(value).collect() })
    }

    /// Refuses to go on without a virtual GPU.
    pub fn check(&self) -> Result<(), Failure> {
        if self.virtual_gpu.join(virtual_gpu::LIBRARY).exists() {
            return Ok(());
        }
        Err(Failure::new(
            format!("there is no virtual GPU in {}", self.virtual_gpu.display()),
            format!("{}, or set SNAPSCOPE_VIRTUAL_GPU_LIBRARIES to its folder", self.remedy),
        ))
    }

    /// Returns a variable of the user, if it is not empty.
    pub(crate) fn own(&self, name: &str) -> Option<&OsStr> {
        self.own.get(name).map(OsString::as_os_str)
    }

    /// Returns a value followed by that of the user, with a colon between them.
    pub(crate) fn before_own(&self, value: &OsStr, name: &str) -> OsString {
        let mut joined = value.to_owned();
        if let Some(own) = self.own(name) {
            joined.push(":");
            joined.push(own);
        }
        joined
    }

    /// Returns the folder of the stand-ins with a link for each name, which is made at `place` if there is none.
    pub(crate) fn stand_ins(&self, place: &Path) -> io::Result<PathBuf> {
        virtual_gpu::with_links(&self.virtual_gpu, place)
    }

    /// Returns the library that answers the loader in place of NVIDIA's, if the folder has one.
    pub fn audit(&self) -> Option<PathBuf> {
        Some(self.virtual_gpu.join("libsnapscope_audit.so")).filter(|audit| audit.exists())
    }
}
