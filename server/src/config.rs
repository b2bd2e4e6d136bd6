//! What a person typed, and what it means: nothing else reads the environment.

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

/// The folder that `./dev build` fills: `target/dist` for `target/release/snapscope`.
fn default_dist() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(format!("this program cannot find itself: {error}"), "name the page's folder with --dist")
    })?;
    let folder = program.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    Ok(folder.join("dist"))
}
