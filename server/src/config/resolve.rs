//! Checks the settings and fills in defaults.

use std::env;
use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use shared::api::SCRIPTS;
use tracing::Level;

use super::tokens::Tokens;
use super::{
    DatabaseAddress, LogFormat, RecorderConfig, ServeConfig, SettingsArgs, ShareLimits, WorkerConfig, built_pages,
    program,
};
use crate::failure::Failure;
use crate::jobs::worker::{Slots, WorkerSettings};
use crate::recording::repro::Limits;
use crate::store::{BucketVariables, StoreAddress};
use crate::units;

/// Niceness of recorders, so that requests to the server take precedence.
///
/// At 10, a recording of a second took over 16 on a machine that others kept busy.
const NICENESS: i32 = 4;

/// Maximum size of a file that a recorder may write.
const OUTPUT_BYTES: u64 = 4 << 30;

impl SettingsArgs {
    /// Reads the settings file, checks all settings and fills in the defaults.
    pub fn resolve(self) -> Result<ServeConfig, Failure> {
        let args = self.with_file()?;
        let listen = listen(args.listen.as_deref().unwrap_or("127.0.0.1:8080"))?;
        let data = args.data.clone().map_or_else(default_data, Ok)?;
        let Tokens { token, is_made, is_private } = args.tokens(listen, &data)?;
        Ok(ServeConfig {
            listen,
            public_address: args.public_address.as_deref().map(public_address).transpose()?,
            metrics_token: args.metrics_token.clone().filter(|token| !token.is_empty()).or_else(|| token.clone()),
            token,
            is_token_made: is_made,
            is_private,
            program: program()?,
            pages: built_pages(args.dist.clone())?,
            database: database(args.database.as_deref(), &data)?,
            store: args.store.as_deref().map_or_else(|| Ok(StoreAddress::Folder(data.join("store"))), store)?,
            worker: args.worker(&data)?,
            recorder: RecorderConfig::from_environment()?,
            queue: args.queue.unwrap_or(200).into(),
            keep_jobs: time("keep-jobs", args.keep_jobs.as_deref(), "30d")?,
            shares: ShareLimits {
                upload_bytes: size("upload", args.upload.as_deref(), "256MiB")?,
                quota_bytes: size("quota", args.quota.as_deref(), "20GiB")?,
                longest: match args.share_time.as_deref() {
                    Some("never") => None,
                    text => Some(time("share-time", text, "30d")?),
                },
            },
            requests: some_of(args.requests.unwrap_or(1200)),
            trusted_proxies: networks(args.trusted_proxies.as_deref().unwrap_or_default())?,
            submissions: some_of(args.submissions.unwrap_or(60)),
            log: log_level(args.log.as_deref())?,
            log_format: log_format(args.log_format.as_deref())?,
            data,
        })
    }

    /// Resolves only the addresses of the database and the store.
    pub fn resolve_place(self) -> Result<(DatabaseAddress, StoreAddress), Failure> {
        let data = self.data.clone().map_or_else(default_data, Ok)?;
        let store = self.store.as_deref().map_or_else(|| Ok(StoreAddress::Folder(data.join("store"))), store)?;
        Ok((database(self.database.as_deref(), &data)?, store))
    }

    /// Resolves the settings of `snapscope worker` and ignores those that only a server needs.
    pub fn resolve_worker(self) -> Result<WorkerConfig, Failure> {
        let args = self.with_file()?;
        let data = args.data.clone().map_or_else(default_data, Ok)?;
        let (Some(_), Some(store)) = (&args.database, &args.store) else {
            return Err(Failure::new(
                "a worker needs the database and the store of its server",
                "pass them with --database and --store, as for `snapscope serve`",
            ));
        };
        Ok(WorkerConfig {
            database: database(args.database.as_deref(), &data)?,
            store: self::store(store)?,
            worker: args.worker(&data)?,
            recorder: RecorderConfig::from_environment()?,
            log: log_level(args.log.as_deref())?,
            log_format: log_format(args.log_format.as_deref())?,
        })
    }

    fn worker(&self, data: &Path) -> Result<WorkerSettings, Failure> {
        let scripts = self.scripts.clone().filter(|python| !python.as_os_str().is_empty());
        let of_scripts = scripts.iter().map(|_| Slots { kind: SCRIPTS.to_owned(), jobs: 1 });
        Ok(WorkerSettings {
            slots: slots(self.jobs.as_deref().unwrap_or("virtual=1"))?.into_iter().chain(of_scripts).collect(),
            scripts,
            limits: Limits {
                time: time("job-time", self.job_time.as_deref(), "30min")?,
                memory_bytes: size("job-memory", self.job_memory.as_deref(), "8GiB")?,
                output_bytes: OUTPUT_BYTES,
                niceness: NICENESS,
                ..Limits::default()
            },
            scratch: data.join("scratch"),
            lease: time("lease", self.lease.as_deref(), "30s")?,
            grace: time("grace", self.grace.as_deref(), "20s")?,
        })
    }
}

