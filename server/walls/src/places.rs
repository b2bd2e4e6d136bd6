//! Finds what a recorder has to reach on this machine: folders of libraries, settings and the device files of GPUs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Programs, Walls};

/// Folders in which systems keep libraries, and the settings that libraries read.
///
/// `/etc` is listed by name, because as root a recorder could also read the machine's passwords and keys there.
const SYSTEM: &[&str] = &[
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt/cuda",
    "/nix/store",
    "/gnu/store",
    "/run/opengl-driver",
    "/etc/alternatives",
    "/etc/cufile.json",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/nvidia",
    "/etc/passwd",
    "/sys",
];

/// Files of the machine in `/proc` that libraries read, and the process's own folder.
///
/// The rest shows the command lines of other processes, in which there may be tokens.
const MACHINE: &[&str] =
    &[PROCESS, "/proc/cpuinfo", "/proc/filesystems", "/proc/meminfo", "/proc/stat", "/proc/sys", "/proc/version"];

/// The process's own folder in `/proc`.
const PROCESS: &str = "/proc/self";

/// All of `/proc`, of which a driver reads more than is known; Landlock hides the environment of other processes in it.
const PROCESSES: &str = "/proc";

/// Devices without hardware behind them.
const HARMLESS: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Folder of shared memory, in which CUDA's driver makes files.
const SHARED_MEMORY: &str = "/dev/shm";

/// Folder of the sockets of CUDA's Multi-Process Service (MPS), a daemon through which processes share a GPU.
///
/// It exists only if an administrator has started the daemon; `CUDA_MPS_PIPE_DIRECTORY` names another one.
const SHARING: &str = "/tmp/nvidia-mps";

/// Folder of the socket of the daemon that keeps NVIDIA's driver loaded.
const PERSISTENCE: &str = "/run/nvidia-persistenced";

impl Walls {
    /// Returns the walls of a recorder that writes into `folder`.
    ///
    /// Call it once all libraries are loaded, because their folders stay open.
    /// With `has_driver`, the driver of a real GPU lives behind the walls.
    pub fn of_recorder(folder: &Path, has_driver: bool) -> Self {
        let mut walls = Self {
            read: libraries(),
            write: vec![folder.to_owned()],
            devices: HARMLESS.iter().map(PathBuf::from).collect(),
            has_driver,
            programs: Programs::None,
        };
        if has_driver {
            walls.read.push(PROCESSES.into());
            walls.write.push(SHARED_MEMORY.into());
            walls.devices.extend(cards());
        } else {
            walls.read.extend(MACHINE.iter().map(PathBuf::from));
        }
        walls
    }

    /// Returns the walls of a Python program that runs a script from strangers, which writes into `folder`.
    ///
    /// `python` is the interpreter, whose installation may be read, as may the folders in `read`. The process that starts
    /// the interpreter, and reads what it leaves, has the walls of a supervisor.
    ///
    /// # Errors
    /// Returns a sentence if the interpreter lies so that its folder would open the home folder.
    pub fn of_script(folder: &Path, python: &Path, read: &[PathBuf], is_supervisor: bool) -> Result<Self, String> {
        let installations = installations(python);
        if let Some(place) = installations.iter().find(|place| holds_home(place)) {
            return Err(format!("{} is no installation of Python that scripts may read: use another", place.display()));
        }
        let mut walls = Self::of_recorder(folder, false);
        walls.programs = if is_supervisor { Programs::Supervised } else { Programs::Foreign };
        walls.read.extend(installations.into_iter().chain(read.iter().cloned()));
        walls.read.extend(is_supervisor.then(|| PROCESSES.into()));
        Ok(walls)
    }
}

/// Returns the folders of an interpreter: that of its virtual environment, if it has one, and that of its Python.
fn installations(python: &Path) -> Vec<PathBuf> {
    let prefix = |program: &Path| Some(program.parent()?.parent()?.to_owned());
    let environment = prefix(python).filter(|prefix| prefix.join("pyvenv.cfg").exists());
    let real = python.canonicalize().unwrap_or_else(|_| python.to_owned());
    environment.into_iter().chain(prefix(&real)).collect()
}

/// Returns the files and folders that a process has to read so that its libraries keep working.
///
/// They are the system's libraries and settings, the folders of the libraries that are loaded, and those in
/// `LD_LIBRARY_PATH`. A loaded library that lies in the home folder itself, or in a folder above it, is listed as a
/// single file, so that the folder stays closed.
fn libraries() -> Vec<PathBuf> {
    let searched = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let searched = env::split_paths(&searched).filter(|folder| !folder.as_os_str().is_empty());
    // When it first needs them, libtorch loads libraries from NVIDIA's packages in the same Python environment.
    let searched = searched.flat_map(|folder| [folder.join("../../nvidia"), folder]);
    let loaded = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let program = env::current_exe().ok();
    let loaded = mapped(&loaded).into_iter().map(|file| match file.parent() {
        Some(folder) if Some(&file) != program.as_ref() && !holds_home(folder) => folder.to_owned(),
        _ => file,
    });
    let mut all: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).chain(loaded).collect();
    all.extend(searched.filter(|folder| !holds_home(folder)));
    all.sort();
    all.dedup();
    all
}

/// Returns the files that are mapped as executable code, given the content of `/proc/self/maps`.
fn mapped(maps: &str) -> Vec<PathBuf> {
    let code = maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|rights| rights.contains('x')));
    let mut files: Vec<PathBuf> = code.filter_map(|line| Some(line[line.find('/')?..].into())).collect();
    files.dedup();
    files
}

/// Returns true if a folder is or contains the home folder, or is the root of the file tree.
fn holds_home(folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let home = env::var_os("HOME").map(PathBuf::from);
    let home = home.map(|home| home.canonicalize().unwrap_or(home));
    folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
}

/// Returns the device files of NVIDIA's driver, and the folders of the sockets of its daemons.
fn cards() -> Vec<PathBuf> {
    let is_card = |name: &str| name.starts_with("nvidia") || name == "dxg";
    let entries = fs::read_dir("/dev").into_iter().flatten().flatten();
    let cards = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_card)).map(|entry| entry.path());
    let sharing = env::var_os("CUDA_MPS_PIPE_DIRECTORY").map_or_else(|| SHARING.into(), PathBuf::from);
    cards.chain([sharing, PERSISTENCE.into()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_among_what_is_mapped() {
        let maps = "55d0-55d1 r--p 00000000 00:00 1    /bin/program\n\
                    55d1-55d2 r-xp 00000000 00:00 1    /bin/program\n\
                    7f00-7f01 r-xp 00000000 00:00 2    /a folder/libtorch.so\n\
                    7f01-7f02 rw-p 00000000 00:00 0 \n\
                    7f02-7f03 r-xp 00000000 00:00 0    [vdso]\n";
        assert_eq!(mapped(maps), [Path::new("/bin/program"), Path::new("/a folder/libtorch.so")]);
    }

    #[test]
    fn no_library_opens_the_home_folder() {
        let home = PathBuf::from(env::var_os("HOME").expect("a home folder"));
        assert!(holds_home(&home) && holds_home(Path::new("/")));
        assert!(!holds_home(&home.join("libraries")) && !holds_home(Path::new("/usr/lib")));
        assert!(libraries().iter().all(|place| !holds_home(place)), "{:?}", libraries());
    }
}
