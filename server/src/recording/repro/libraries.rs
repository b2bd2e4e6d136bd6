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

/// Returns the complete environment of the recorder; it makes its files in the folder `scratch`.
///
/// # Errors
///
/// Returns an error if a library is missing or libtorch is of another release.
pub(super) fn environment(
    config: &RecorderConfig,
    job: &Job,
    scratch: &Path,
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut variables = config.passed_on.clone();
    let mut set = |name: &str, value: &OsStr| variables.push((name.into(), value.into()));
    // A recording hardly computes on the host, and on a large machine more threads would cost memory.
    set("OMP_NUM_THREADS", OsStr::new("2"));
    // The only folder to which it may write.
    set("TMPDIR", scratch.as_os_str());
    if !job.allocator.is_empty() {
        set("PYTORCH_CUDA_ALLOC_CONF", OsStr::new(&job.allocator));
    }
    let folders = match &job.device {
        Device::Virtual(cards) => {
            set("SNAPSCOPE_VIRTUAL_GPU", OsStr::new(&cards.to_string()));
            set("SNAPSCOPE_VIRTUAL_GPU_LOG", log_of(scratch).as_os_str());
            // The real cuDNN, which decides otherwise, does not come with the recorder's PyTorch.
            set("SNAPSCOPE_VIRTUAL_GPU_CUDNN_WORKSPACE", OsStr::new("0"));
            if job.parallel.is_some_and(|parallel| parallel.ddp().is_some()) {
                // DDP processes compare their models, and read the values for that from the device.
                set("SNAPSCOPE_VIRTUAL_GPU_VALUES", OsStr::new("shadow"));
            }
            let [stand_ins, libraries] = virtual_folders(config, &scratch.join("virtual-gpu"))?;
            if libraries.join("../../nvidia").exists() {
                // NVIDIA's packages are in the same Python environment and would come before the search path.
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
            make_device_files(Path::new("/"));
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

/// Returns the file to which a virtual GPU writes its warnings.
pub(super) fn log_of(scratch: &Path) -> PathBuf {
    scratch.join("virtual-gpu.txt")
}

/// Makes NVIDIA's device files, which do not exist before CUDA's first use after a boot.
///
/// CUDA would run `nvidia-modprobe` itself, but a recorder may not start programs. If this fails, CUDA reports that there
/// is no device.
fn make_device_files(root: &Path) {
    let make = |arguments: Vec<OsString>| Command::new("nvidia-modprobe").args(arguments).output();
    if !root.join("dev/nvidia-uvm").exists() {
        // This also loads the driver, which then lists its cards.
        let _ = make(["-c", "0", "-u"].map(OsString::from).to_vec());
    }
    let missing = missing_device_files(root);
    if !missing.is_empty() {
        let _ = make(missing);
    }
}

/// Returns the arguments with which `nvidia-modprobe` makes the missing device files of the cards, and of the parts into
/// which MIG divides them.
fn missing_device_files(root: &Path) -> Vec<OsString> {
    let driver = root.join("proc/driver/nvidia");
    let cards = files_below(&driver.join("gpus"), "information").into_iter().filter_map(|file| {
        let minor = field(&file, "Device Minor")?;
        (!root.join(format!("dev/nvidia{minor}")).exists()).then(|| ["-c".into(), minor.into()])
    });
    let parts = files_below(&driver.join("capabilities"), "access").into_iter().filter_map(|file| {
        let minor = field(&file, "DeviceFileMinor")?;
        (!root.join(format!("dev/nvidia-caps/nvidia-cap{minor}")).exists()).then(|| ["-f".into(), file.into()])
    });
    cards.chain(parts).flatten().collect()
}

/// Returns all files of a name in a folder and those below it, sorted.
fn files_below(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let files = entries.into_iter().flat_map(|path| match path.is_dir() {
        true => files_below(&path, name),
        false => Vec::from_iter(path.ends_with(name).then_some(path)),
    });
    files.collect()
}

/// Reads a number from a line such as `Device Minor: 0`.
fn field(file: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'))?.trim();
    line.bytes().all(|digit| digit.is_ascii_digit()).then(|| line.to_owned())
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

    #[test]
    fn one_release_is_taken() {
        let check = |version: &str| check_release(&library_folder(torch(version).path()).unwrap());
        for version in ["2.11.0+cu130", "2.11.1", "2.11"] {
            assert_eq!(check(version), Ok(()));
        }
        for other in ["2.1.1", "2.110.0", "2.12.0"] {
            let failure = check(other).unwrap_err();
            assert!(failure.message.contains(other) && failure.hint.contains("SNAPSCOPE_LIBTORCH"), "{failure}");
        }
    }

    #[test]
    fn missing_device_files_are_those_of_listed_cards_and_parts() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let missing = || {
            let arguments = missing_device_files(root.path()).into_iter();
            arguments.map(|argument| argument.to_string_lossy().replace(&*root.path().to_string_lossy(), ""))
        };
        assert_eq!(missing().count(), 0, "without a driver there is nothing to make");
        write("proc/driver/nvidia/gpus/0000:19:00.0/information", "Model: \t\t NVIDIA H200\nDevice Minor: \t 0\n");
        write("proc/driver/nvidia/gpus/0000:3b:00.0/information", "Model: \t\t NVIDIA H200\nDevice Minor: \t 1\n");
        let part = "proc/driver/nvidia/capabilities/gpu1/mig/gi2/access";
        write(part, "DeviceFileMinor: 30\nDeviceFileMode: 292\nDeviceFileModify: 1\n");
        write("dev/nvidia0", "");
        assert_eq!(missing().collect::<Vec<_>>(), ["-c", "1", "-f", &format!("/{part}")]);
        write("dev/nvidia-caps/nvidia-cap30", "");
        write("dev/nvidia1", "");
        assert_eq!(missing().count(), 0);
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
