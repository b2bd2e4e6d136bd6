//! Locates the recorder and selects the environment that it sees.

use std::env;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::PathBuf;

use super::companions::{self, Companions};
use super::program;
use crate::failure::Failure;

/// Locations of the recorder and its libraries, and the variables passed on to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecorderConfig {
    /// The program `snapscope-recorder`: `SNAPSCOPE_RECORDER`, or the one that belongs to this program.
    pub program: PathBuf,
    /// This program, which reads the recorder's snapshot in a separate process.
    pub reader: PathBuf,
    /// Folder of the virtual GPU: `SNAPSCOPE_VIRTUAL_GPU_LIBRARIES`, or the one that belongs to this program.
    pub virtual_gpu: PathBuf,
    /// The libtorch named by `SNAPSCOPE_LIBTORCH`, for virtual and real GPUs.
    pub named_libtorch: Option<PathBuf>,
    /// The libtorch that `./dev build` fetched, for virtual GPUs.
    pub built_libtorch: PathBuf,
    /// The Python for which a wheel has installed this program, whose PyTorch is used instead of a fetched one.
    pub installed_for: Option<OsString>,
    /// Variables that every recorder receives.
    pub passed_on: Vec<(OsString, OsString)>,
    /// Variables that select among real GPUs and name the daemon that shares them, only for recorders on one.
    pub real_gpu: Vec<(String, OsString)>,
    /// `LD_LIBRARY_PATH`, which may locate CUDA's driver for real GPUs.
    pub library_path: Option<OsString>,
}

impl RecorderConfig {
    /// Reads the environment, with the files that belong to this program as defaults.
    ///
    /// The existence of files is checked only when they are needed.
    pub fn from_environment() -> Result<Self, Failure> {
        const PASSED_ON: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];
        const REAL_GPU: [&str; 4] =
            ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "CUDA_MPS_PIPE_DIRECTORY"];
        let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let companions = Companions::find("set SNAPSCOPE_RECORDER to the path of the recorder")?;
        let path = |name: &str, default: PathBuf| named(name).map_or(default, PathBuf::from);
        Ok(Self {
            program: path("SNAPSCOPE_RECORDER", companions.recorder()),
            reader: program()?,
            virtual_gpu: path("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", companions.virtual_gpu()),
            named_libtorch: named("SNAPSCOPE_LIBTORCH").map(PathBuf::from),
            built_libtorch: companions.libtorch(),
            // `python -m snapscope` names its interpreter.
            installed_for: companions.python().map(|found| named("SNAPSCOPE_PYTHON").unwrap_or(found)),
            passed_on: PASSED_ON.iter().filter_map(|name| Some((name.into(), named(name)?))).collect(),
            real_gpu: REAL_GPU.iter().filter_map(|name| Some(((*name).to_owned(), named(name)?))).collect(),
            library_path: named("LD_LIBRARY_PATH"),
        })
    }

    /// Returns how to get what is missing.
    pub(crate) fn remedy(&self) -> &'static str {
        companions::remedy(self.installed_for.is_some())
    }

    /// Returns true while a script builds the recorder: jobs wait for it instead of failing.
    ///
    /// The script and what it starts hold a lock on `snapscope-recorder.building`, next to the program; a file that no
    /// process locks does not count.
    pub fn is_being_built(&self) -> bool {
        let marker = File::open(self.program.with_extension("building"));
        marker.is_ok_and(|marker| matches!(marker.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    #[test]
    fn a_recorder_is_being_built_while_its_builder_lives() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("snapscope-recorder");
        let config = RecorderConfig { program: program.clone(), ..RecorderConfig::from_environment().unwrap() };
        assert!(!config.is_being_built(), "no file");
        let marker = program.with_extension("building");
        File::create(&marker).unwrap();
        assert!(!config.is_being_built(), "of a script that has ended");
        // The script's own command.
        let mut builder = Command::new("flock");
        builder.arg(&marker).args(["-c", "echo locked; read -r end"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut builder = builder.spawn().unwrap();
        assert_eq!(std::io::read_to_string(builder.stdout.take().unwrap().take(7)).unwrap(), "locked\n");
        assert!(config.is_being_built());
        drop(builder.stdin.take());
        builder.wait().unwrap();
        assert!(!config.is_being_built());
    }
}
