//! Detects whether other people use this machine, because they can reach a server on its loopback address.

use std::fs;
use std::path::Path;

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
pub(super) fn share_this_machine() -> bool {
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

    #[test]
    fn clusters_have_directories() {
        assert!(has_directory("# x\npasswd:         files sss systemd\ngroup: files"));
        assert!(has_directory("passwd: cache_oslogin files oslogin") && has_directory("passwd: files centrifydc"));
        assert!(!has_directory("passwd: files [NOTFOUND=return] systemd\ngroup: files sss"));
    }

    #[test]
    fn others_have_accounts_that_they_log_in_with() {
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
