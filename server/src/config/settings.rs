//! Declares the settings as typed on the command line, in the environment, or in a file.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::BoolishValueParser;
use serde::Deserialize;

use crate::failure::Failure;

/// Declares each setting once for its flag, its variable and its key in the file.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty, $variable:literal, $value:literal $(, [$($more:tt)+])?;)+) => {
        /// Settings as typed; whatever is `None` was left out.
        #[derive(Debug, Clone, Default, PartialEq, Args, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct SettingsArgs {
            /// TOML file with settings; its keys are the long options, with underscores
            #[arg(long, value_name = "FILE", env = "SNAPSCOPE_SETTINGS")]
            #[serde(skip)]
            pub settings: Option<PathBuf>,
            $(
                $(#[doc = $doc])+
                #[arg(long, value_name = $value, env = $variable, $($($more)+)?)]
                pub $name: Option<$type>,
            )+
        }

        impl SettingsArgs {
            /// Fills in missing settings from others.
            fn or(self, others: Self) -> Self {
                Self { settings: self.settings, $($name: self.$name.or(others.$name)),+ }
            }
        }
    };
}

settings! {
    /// Address and port to listen on; port 0 picks a free port [default: 127.0.0.1:8080]
    listen: String, "SNAPSCOPE_LISTEN", "ADDR";
    /// Public address of the server, for links [default: the address that the browser requests]
    public_address: String, "SNAPSCOPE_PUBLIC_ADDRESS", "URL";
    /// Token required to submit and delete; prefer the variable, because other users can see the command line [default: none, or generated and kept in the data folder if other people use this machine]
    token: String, "SNAPSCOPE_TOKEN", "TOKEN";
    /// Require the token to read too, except through shared links [default: no]
    private: bool, "SNAPSCOPE_PRIVATE", "BOOL", [num_args = 0..=1, default_missing_value = "true", value_parser = BoolishValueParser::new()];
    /// Require no token even if others can reach the server, as in a container [default: no]
    no_token: bool, "SNAPSCOPE_NO_TOKEN", "BOOL", [num_args = 0..=1, default_missing_value = "true", value_parser = BoolishValueParser::new()];
    /// Token required to read /metrics [default: the same as --token]
    metrics_token: String, "SNAPSCOPE_METRICS_TOKEN", "TOKEN";
    /// Folder of the built web pages [default: those inside this program, or `dist` next to its folder]
    dist: PathBuf, "SNAPSCOPE_DIST", "DIR";
    /// Folder of the database, the store and running recordings [default: ~/.local/share/snapscope]
    data: PathBuf, "SNAPSCOPE_DATA", "DIR";
    /// Address of the database: `sqlite:PATH` or `postgres://…` [default: a file in the data folder]
    database: String, "SNAPSCOPE_DATABASE", "URL";
    /// Where to store snapshots: a folder, or s3://bucket/prefix with the variables `AWS_…` [default: a folder in the data folder]
    store: String, "SNAPSCOPE_STORE", "PLACE";
    /// Number of simultaneous jobs for each kind of device, 0 to leave them to other workers [default: virtual=1]
    jobs: String, "SNAPSCOPE_JOBS", "KIND=N,…";
    /// Run Python scripts that are submitted, in a sandbox, with this Python, which has PyTorch; without a value, with `python3` [default: refuse scripts]
    scripts: PathBuf, "SNAPSCOPE_SCRIPTS", "PYTHON", [num_args = 0..=1, default_missing_value = "python3"];
    /// Time limit of a job [default: 30min]
    job_time: String, "SNAPSCOPE_JOB_TIME", "TIME";
    /// Limit on the host memory of a job [default: 8GiB]
    job_memory: String, "SNAPSCOPE_JOB_MEMORY", "SIZE";
    /// Maximum number of waiting jobs [default: 200]
    queue: u32, "SNAPSCOPE_QUEUE", "N";
    /// Time for which jobs and their snapshots are kept after they end [default: 30d]
    keep_jobs: String, "SNAPSCOPE_KEEP_JOBS", "TIME";
    /// Time without a heartbeat after which the jobs of a worker go to others [default: 30s]
    lease: String, "SNAPSCOPE_LEASE", "TIME";
    /// Time that running jobs have to finish after a signal to stop [default: 20s]
    grace: String, "SNAPSCOPE_GRACE", "TIME";
    /// Maximum compressed size of a shared snapshot [default: 256MiB]
    upload: String, "SNAPSCOPE_UPLOAD", "SIZE";
    /// Maximum total size of snapshots and jobs [default: 20GiB]
    quota: String, "SNAPSCOPE_QUOTA", "SIZE";
    /// Maximum lifetime of a link, or `never` to allow links that do not expire [default: 30d]
    share_time: String, "SNAPSCOPE_SHARE_TIME", "TIME";
    /// Requests per minute from one address, 0 for no limit [default: 1200]
    requests: u32, "SNAPSCOPE_REQUESTS", "N";
    /// Networks of proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8 [default: none]
    trusted_proxies: String, "SNAPSCOPE_TRUSTED_PROXIES", "NET,…";
    /// Jobs and shares per minute from one address, 0 for no limit [default: 60]
    submissions: u32, "SNAPSCOPE_SUBMISSIONS", "N";
    /// Log level: error, warn, info, debug or trace [default: info]
    log: String, "SNAPSCOPE_LOG", "LEVEL";
    /// Log format: text or json [default: text]
    log_format: String, "SNAPSCOPE_LOG_FORMAT", "FORMAT";
}

impl SettingsArgs {
    /// Adds the settings of the file, if one is named.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, has an unknown key, or has a value of the wrong type.
    pub(super) fn with_file(self) -> Result<Self, Failure> {
        let Some(path) = self.settings.clone() else { return Ok(self) };
        let file = read(&path)?;
        Ok(self.or(file))
    }
}

fn read(path: &Path) -> Result<SettingsArgs, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("the settings in {} cannot be read: {error}", path.display()), "check the path")
    })?;
    toml::from_str(&text).map_err(|error| {
        let place = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let message = error.message().trim_end();
        Failure::new(
            format!("{}, line {place}: {message}", path.display()),
            "the keys are the long options of `snapscope serve --help`, with underscores",
        )
    })
}
