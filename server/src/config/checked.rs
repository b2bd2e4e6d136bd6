//! Holds the settings as the server and its workers use them: checked and complete.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use shared::base::format::bytes;
use tracing::Level;

use super::{DatabaseAddress, RecorderConfig};
use crate::built_pages::BuiltPages;
use crate::jobs::worker::WorkerSettings;
use crate::store::StoreAddress;

/// Configuration of the server, resolved and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ServeConfig {
    pub listen: SocketAddr,
    /// Public address of the server, without a trailing slash.
    pub public_address: Option<String>,
    /// Token required to submit and delete.
    pub token: Option<String>,
    /// True if the token was generated, so that the printed address must include it.
    pub is_token_made: bool,
    /// True if reading requires the token too.
    pub is_private: bool,
    /// Token required to read the metrics.
    pub metrics_token: Option<String>,
    /// This program, which reads uploads in a separate process.
    pub program: PathBuf,
    pub pages: BuiltPages,
    /// Folder of all data; the default place of the database and the store.
    pub data: PathBuf,
    pub database: DatabaseAddress,
    pub store: StoreAddress,
    pub worker: WorkerSettings,
    pub recorder: RecorderConfig,
    /// Maximum number of queued jobs.
    pub queue: u64,
    /// Time that jobs are kept after their end.
    pub keep_jobs: Duration,
    pub shares: ShareLimits,
    /// Requests per address and minute; `None` for no limit.
    pub requests: Option<u32>,
    /// Networks of proxies whose statement of the client's address is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Jobs and shares per address and minute; `None` for no limit.
    pub submissions: Option<u32>,
    /// Most verbose level that is logged.
    pub log: Level,
    pub log_format: LogFormat,
}

impl ServeConfig {
    /// Returns the token if it was generated.
    pub fn made_token(&self) -> Option<&str> {
        self.token.as_deref().filter(|_| self.is_token_made)
    }
}

/// Limits of uploads and links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareLimits {
    /// Maximum size of a snapshot, in compressed bytes.
    pub upload_bytes: u64,
    /// Maximum size of the store and the texts of jobs, in bytes.
    pub quota_bytes: u64,
    /// Maximum lifetime of a link; `None` for no limit.
    pub longest: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Plain text for people.
    Text,
    /// One JSON document per line.
    Json,
}

/// Configuration of a worker process without a server, resolved and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerConfig {
    pub database: DatabaseAddress,
    pub store: StoreAddress,
    pub worker: WorkerSettings,
    pub recorder: RecorderConfig,
    /// Most verbose level that is logged.
    pub log: Level,
    pub log_format: LogFormat,
}

impl fmt::Display for WorkerConfig {
    /// Writes one line per setting, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "database: {}", self.database)?;
        writeln!(f, "store: {}", self.store)?;
        write!(f, "{}", self.worker)
    }
}

impl fmt::Display for ServeConfig {
    /// Writes one line per setting, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secret = |text: Option<&String>| if text.is_some() { "set" } else { "none" }.to_owned();
        let rate = |rate: Option<u32>| rate.map_or("no limit".to_owned(), |rate| format!("{rate} per minute"));
        let proxies: Vec<String> = self.trusted_proxies.iter().map(IpNet::to_string).collect();
        for (name, value) in [
            ("listen", self.listen.to_string()),
            ("public address", self.public_address.clone().unwrap_or_else(|| "as the browser requests".to_owned())),
            ("token", secret(self.token.as_ref())),
            ("metrics token", secret(self.metrics_token.as_ref())),
            ("reading", if self.is_private { "with the token" } else { "free" }.to_owned()),
            ("page", self.pages.to_string()),
            ("data", self.data.display().to_string()),
            ("database", self.database.to_string()),
            ("store", self.store.to_string()),
            ("queue", self.queue.to_string()),
            ("keep jobs", seconds(self.keep_jobs)),
            ("upload", bytes(self.shares.upload_bytes)),
            ("quota", bytes(self.shares.quota_bytes)),
            ("share time", self.shares.longest.map_or_else(|| "no limit".to_owned(), seconds)),
            ("requests", rate(self.requests)),
            ("submissions", rate(self.submissions)),
            ("trusted proxies", if proxies.is_empty() { "none".to_owned() } else { proxies.join(", ") }),
            ("log", self.log.to_string()),
        ] {
            writeln!(f, "{name}: {value}")?;
        }
        write!(f, "{}", self.worker)
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
