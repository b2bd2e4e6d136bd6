//! Locates libtorch and CUDA for the recorder and builds its environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use shared::job::{Device, Job};

use crate::Failure;
use crate::config::RecorderConfig;
use crate::virtual_gpu;

/// Release of PyTorch that the recorder is built for.
const RELEASE: &str = "2.11";

/// Returns the complete environment of the recorder; a virtual GPU writes its warnings to `log`, and its links are made
/// in the folder `links`, if it has none.
///
/// # Errors
///
/// Returns an error if a library is missing or libtorch is of another release.
pub(super) fn environment(
    config: &RecorderConfig,
    job: &Job,
    log: &Path,
    links: &Path,
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut variables = config.passed_on.clone();
    let mut set = |name: &str, value: &OsStr| variables.push((name.into(), value.into()));
    // A recording hardly computes on the host, and on a large machine more threads would cost memory.
    set("OMP_NUM_THREADS", OsStr::new("2"));
    if !job.allocator.is_empty() {
        set("PYTORCH_CUDA_ALLOC_CONF", OsStr::new(&job.allocator));
    }
    let folders = match &job.device {
        Device::Virtual(cards) => {
            set("SNAPSCOPE_VIRTUAL_GPU", OsStr::new(&cards.to_string()));
            set("SNAPSCOPE_VIRTUAL_GPU_LOG", log.as_os_str());
            if job.parallel.is_some_and(|parallel| parallel.ddp().is_some()) {
                // DDP processes compare their models, and read the values for that from the device.
                set("SNAPSCOPE_VIRTUAL_GPU_VALUES", OsStr::new("shadow"));
            }
            let [stand_ins, libraries] = virtual_folders(config, links)?;
            if has_nvidias(&libraries) {
                // NVIDIA's libraries would come before those in the search path.
                set("LD_AUDIT", config.virtual_gpu.join("libsnapscope_audit.so").as_os_str());
                set("SNAPSCOPE_VIRTUAL_GPU_FOLDER", stand_ins.as_os_str());
            }
            // The links may lead to a library in another folder, which a recorder may read only if it is listed.
            vec![stand_ins, libraries, config.virtual_gpu.clone()]
        }
        Device::Cuda(_) => {
            config.real_gpu.iter().for_each(|(name, value)| set(name, value));
            // The caches would be outside the folders that a recorder may write to.
            set("CUDA_CACHE_DISABLE", OsStr::new("1"));
            set("USE_PYTORCH_KERNEL_CACHE", OsStr::new("0"));
            make_device_files();
            let mut folders = vec![users_libtorch(config)?];
            folders.extend(config.library_path.iter().flat_map(std::env::split_paths));
            folders
        }
    };
    let path = std::env::join_paths(folders).map_err(|error| {
        Failure::new(format!("a folder of libraries cannot be in a search path: {error}"), "move Snapscope elsewhere")
    })?;
    set("LD_LIBRARY_PATH", &path);
    Ok(variables)
}

/// Makes NVIDIA's device files, which do not exist before CUDA's first use after a boot.
///
/// CUDA would run `nvidia-modprobe` itself, but a recorder may not start programs.
fn make_device_files() {
    if !Path::new("/dev/nvidia-uvm").exists() {
        // If this fails, CUDA reports that there is no device.
        let _ = Command::new("nvidia-modprobe").args(["-c", "0", "-u"]).output();
    }
}

/// Returns the folders of the CUDA stand-ins and of a libtorch, in this order.
fn virtual_folders(config: &RecorderConfig, links: &Path) -> Result<[PathBuf; 2], Failure> {
    let build = config.remedy();
    if !["libcudart.so.13", virtual_gpu::LIBRARY].iter().any(|name| config.virtual_gpu.join(name).exists()) {
        let message = format!("there is no virtual GPU in {}", config.virtual_gpu.display());
        return Err(Failure::new(message, format!("{build}, or set SNAPSCOPE_VIRTUAL_GPU_LIBRARIES to its folder")));
    }
    let stand_ins = virtual_gpu::with_links(&config.virtual_gpu, links).map_err(|error| {
        Failure::new(format!("{} cannot be written: {error}", links.display()), "choose a folder with room")
    })?;
    if config.named_libtorch.is_none() && config.installed_for.is_some() {
        return Ok([stand_ins, users_libtorch(config)?]);
    }
    let libtorch = config.named_libtorch.as_deref().unwrap_or(&config.built_libtorch);
    let libraries = library_folder(libtorch).ok_or_else(|| {
        let message = format!("there is no libtorch with CUDA in {}", libtorch.display());
        Failure::new(message, format!("{build} to fetch one, or set SNAPSCOPE_LIBTORCH to its folder"))
    })?;
    check_release(&libraries)?;
    Ok([stand_ins, libraries])
}

