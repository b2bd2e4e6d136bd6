//! Chooses the token for submitting, and for reading on a private server; without one, others who use this machine
//! could reach the server on its loopback address.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::net::SocketAddr;
use std::path::Path;

use tracing::warn;

use super::SettingsArgs;
use crate::failure::Failure;
use crate::folder::make_private;
use crate::hex::hex;

/// Random bytes of a generated token.
const BYTES: usize = 24;

/// Minimum length of a token that cannot be guessed, in characters.
const SHORTEST: usize = 16;

/// The token and the rights that it protects.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) token: Option<String>,
    pub(super) is_made: bool,
    pub(super) is_private: bool,
}

impl SettingsArgs {
    /// Returns the configured token, or generates one if other people could reach the server without it.
    ///
    /// As in Jupyter, a generated token is part of the printed address, and reading requires it too.
    ///
    /// # Errors
    ///
    /// Returns an error if the settings contradict each other, if other machines could reach the server without a
    /// token, or if a generated token cannot be saved.
    pub(super) fn tokens(&self, listen: SocketAddr, data: &Path) -> Result<Tokens, Failure> {
        let chosen = self.token.clone().filter(|token| !token.is_empty());
        let (wants_none, is_private) = (self.no_token == Some(true), self.private == Some(true));
        match (chosen, wants_none) {
            (Some(_), true) => Err(contradiction("a token is set", "leave out one of --token and --no-token")),
            (None, true) if is_private => {
                Err(contradiction("--private requires one", "leave out one of --private and --no-token"))
            }
            (None, true) => Ok(Tokens { token: None, is_made: false, is_private }),
            (Some(token), false) => {
                if token.chars().count() < SHORTEST {
                    warn!("the token is short and can be guessed; generate a longer one with `openssl rand -hex 32`");
                }
                Ok(Tokens { token: Some(token), is_made: false, is_private })
            }
            (None, false) if !listen.ip().is_loopback() => Err(Failure::new(
                format!("{listen} can be reached from other machines, but there is no token"),
                "set SNAPSCOPE_TOKEN, the token for submitting and deleting, or listen on 127.0.0.1",
            )),
            (None, false) if is_private || (self.private.is_none() && share_this_machine()) => {
                Ok(Tokens { token: Some(kept(data)?), is_made: true, is_private: true })
            }
            (None, false) => Ok(Tokens { token: None, is_made: false, is_private }),
        }
    }
}

fn contradiction(what: &str, hint: &str) -> Failure {
    Failure::new(format!("--no-token asks for no token, but {what}"), hint)
}

/// Reads or makes the token in a data folder; it persists because bookmarks and open pages outlive the server.
fn kept(data: &Path) -> Result<String, Failure> {
    let file = data.join("token");
    read_or_make(&file).map_err(|error| {
        Failure::new(
            format!("the token file {} cannot be read or written: {error}", file.display()),
            "check its folder, choose another folder with --data, or set SNAPSCOPE_TOKEN",
        )
    })
}

fn read_or_make(file: &Path) -> io::Result<String> {
    match fs::read_to_string(file) {
        Ok(text) if text.trim().len() >= SHORTEST => return Ok(text.trim().to_owned()),
        Ok(_) => fs::remove_file(file)?,
        Err(error) if error.kind() == ErrorKind::NotFound => make_private(file.parent().unwrap_or(file))?,
        Err(error) => return Err(error),
    }
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    let token = hex(bytes);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(token.as_bytes())?;
    Ok(token)
}

/// First user ID of people's accounts (`login.defs`); those that a site's directory gives have no upper limit.
const FIRST_PERSON: u32 = 1000;

/// User IDs above [`FIRST_PERSON`] that are no people's: those that systemd gives to services, and `nobody`.
const SERVICES: std::ops::RangeInclusive<u32> = 61_184..=65_519;
const NOBODY: u32 = 65_534;

/// Names in `nsswitch.conf` of sources with the accounts of this machine alone; any other is a site's directory.
const LOCAL: [&str; 5] = ["files", "systemd", "compat", "db", "altfiles"];

/// Variables that are set in a job on a cluster.
const BATCH_SYSTEMS: [&str; 3] = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"];

/// Returns true if other people appear to have accounts on this machine.
///
/// Signs are a job or an account of a cluster, an account that somebody else can log in with, and a running process of
/// somebody else.
fn share_this_machine() -> bool {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let own = rustix::process::getuid().as_raw();
    BATCH_SYSTEMS.iter().any(|name| std::env::var_os(name).is_some())
        || has_directory(&read("/etc/nsswitch.conf"))
        || has_others(&read("/etc/passwd"), own)
        || run_programs(own)
}

