//! Reads the versions of NVIDIA's packages from the files of an installed PyTorch, and from the folders beside it.
//!
//! A wheel leaves `torch-2.6.0.dist-info/METADATA` beside its folder, with lines such as
//! `Requires-Dist: nvidia-cudnn-cu12 (==9.1.0.70) ; platform_system == "Linux"`; later versions write no parentheses,
//! and name CUDA's libraries together as `cuda-toolkit[cublas,cudart]==13.0.2`.
//! Builds without metadata name their version of CUDA in `version.py` or in `build-version`.

use std::fs;
use std::path::Path;

use super::numbers::{OF_CUDA_12, OF_CUDA_13, Versions};

/// Returns the versions for an installed PyTorch, by its folder `torch`.
pub(super) fn read(folder: &Path) -> Option<Versions> {
    let text = |path: &Path| fs::read_to_string(path).ok();
    let named = of_version(&text(&folder.join("version.py")).unwrap_or_default())
        .or_else(|| of_version(&text(&folder.join("build-version")).unwrap_or_default()));
    let metadata = metadata_of(folder.parent()?, named.as_ref().map(|named| named.release.as_str()));
    let by_cuda = named.map(|named| of_cuda(named.cuda));
    let required = match metadata {
        Some(metadata) => of_metadata(&metadata, by_cuda.unwrap_or(OF_CUDA_13)).or(by_cuda),
        None => by_cuda,
    };
    required.map(|versions| installed(versions, folder.parent().unwrap_or(folder)))
}

/// Replaces the versions that PyTorch requires by those that are installed beside it: people upgrade cuDNN over the pin.
fn installed(mut versions: Versions, packages: &Path) -> Versions {
    let major = versions.cuda[0];
    let toolkit = if major < 13 { format!("_cu{major}") } else { String::new() };
    let names =
        [format!("nvidia_cudnn_cu{major}"), format!("nvidia_nccl_cu{major}"), format!("nvidia_cublas{toolkit}")];
    for entry in fs::read_dir(packages).into_iter().flatten().flatten() {
        let folder = entry.file_name().to_string_lossy().into_owned();
        let Some((name, version)) = folder.strip_suffix(".dist-info").and_then(|folder| folder.split_once('-')) else {
            continue;
        };
        let places = [&mut versions.cudnn, &mut versions.nccl, &mut versions.cublas];
        for (place, _) in places.into_iter().zip(&names).filter(|(_, known)| *known == name) {
            *place = parts(version).unwrap_or(*place);
        }
    }
    versions
}

/// Returns the metadata of the release of PyTorch that is installed in a folder, or of any release.
fn metadata_of(packages: &Path, release: Option<&str>) -> Option<String> {
    let folders = fs::read_dir(packages).ok()?.flatten().map(|entry| entry.path());
    let mut all: Vec<_> = folders.filter(|folder| is_metadata(folder)).collect();
    all.sort_by_key(|folder| !release.is_some_and(|release| folder.to_string_lossy().contains(release)));
    fs::read_to_string(all.first()?.join("METADATA")).ok()
}

fn is_metadata(folder: &Path) -> bool {
    let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with("torch-") && name.ends_with(".dist-info")
}

/// A release of PyTorch and the version of CUDA that it was built for.
struct Build {
    release: String,
    cuda: [u32; 2],
}

/// Finds a version such as `2.6.0+cu124` in a text.
fn of_version(text: &str) -> Option<Build> {
    let (before, after) = text.split_once("+cu")?;
    let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).map_or(0, |at| at + 1);
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    let (major, minor) = digits.split_at_checked(2)?;
    Some(Build { release: before[start..].to_owned(), cuda: [major.parse().ok()?, minor.parse().ok()?] })
}

/// Returns what is typical of a version of CUDA.
fn of_cuda(cuda: [u32; 2]) -> Versions {
    let typical = if cuda[0] < 13 { OF_CUDA_12 } else { OF_CUDA_13 };
    if typical.cuda == cuda { typical } else { Versions { cuda, cublas: [cuda[0], cuda[1], 0], ..typical } }
}

