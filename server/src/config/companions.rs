//! Finds the files that belong to this program, in a build and where a wheel has installed it.
//!
//! A build has them beside the program in `target/release`, or one folder above, if they do not depend on the profile.
//! A wheel has them in its Python package, because some installations, such as that of `pip install --target`, have no
//! other place for them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::program;
use crate::built_pages::BuiltPages;
use crate::failure::Failure;

/// Folders around this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Companions {
    /// Folder of the program.
    beside: PathBuf,
    above: PathBuf,
}

impl Companions {
    /// Looks around this program; `hint` says what to set if its path is unknown.
    pub(super) fn find(hint: &str) -> Result<Self, Failure> {
        let program = program().map_err(|failure| Failure::new(failure.message, hint))?;
        Ok(Self::of(&program))
    }

    fn of(program: &Path) -> Self {
        let beside = program.parent().unwrap_or(Path::new(".")).to_owned();
        Self { above: beside.parent().unwrap_or(Path::new(".")).to_owned(), beside }
    }

    /// Returns the folder of a wheel's files, if a wheel has installed this program.
    ///
    /// The packages of an environment are in `lib/python3.N`, and those of a target beside `bin`.
    fn installed(&self) -> Option<PathBuf> {
        let in_environment = ["lib", "lib64"].into_iter().flat_map(|lib| packages(self.above.join(lib)));
        let folders = std::iter::once(self.above.clone()).chain(in_environment);
        folders.map(|folder| folder.join("snapscope/libraries")).find(|folder| folder.is_dir())
    }

    pub(super) fn recorder(&self) -> PathBuf {
        self.installed().unwrap_or_else(|| self.beside.clone()).join("snapscope-recorder")
    }

    pub(super) fn virtual_gpu(&self) -> PathBuf {
        self.installed().unwrap_or_else(|| self.above.clone()).join("virtual-gpu")
    }

    /// Returns the libtorch that `./dev build` fetched.
    pub(super) fn libtorch(&self) -> PathBuf {
        self.above.join("libtorch")
    }

    /// Returns the Python for which a wheel has installed this program: the one beside it, or else the first of the path.
    pub(super) fn python(&self) -> Option<OsString> {
        self.installed()?;
        let own = Some(self.beside.join("python3")).filter(|python| python.exists());
        Some(own.map_or_else(|| "python3".into(), PathBuf::into_os_string))
    }

    /// Returns how to get what is missing.
    pub(super) fn remedy(&self) -> &'static str {
        remedy(self.installed().is_some())
    }
}

/// Returns the folders of packages of all Pythons in a folder `lib`.
fn packages(lib: PathBuf) -> impl Iterator<Item = PathBuf> {
    let pythons = std::fs::read_dir(lib).into_iter().flatten().flatten();
    let pythons = pythons.filter(|entry| entry.file_name().to_string_lossy().starts_with("python"));
    pythons.flat_map(|python| ["site-packages", "dist-packages"].map(|name| python.path().join(name)))
}

/// Returns how to get what is missing from a build or from an installed wheel.
pub(super) const fn remedy(is_installed: bool) -> &'static str {
    match is_installed {
        true => "install the wheel of Snapscope again",
        false => "run `./dev build` in a clone of Snapscope",
    }
}

/// Returns the web pages: those of a named folder, those inside this program, or those of a build.
pub(crate) fn built_pages(named: Option<PathBuf>) -> Result<BuiltPages, Failure> {
    let missing = |message| {
        Failure::new(message, "run `./dev build` in a clone of Snapscope, or pass the folder of its pages with --dist")
    };
    if let Some(folder) = named {
        let pages = BuiltPages::Folder(folder);
        let message = || format!("there are no built web pages in {pages}");
        return if pages.are_there() { Ok(pages) } else { Err(missing(message())) };
    }
    if let Some(pages) = BuiltPages::inside() {
        return Ok(pages);
    }
    // The pages are in `target/dist` if the program is `target/release/snapscope`.
    let folder = Companions::find("pass the folder of the pages with --dist")?.above.join("dist");
    let pages = BuiltPages::Folder(folder);
    let message = || format!("this program was built without web pages, and there are none in {pages}");
    if pages.are_there() { Ok(pages) } else { Err(missing(message())) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_build_and_a_wheel_have_their_own_layout() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let build = Companions::of(&at("target/release/snapscope"));
        assert_eq!(build.recorder(), at("target/release/snapscope-recorder"));
        assert_eq!(build.virtual_gpu(), at("target/virtual-gpu"));
        assert_eq!((build.libtorch(), build.python()), (at("target/libtorch"), None));
        assert!(build.remedy().contains("./dev build"));
        for place in ["venv/lib/python3.11/site-packages", "user/lib64/python3.9/dist-packages", "target"] {
            let libraries = at(place).join("snapscope/libraries");
            fs::create_dir_all(&libraries).unwrap();
            let top = place.split('/').next().unwrap();
            let wheel = Companions::of(&at(top).join("bin/snapscope"));
            assert_eq!(wheel.python(), Some("python3".into()), "{place}");
            assert_eq!(wheel.recorder(), libraries.join("snapscope-recorder"));
            assert_eq!(wheel.virtual_gpu(), libraries.join("virtual-gpu"));
        }
        let wheel = Companions::of(&at("venv/bin/snapscope"));
        fs::create_dir_all(at("venv/bin")).unwrap();
        fs::write(at("venv/bin/python3"), "").unwrap();
        assert_eq!(wheel.python(), Some(at("venv/bin/python3").into_os_string()));
        assert!(wheel.remedy().contains("wheel"));
    }
}