/// Returns true if the Python environment of a libtorch also has NVIDIA's packages.
fn has_nvidias(libraries: &Path) -> bool {
    libraries.join("../../nvidia").exists()
}

/// Returns the library folder of the PyTorch that the user trains with.
fn users_libtorch(config: &RecorderConfig) -> Result<PathBuf, Failure> {
    let folder = match &config.named_libtorch {
        Some(folder) => folder.clone(),
        None => python_torch(config).ok_or_else(|| no_torch(config))?,
    };
    let libraries = library_folder(&folder).ok_or_else(|| {
        Failure::new(
            format!("the PyTorch in {} is built without CUDA", folder.display()),
            format!("install PyTorch {RELEASE} with CUDA, or set SNAPSCOPE_LIBTORCH to the folder of such a libtorch"),
        )
    })?;
    check_release(&libraries)?;
    Ok(libraries)
}

fn no_torch(config: &RecorderConfig) -> Failure {
    if let Some(python) = &config.installed_for {
        let python = Path::new(python).display();
        return Failure::new(
            format!("the recorder needs PyTorch {RELEASE}, and {python} has no package `torch`"),
            format!(
                "install it with `{python} -m pip install torch=={RELEASE}.*`, which the wheel's extra `recorder` does \
                 too, or set SNAPSCOPE_LIBTORCH to its folder `torch`"
            ),
        );
    }
    Failure::new(
        "PyTorch was not found: python3 has no package `torch`",
        format!("activate the environment with PyTorch {RELEASE}, or set SNAPSCOPE_LIBTORCH to its folder `torch`"),
    )
}

/// Asks the user's Python for the folder of the package `torch` without importing it.
fn python_torch(config: &RecorderConfig) -> Option<PathBuf> {
    const FIND: &str = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])";
    let python = config.installed_for.as_deref().unwrap_or(OsStr::new("python3"));
    let answer = Command::new(python).args(["-c", FIND]).output().ok()?;
    let folder = String::from_utf8(answer.stdout).ok()?;
    (answer.status.success() && !folder.trim().is_empty()).then(|| PathBuf::from(folder.trim()))
}

/// Returns the folder with the libraries: the given one, or `lib` in it.
fn library_folder(folder: &Path) -> Option<PathBuf> {
    let folders = [folder.to_owned(), folder.join("lib")];
    folders.into_iter().find(|folder| folder.join("libtorch_cuda.so").exists())
}

/// Refuses other releases, because C++ has no stable ABI across them.
///
/// A libtorch without `version.py` is accepted unchecked.
fn check_release(libraries: &Path) -> Result<(), Failure> {
    let Some(version) = libraries.parent().and_then(version) else { return Ok(()) };
    if version.strip_prefix(RELEASE).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '+'])) {
        return Ok(());
    }
    Err(Failure::new(
        format!("the libtorch in {} is {version}; the recorder is built for {RELEASE}", libraries.display()),
        format!(
            "set SNAPSCOPE_LIBTORCH to a libtorch {RELEASE}, such as the folder `torch` of a Python environment with it"
        ),
    ))
}

/// Reads the version from `version.py` of a package `torch`.
fn version(torch: &Path) -> Option<String> {
    let text = std::fs::read_to_string(torch.join("version.py")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("__version__ = "))?;
    Some(line.trim_matches(['\'', '"']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn torch(version: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("lib")).unwrap();
        std::fs::write(folder.path().join("lib/libtorch_cuda.so"), "").unwrap();
        let text = format!("from typing import Optional\n__version__ = '{version}'\ndebug = False\n");
        std::fs::write(folder.path().join("version.py"), text).unwrap();
        folder
    }

    fn check_release_of(version: &str) -> Result<(), Failure> {
        let folder = torch(version);
        check_release(&library_folder(folder.path()).unwrap())
    }

    #[test]
    fn one_release_is_taken() {
        assert_eq!(check_release_of("2.11.0+cu130"), Ok(()));
        assert_eq!(check_release_of("2.11.1"), Ok(()));
        assert_eq!(check_release_of("2.11"), Ok(()));
        for other in ["2.1.1", "2.110.0", "2.12.0"] {
            let failure = check_release_of(other).unwrap_err();
            assert!(failure.message.contains(other) && failure.hint.contains("SNAPSCOPE_LIBTORCH"), "{failure}");
        }
    }

    #[test]
    fn both_folders_name_the_libraries() {
        let folder = torch("2.11.0");
        let libraries = folder.path().join("lib");
        assert_eq!(library_folder(folder.path()).as_deref(), Some(&*libraries));
        assert_eq!(library_folder(&libraries).as_deref(), Some(&*libraries));
        std::fs::remove_file(libraries.join("libtorch_cuda.so")).unwrap();
        assert_eq!(library_folder(folder.path()), None);
    }
}