/// Returns the versions that metadata names, and the typical ones of the rest; `None` if it names no CUDA.
fn of_metadata(text: &str, typical: Versions) -> Option<Versions> {
    let required = |packages: &[&str]| packages.iter().find_map(|package| requirement(text, package));
    let cuda =
        required(&["cuda-toolkit", "nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime-cu13", "nvidia-cuda-runtime"])?;
    let of_cuda = of_cuda([cuda[0], cuda[1]]);
    Some(Versions {
        cuda: of_cuda.cuda,
        cublas: required(&["nvidia-cublas-cu12", "nvidia-cublas"]).unwrap_or(of_cuda.cublas),
        cudnn: required(&["nvidia-cudnn-cu12", "nvidia-cudnn-cu13"]).unwrap_or(typical.cudnn),
        nccl: required(&["nvidia-nccl-cu12", "nvidia-nccl-cu13"]).unwrap_or(typical.nccl),
    })
}

/// Returns the first three parts of the version of a required package.
fn requirement(text: &str, package: &str) -> Option<[u32; 3]> {
    let line = text.lines().filter_map(|line| line.strip_prefix("Requires-Dist: ")).find(|line| {
        line.strip_prefix(package)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-'))
    })?;
    parts(line.split_once("==")?.1)
}

/// Returns the first three parts of a version.
fn parts(version: &str) -> Option<[u32; 3]> {
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_for_cuda_12_name_each_library() {
        let text = "Name: torch\n\
            Requires-Dist: nvidia-cuda-runtime-cu12 (==12.4.127) ; platform_system == \"Linux\"\n\
            Requires-Dist: nvidia-cudnn-cu12 (==9.1.0.70) ; platform_system == \"Linux\"\n\
            Requires-Dist: nvidia-cublas-cu12 (==12.4.5.8) ; platform_system == \"Linux\"\n\
            Requires-Dist: nvidia-nccl-cu12 (==2.21.5) ; platform_system == \"Linux\"\n";
        let found = of_metadata(text, OF_CUDA_13).expect("CUDA is named");
        assert_eq!((found.cuda_number(), found.cudnn_number()), (12_040, 90_100));
        assert_eq!((found.cublas_number(), found.nccl_number()), (120_405, 22_105));
    }

    #[test]
    fn wheels_for_cuda_13_name_the_toolkit() {
        let text = "Requires-Dist: cuda-toolkit[cublas,cudart]==13.2.2; platform_system == \"Linux\"\n\
            Requires-Dist: cuda-bindings<14,>=13.0.3; platform_system == \"Linux\"\n\
            Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; platform_system == \"Linux\"\n\
            Requires-Dist: nvidia-nccl-cu13==2.30.7; platform_system == \"Linux\"\n";
        let found = of_metadata(text, OF_CUDA_13).expect("CUDA is named");
        assert_eq!((found.cuda_number(), found.cudnn_number(), found.nccl_number()), (13_020, 92_600, 23_007));
    }

    #[test]
    fn what_is_installed_counts_more_than_what_is_required() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let packages = folder.path();
        let place = |name: &str| fs::create_dir(packages.join(name)).expect("a folder can be made");
        let names = ["torch", "nvidia_cudnn_cu12-9.24.0.43.dist-info", "nvidia_cudnn_cu13-9.26.0.51.dist-info"];
        names.into_iter().chain(["nvidia_cublas-13.1.0.3.dist-info", "numpy-2.4.6.dist-info"]).for_each(place);
        fs::write(packages.join("torch/version.py"), "__version__ = '2.11.0+cu130'\n").expect("it can be written");
        let found = read(&packages.join("torch")).expect("CUDA is named");
        assert_eq!((found.cudnn, found.cublas, found.nccl), ([9, 26, 0], [13, 1, 0], OF_CUDA_13.nccl));
    }

    #[test]
    fn metadata_without_cuda_says_nothing() {
        assert_eq!(
            of_metadata("Requires-Dist: filelock\nRequires-Dist: nvidia-cudnn-frontend==1.0\n", OF_CUDA_13),
            None
        );
    }

    #[test]
    fn a_build_without_metadata_names_its_cuda() {
        let build = of_version("__version__ = '2.6.0+cu126'\ndebug = False\n").expect("the version is there");
        assert_eq!((build.release.as_str(), build.cuda), ("2.6.0", [12, 6]));
        assert_eq!(of_cuda(build.cuda).cuda_number(), 12_060);
        assert_eq!(of_cuda([13, 0]), OF_CUDA_13);
        assert!(of_version("2.6.0+cpu").is_none());
    }
}
