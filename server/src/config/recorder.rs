//! Where the recorder is, and what it sees.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{program, program_folder};
use crate::failure::Failure;

/// Where the recorder and its libraries are, and what it may see of this process's environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecorderConfig {
    /// The program `snapscope-recorder`: `SNAPSCOPE_RECORDER`, or the one beside this program.
    pub program: PathBuf,
    /// This program, which reads what the recorder wrote in a process of its own.
    pub reader: PathBuf,
    /// The folder of the virtual GPU: `SNAPSCOPE_VIRTUAL_GPU_LIBRARIES`, or the one that `./dev build` fills.
    pub virtual_gpu: PathBuf,
    /// The libtorch that was named in `SNAPSCOPE_LIBTORCH`, for virtual and real GPUs.
    pub named_libtorch: Option<PathBuf>,
    /// The libtorch that `./dev build` fetched, for virtual GPUs.
    pub built_libtorch: PathBuf,
    /// Variables that every recorder sees.
    pub passed_on: Vec<(OsString, OsString)>,
    /// Variables that a recorder on a real GPU sees too: they choose among GPUs.
    pub real_gpu: Vec<(String, OsString)>,
    /// Where CUDA's driver may be, for real GPUs.
    pub library_path: Option<OsString>,
}

impl RecorderConfig {
    /// What the environment says, with the folders of `./dev build` for what it leaves out.
    ///
    /// Whether anything is there is looked at when it is needed.
    ///
    /// # Errors
    ///
    /// This program cannot find itself.
    pub fn from_environment() -> Result<Self, Failure> {
        const PASSED_ON: [&str; 5] = ["PATH", "HOME", "TMPDIR", "LANG", "TZ"];
        const REAL_GPU: [&str; 3] = ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"];
        let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let folder = program_folder("name it in SNAPSCOPE_RECORDER")?;
        // `target/release` or `target/debug`: what does not depend on the profile lies beside them.
        let target = folder.parent().unwrap_or(Path::new("."));
        let path = |name: &str, default: PathBuf| named(name).map_or(default, PathBuf::from);
        Ok(Self {
            program: path("SNAPSCOPE_RECORDER", folder.join("snapscope-recorder")),
            reader: program()?,
            virtual_gpu: path("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", target.join("virtual-gpu")),
            named_libtorch: named("SNAPSCOPE_LIBTORCH").map(PathBuf::from),
            built_libtorch: target.join("libtorch"),
            passed_on: PASSED_ON.iter().filter_map(|name| Some((name.into(), named(name)?))).collect(),
            real_gpu: REAL_GPU.iter().filter_map(|name| Some(((*name).to_owned(), named(name)?))).collect(),
            library_path: named("LD_LIBRARY_PATH"),
        })
    }
}
