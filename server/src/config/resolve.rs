//! Settings that are checked and complete.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use shared::base::format::bytes;
use tracing::Level;

use super::tokens::Tokens;
use super::{RecorderConfig, SettingsArgs, program, program_folder};
use crate::commands::units;
use crate::failure::Failure;
use crate::repro::Limits;
use crate::store::{BucketVariables, StoreAddress};
use crate::worker::{Slots, WorkerSettings};

/// How far recorders step back: whoever asks the server is answered first.
const NICENESS: i32 = 10;

/// The largest file that a recorder may write.
const OUTPUT_BYTES: u64 = 4 << 30;

/// What the server runs with: everything is resolved and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeConfig {
    /// The address to bind.
    pub listen: SocketAddr,
    /// The address that people reach the server under, without a slash at its end.
    pub public_address: Option<String>,
    /// What submitting and deleting need.
    pub token: Option<String>,
    /// Whether the token was made here: then the address that is printed has it.
    pub is_token_made: bool,
    /// Whether reading needs the token too.
    pub is_private: bool,
    /// What reading the metrics needs.
    pub metrics_token: Option<String>,
    /// This program, which reads uploads in a process of their own.
    pub program: PathBuf,
    /// The folder of the built page; it has an `index.html`.
    pub dist: PathBuf,
    /// The folder of everything that is kept beside database and store.
    pub data: PathBuf,
    /// Where the database is.
    pub database: DatabaseAddress,
    /// Where snapshots are.
    pub store: StoreAddress,
    /// What this process records.
    pub worker: WorkerSettings,
    /// Where its recorder is.
    pub recorder: RecorderConfig,
    /// The most jobs that may wait.
    pub queue: u64,
    /// How long jobs are kept after their end.
    pub keep_jobs: Duration,
    /// What may be shared.
    pub shares: ShareLimits,
    /// Requests of one address in a minute; `None` for any number.
    pub requests: Option<u32>,
    /// Networks of proxies that say who asks.
    pub trusted_proxies: Vec<IpNet>,
    /// Jobs and shares of one address in a minute; `None` for any number.
    pub submissions: Option<u32>,
    /// The most verbose level that is logged.
    pub log: Level,
    /// How log lines look.
    pub log_format: LogFormat,
}

/// What may be shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareLimits {
    /// The largest snapshot, in compressed bytes.
    pub upload_bytes: u64,
    /// The most that the store may hold, in bytes.
    pub quota_bytes: u64,
    /// The longest time that a link may live; `None` where it may live for ever.
    pub longest: Option<Duration>,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// A JSON document a line.
    Json,
}

/// Where the database is; it is shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseAddress(String);

impl DatabaseAddress {
    /// That of a file.
    pub fn file(path: &Path) -> Self {
        Self(format!("sqlite:{}", path.display()))
    }

    /// The file, unless it is a server.
    pub fn path(&self) -> Option<&Path> {
        self.0.strip_prefix("sqlite:").map(Path::new)
    }