fn listen(text: &str) -> Result<SocketAddr, Failure> {
    text.parse().map_err(|_| {
        Failure::new(
            format!("`{text}` is not an address to listen on"),
            "use a numeric address and a port, such as 127.0.0.1:8080 or [::1]:8080",
        )
    })
}

/// Parses networks or single addresses, separated by commas.
fn networks(text: &str) -> Result<Vec<IpNet>, Failure> {
    let network = |part: &str| part.parse().ok().or_else(|| part.parse::<IpAddr>().ok().map(IpNet::from));
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let networks: Option<Vec<IpNet>> = parts.map(network).collect();
    networks.ok_or_else(|| wrong("trusted-proxies", text, "use for example 127.0.0.1,10.0.0.0/8"))
}

fn public_address(text: &str) -> Result<String, Failure> {
    let address = text.trim_end_matches('/');
    if !(address.starts_with("https://") || address.starts_with("http://")) {
        return Err(wrong("public-address", text, "use for example https://snapscope.example.org"));
    }
    Ok(address.to_owned())
}

/// Returns `$XDG_DATA_HOME/snapscope`, or `~/.local/share/snapscope`.
fn default_data() -> Result<PathBuf, Failure> {
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")));
    data.map(|data| data.join("snapscope"))
        .ok_or_else(|| Failure::new("there is no home folder for the data", "pass a folder with --data"))
}

fn database(text: Option<&str>, data: &Path) -> Result<DatabaseAddress, Failure> {
    let Some(text) = text else {
        return Ok(DatabaseAddress::file(&data.join("snapscope.sqlite")));
    };
    if !["sqlite:", "postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
        let address = DatabaseAddress::new(text).to_string();
        return Err(wrong("database", &address, "use sqlite:PATH or postgres://user@host/name"));
    }
    Ok(DatabaseAddress::new(text))
}

/// Parses the address of the store and adds the variables for a bucket.
fn store(text: &str) -> Result<StoreAddress, Failure> {
    let texts = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let variables = BucketVariables::new(env::vars_os().filter_map(texts));
    Ok(StoreAddress::parse(text)?.with_variables(variables))
}

/// Parses `virtual=2,cuda:0=1` and omits kinds with 0 jobs.
fn slots(text: &str) -> Result<Vec<Slots>, Failure> {
    const MOST: usize = 256;
    let slot = |part: &str| {
        let (kind, jobs) = part.split_once('=').map_or((part, "1"), |(kind, jobs)| (kind, jobs));
        let known = kind == "virtual" || kind.strip_prefix("cuda:").is_some_and(|index| index.parse::<u32>().is_ok());
        let jobs = jobs.parse().ok().filter(|jobs| *jobs <= MOST && known)?;
        Some(Slots { kind: kind.to_owned(), jobs })
    };
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let slots: Option<Vec<_>> = parts.map(slot).collect();
    let slots = slots.ok_or_else(|| wrong("jobs", text, "use for example virtual=2,cuda:0=1"))?;
    Ok(slots.into_iter().filter(|slots| slots.jobs > 0).collect())
}

fn time(name: &str, text: Option<&str>, default: &str) -> Result<Duration, Failure> {
    let text = text.unwrap_or(default);
    units::time(text).map_err(|_| wrong(name, text, "use for example 90s, 30min, 2h or 30d"))
}

fn size(name: &str, text: Option<&str>, default: &str) -> Result<u64, Failure> {
    let text = text.unwrap_or(default);
    units::size(text).map_err(|_| wrong(name, text, "use for example 256MiB or 20GiB"))
}

fn log_level(text: Option<&str>) -> Result<Level, Failure> {
    let text = text.unwrap_or("info");
    text.parse().map_err(|_| wrong("log", text, "use error, warn, info, debug or trace"))
}

fn log_format(text: Option<&str>) -> Result<LogFormat, Failure> {
    match text {
        None | Some("text") => Ok(LogFormat::Text),
        Some("json") => Ok(LogFormat::Json),
        Some(other) => Err(wrong("log-format", other, "use text or json")),
    }
}

/// Returns `None` for 0.
const fn some_of(number: u32) -> Option<u32> {
    if number == 0 { None } else { Some(number) }
}

fn wrong(name: &str, text: &str, hint: &str) -> Failure {
    Failure::new(format!("the setting `{name}` cannot be `{text}`"), hint)
}