/// Returns true if accounts come from a directory service of the site.
fn has_directory(nsswitch: &str) -> bool {
    let sources = nsswitch.lines().filter_map(|line| line.trim().strip_prefix("passwd:"));
    // A word in brackets says what to do with the answer of the source before it.
    sources.flat_map(str::split_whitespace).any(|source| !source.starts_with('[') && !LOCAL.contains(&source))
}

fn is_person(user: u32) -> bool {
    user >= FIRST_PERSON && user != NOBODY && !SERVICES.contains(&user)
}

/// Returns true if somebody else can log in; false in containers, whose images come with unused accounts.
fn has_others(passwd: &str, own: u32) -> bool {
    let account = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        let (number, shell) = (fields.get(2)?.parse::<u32>().ok()?, *fields.get(6)?);
        Some(is_person(number) && number != own && !shell.ends_with("nologin") && !shell.ends_with("false"))
    };
    is_person(own) && passwd.lines().filter_map(account).any(|is_another| is_another)
}

/// Returns true if somebody else runs a process now.
#[cfg(target_os = "linux")]
fn run_programs(own: u32) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(entries) = fs::read_dir(Path::new("/proc")) else { return false };
    let is_process = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.parse::<u32>().is_ok());
    let processes = entries.filter_map(Result::ok).filter(|entry| is_process(&entry.file_name()));
    let owners = processes.filter_map(|entry| Some(entry.metadata().ok()?.uid()));
    owners.into_iter().any(|owner| is_person(owner) && owner != own)
}

/// Returns false, because other systems have no files that show this.
#[cfg(not(target_os = "linux"))]
fn run_programs(_own: u32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(args: &SettingsArgs, listen: &str) -> Result<Tokens, String> {
        let data = tempfile::tempdir().unwrap();
        args.tokens(listen.parse().unwrap(), &data.path().join("new")).map_err(|failure| failure.message)
    }

    const HERE: &str = "127.0.0.1:8080";
    const EVERYWHERE: &str = "0.0.0.0:8080";

    #[test]
    fn a_token_that_is_made_is_kept_for_its_owner() {
        let data = tempfile::tempdir().unwrap();
        let private = SettingsArgs { private: Some(true), ..SettingsArgs::default() };
        let folder = data.path().join("new");
        let made = private.tokens(HERE.parse().unwrap(), &folder).unwrap();
        assert!(made.is_made && made.is_private);
        assert_eq!(made.token.as_ref().map(String::len), Some(2 * BYTES));
        assert_eq!(private.tokens(HERE.parse().unwrap(), &folder).unwrap(), made);
        for (path, mode) in [(folder.join("token"), 0o600), (folder, 0o700)] {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{path:?}");
        }
    }

    #[test]
    fn a_token_that_was_chosen_leaves_reading_free_and_nobody_is_let_in_by_mistake() {
        let args = SettingsArgs { token: Some("chosen".into()), ..SettingsArgs::default() };
        for listen in [HERE, EVERYWHERE] {
            let expected = Tokens { token: Some("chosen".into()), is_made: false, is_private: false };
            assert_eq!(tokens(&args, listen), Ok(expected));
        }
        assert!(tokens(&SettingsArgs::default(), EVERYWHERE).unwrap_err().contains("no token"));
        let none = SettingsArgs { no_token: Some(true), ..SettingsArgs::default() };
        let open = Ok(Tokens { token: None, is_made: false, is_private: false });
        assert_eq!(tokens(&none, EVERYWHERE), open);
        let both = SettingsArgs { token: Some("chosen".into()), ..none.clone() };
        assert!(tokens(&both, HERE).unwrap_err().contains("a token is set"));
        let private = SettingsArgs { private: Some(true), ..none };
        assert!(tokens(&private, HERE).unwrap_err().contains("--private requires one"));
    }

    #[test]
    fn clusters_have_directories() {
        assert!(has_directory("# x\npasswd:         files sss systemd\ngroup: files"));
        assert!(has_directory("passwd: cache_oslogin files oslogin") && has_directory("passwd: files centrifydc"));
        assert!(!has_directory("passwd: files [NOTFOUND=return] systemd\ngroup: files sss"));
        // Others have accounts that they log in with.
        let alone = "root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000::/home/ada:/bin/zsh\n\
            nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\nposter:x:1001:1001::/srv:/usr/sbin/nologin\n";
        assert!(!has_others(alone, 1000));
        let shared = format!("{alone}bob:x:1002:1002:Bob:/home/bob:/bin/bash\n");
        assert!(has_others(&shared, 1000) && has_others(alone, 1001));
        assert!(!has_others(alone, 0), "in a container");
        assert!(!has_others("nonsense\n", 1000));
        let site = "eve:x:1746800001:1000::/home/eve:/bin/bash\ndb:x:61184:61184::/:/bin/bash\n";
        assert!(has_others(site, 1000) && !has_others(site, 1_746_800_001), "services of systemd are no people");
    }
}