    /// The address with its password.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Passwords stand in `postgres://user:password@host/name?password=…`.
        let (place, query) = self.0.split_once('?').map_or((&*self.0, ""), |(place, _)| (place, "?…"));
        match place.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?))) {
            Some((scheme, (user, place))) => {
                let user = user.split_once(':').map_or(user, |(user, _)| user);
                write!(f, "{scheme}://{user}@{place}{query}")
            }
            None => write!(f, "{place}{query}"),
        }
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl SettingsArgs {
    /// Reads the file, checks everything and fills in what was left out.
    ///
    /// # Errors
    ///
    /// A setting means nothing, or no built page is where it should be.
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
            dist: dist(args.dist.clone())?,
            database: database(args.database.as_deref(), &data)?,
            store: args.store.as_deref().map_or_else(|| Ok(StoreAddress::Folder(data.join("store"))), store)?,
            worker: args.worker(&data, "virtual=1")?,
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

    /// Only where the data are: the database and the store.
    ///
    /// # Errors
    ///
    /// A setting means nothing.
    pub fn resolve_place(self) -> Result<(DatabaseAddress, StoreAddress), Failure> {
        let data = self.data.clone().map_or_else(default_data, Ok)?;
        let store = self.store.as_deref().map_or_else(|| Ok(StoreAddress::Folder(data.join("store"))), store)?;
        Ok((database(self.database.as_deref(), &data)?, store))
    }

    fn worker(&self, data: &Path, default_jobs: &str) -> Result<WorkerSettings, Failure> {
        Ok(WorkerSettings {
            slots: slots(self.jobs.as_deref().unwrap_or(default_jobs))?,
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

/// What a worker on another machine runs with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerConfig {
    /// Where the server's database is.
    pub database: DatabaseAddress,
    /// Where the server's snapshots are.
    pub store: StoreAddress,
    /// What this process records.
    pub worker: WorkerSettings,
    /// Where its recorder is.
    pub recorder: RecorderConfig,
    /// The most verbose level that is logged.
    pub log: Level,
    /// How log lines look.
    pub log_format: LogFormat,
}

impl SettingsArgs {
    /// As [`Self::resolve`], for `snapscope worker`: what only a server needs is not looked at.
    ///
    /// # Errors
    ///
    /// A setting means nothing, or database or store are missing.
    pub fn resolve_worker(self) -> Result<WorkerConfig, Failure> {
        let args = self.with_file()?;
        let data = args.data.clone().map_or_else(default_data, Ok)?;
        let (Some(_), Some(store)) = (&args.database, &args.store) else {
            return Err(Failure::new(
                "a worker needs the database and the store of its server",
                "name them with --database and --store, as for `snapscope serve`",
            ));
        };
        Ok(WorkerConfig {
            database: database(args.database.as_deref(), &data)?,
            store: self::store(store)?,
            worker: args.worker(&data, "virtual=1")?,
            recorder: RecorderConfig::from_environment()?,
            log: log_level(args.log.as_deref())?,
            log_format: log_format(args.log_format.as_deref())?,
        })
    }
}

impl fmt::Display for WorkerConfig {
    /// One line a setting, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "database: {}", self.database)?;
        writeln!(f, "store: {}", self.store)?;
        write!(f, "{}", self.worker)
    }
}

impl fmt::Display for ServeConfig {
    /// One line a setting, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secret = |text: Option<&String>| if text.is_some() { "set" } else { "none" }.to_owned();
        let rate = |rate: Option<u32>| rate.map_or("any number".to_owned(), |rate| format!("{rate} a minute"));
        for (name, value) in [
            ("listen", self.listen.to_string()),
            ("public address", self.public_address.clone().unwrap_or_else(|| "as the browser asks".to_owned())),
            ("token", secret(self.token.as_ref())),
            ("metrics token", secret(self.metrics_token.as_ref())),
            ("reading", if self.is_private { "with the token" } else { "free" }.to_owned()),
            ("page", self.dist.display().to_string()),
            ("data", self.data.display().to_string()),
            ("database", self.database.to_string()),
            ("store", self.store.to_string()),
            ("queue", self.queue.to_string()),
            ("keep jobs", seconds(self.keep_jobs)),
            ("upload", bytes(self.shares.upload_bytes)),
            ("quota", bytes(self.shares.quota_bytes)),
            ("share time", self.shares.longest.map_or_else(|| "for ever".to_owned(), seconds)),
            ("requests", rate(self.requests)),
            ("submissions", rate(self.submissions)),
            ("trusted proxies", names_of(&self.trusted_proxies)),
            ("log", self.log.to_string()),
        ] {
            writeln!(f, "{name}: {value}")?;
        }
        write!(f, "{}", self.worker)
    }
}

fn listen(text: &str) -> Result<SocketAddr, Failure> {
    text.parse().map_err(|_| {
        Failure::new(
            format!("`{text}` is not an address to listen on"),
            "give a numeric address and a port, such as 127.0.0.1:8080 or [::1]:8080",
        )
    })
}

/// Networks, or single addresses.
fn networks(text: &str) -> Result<Vec<IpNet>, Failure> {
    let network = |part: &str| part.parse().ok().or_else(|| part.parse::<IpAddr>().ok().map(IpNet::from));
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let networks: Option<Vec<IpNet>> = parts.map(network).collect();
    networks.ok_or_else(|| wrong("trusted-proxies", text, "write for example 127.0.0.1,10.0.0.0/8"))
}

fn names_of(networks: &[IpNet]) -> String {
    match networks {
        [] => "none".to_owned(),
        networks => networks.iter().map(IpNet::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn public_address(text: &str) -> Result<String, Failure> {
    let address = text.trim_end_matches('/');
    if !(address.starts_with("https://") || address.starts_with("http://")) {
        return Err(wrong("public-address", text, "write for example https://snapscope.example.org"));
    }
    Ok(address.to_owned())
}

fn dist(dist: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let dist = match dist {
        Some(dist) => dist,
        // `target/dist` for `target/release/snapscope`.
        None => program_folder("name the page's folder with --dist")?.parent().unwrap_or(Path::new(".")).join("dist"),
    };
    if !dist.join("index.html").is_file() {
        return Err(Failure::new(
            format!("there is no built page in {}", dist.display()),
            "run `./dev build` in a clone of Snapscope, or name the folder with --dist",
        ));
    }
    Ok(dist)
}

/// `$XDG_DATA_HOME/snapscope`, or its usual place.
fn default_data() -> Result<PathBuf, Failure> {
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")));
    data.map(|data| data.join("snapscope"))
        .ok_or_else(|| Failure::new("there is no home folder for the data", "name a folder with --data"))
}

fn database(text: Option<&str>, data: &Path) -> Result<DatabaseAddress, Failure> {
    let Some(text) = text else {
        return Ok(DatabaseAddress::file(&data.join("snapscope.sqlite")));
    };
    if !["sqlite:", "postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
        let address = DatabaseAddress(text.to_owned()).to_string();
        return Err(wrong("database", &address, "write sqlite:PATH or postgres://user@host/name"));
    }
    Ok(DatabaseAddress(text.to_owned()))
}

/// Where the store is, with the variables that a bucket needs.
fn store(text: &str) -> Result<StoreAddress, Failure> {
    let texts = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let variables = BucketVariables::new(env::vars_os().filter_map(texts));
    Ok(StoreAddress::parse(text)?.with_variables(variables))
}

/// `virtual=2,cuda:0=1`; kinds with no jobs are left out.
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
    let slots = slots.ok_or_else(|| wrong("jobs", text, "write for example virtual=2,cuda:0=1"))?;
    Ok(slots.into_iter().filter(|slots| slots.jobs > 0).collect())
}

fn time(name: &str, text: Option<&str>, default: &str) -> Result<Duration, Failure> {
    let text = text.unwrap_or(default);
    units::time(text).map_err(|_| wrong(name, text, "write for example 90s, 30min, 2h or 30d"))
}

fn size(name: &str, text: Option<&str>, default: &str) -> Result<u64, Failure> {
    let text = text.unwrap_or(default);
    units::size(text).map_err(|_| wrong(name, text, "write for example 256MiB or 20GiB"))
}

fn log_level(text: Option<&str>) -> Result<Level, Failure> {
    let text = text.unwrap_or("info");
    text.parse().map_err(|_| wrong("log", text, "write error, warn, info, debug or trace"))
}

fn log_format(text: Option<&str>) -> Result<LogFormat, Failure> {
    match text {
        None | Some("text") => Ok(LogFormat::Text),
        Some("json") => Ok(LogFormat::Json),
        Some(other) => Err(wrong("log-format", other, "write text or json")),
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// Nothing for 0.
const fn some_of(number: u32) -> Option<u32> {
    if number == 0 { None } else { Some(number) }
}

fn wrong(name: &str, text: &str, hint: &str) -> Failure {
    Failure::new(format!("the setting `{name}` cannot be `{text}`"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_databases_are_not_shown() {
        for (address, shown) in [
            ("postgres://ada:hunter2@db/x", "postgres://ada@db/x"),
            ("postgres://db/x?user=ada&password=hunter2", "postgres://db/x?…"),
            ("postgres://ada:hunter2@db/x?sslmode=require&password=hunter2", "postgres://ada@db/x?…"),
            ("sqlite:/data/a.sqlite", "sqlite:/data/a.sqlite"),
        ] {
            let address = DatabaseAddress(address.to_owned());
            assert_eq!((address.to_string(), format!("{address:?}")), (shown.to_owned(), shown.to_owned()));
        }
    }
}
