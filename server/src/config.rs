//! What a person typed, and what it means: nothing else reads the environment.

use std::env;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use tracing::Level;

use crate::failure::Failure;

/// The options of `snapscope serve`, as typed.
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", env = "SNAPSCOPE_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: String,

    /// Folder of the built page [default: `dist` beside the folder of this program]
    #[arg(long, value_name = "DIR", env = "SNAPSCOPE_DIST")]
    pub dist: Option<PathBuf>,

    /// How much to log: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", env = "SNAPSCOPE_LOG", default_value = "info")]
    pub log: Level,
}

/// What `snapscope serve` runs with: everything is resolved and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeConfig {
    /// The address to bind.
    pub listen: SocketAddr,
    /// The folder of the built page; it has an `index.html`.
    pub dist: PathBuf,
    /// The most verbose level that is logged.
    pub log: Level,
}

impl ServeArgs {
    /// Checks the options and fills in what was left out.
    ///
    /// # Errors
    ///
    /// The address has no port or is no number, or no built page is where it should be.
    pub fn resolve(self) -> Result<ServeConfig, Failure> {
        let listen = self.listen.parse().map_err(|_| {
            Failure::new(
                format!("`{}` is not an address to listen on", self.listen),
                "give a numeric address and a port, such as 127.0.0.1:8080 or [::1]:8080",
            )
        })?;
        let dist = self.dist.map_or_else(default_dist, Ok)?;
        if !dist.join("index.html").is_file() {
            return Err(Failure::new(
                format!("there is no built page in {}", dist.display()),
                "run `./dev build` in a clone of Snapscope, or name the folder with --dist",
            ));
        }
        Ok(ServeConfig { listen, dist, log: self.log })
    }
}

/// Where the recorder and its libraries are, and what it may see of this process's environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecorderConfig {
    /// The program `snapscope-recorder`: `SNAPSCOPE_RECORDER`, or the one beside this program.
    pub program: PathBuf,
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
            virtual_gpu: path("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", target.join("virtual-gpu")),
            named_libtorch: named("SNAPSCOPE_LIBTORCH").map(PathBuf::from),
            built_libtorch: target.join("libtorch"),
            passed_on: PASSED_ON.iter().filter_map(|name| Some((name.into(), named(name)?))).collect(),
            real_gpu: REAL_GPU.iter().filter_map(|name| Some(((*name).to_owned(), named(name)?))).collect(),
            library_path: named("LD_LIBRARY_PATH"),
        })
    }
}

/// The folder that `./dev build` fills: `target/dist` for `target/release/snapscope`.
fn default_dist() -> Result<PathBuf, Failure> {
    let folder = program_folder("name the page's folder with --dist")?;
    Ok(folder.parent().unwrap_or(Path::new(".")).join("dist"))
}

/// The folder that this program lies in.
fn program_folder(hint: &str) -> Result<PathBuf, Failure> {
    let program =
        env::current_exe().map_err(|error| Failure::new(format!("this program cannot find itself: {error}"), hint))?;
    Ok(program.parent().unwrap_or(Path::new(".")).to_owned())
}
