//! Checks a commit out into a temporary folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::folder::make_temporary;

/// The repository in whose folder the command was started.
pub(super) struct Repository {
    pub(super) top: PathBuf,
    /// The current folder, from the top.
    pub(super) below: PathBuf,
}

/// A commit in a temporary folder, which is removed when this value is dropped.
pub(super) struct Checkout<'a> {
    repository: &'a Repository,
    _scratch: tempfile::TempDir,
    pub(super) folder: PathBuf,
}

impl Repository {
    /// Finds the repository of the current folder.
    pub(super) fn find() -> Result<Self, Failure> {
        let hint = "run the command in a clone, and let git trust its owner (`git config safe.directory`)";
        let top = git(Path::new("."), ["rev-parse", "--show-toplevel"], hint)?;
        let below = git(Path::new("."), ["rev-parse", "--show-prefix"], hint)?;
        Ok(Self { top: top.into(), below: below.into() })
    }

    /// Returns the hash of a commit.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such commit, as in a clone without history.
    pub(super) fn commit(&self, name: &str) -> Result<String, Failure> {
        let hint = "name a commit that this clone has; in CI, fetch the history (`fetch-depth: 0`, `GIT_DEPTH: 0`)";
        let name = format!("{name}^{{commit}}");
        git(&self.top, ["rev-parse", "--verify", "--quiet", "--end-of-options", &name], hint).map_err(|failure| {
            let message =
                format!("there is no commit {} in {}", name.trim_end_matches("^{commit}"), self.top.display());
            Failure { message, ..failure }
        })
    }

    /// Returns true if files differ from the last commit.
    pub(super) fn is_changed(&self) -> bool {
        git(&self.top, ["status", "--porcelain", "--untracked-files=no"], "").is_ok_and(|text| !text.is_empty())
    }

    /// Checks a commit out; the user's own files stay as they are.
    pub(super) fn check_out(&self, commit: &str) -> Result<Checkout<'_>, Failure> {
        let hint = "set TMPDIR to a folder with room";
        let scratch = make_temporary("snapscope-ci-", None).map_err(|error| Failure::temporary(&error))?;
        // The names of other places are resolved, and so must be this one.
        let folder = scratch.path().canonicalize().unwrap_or_else(|_| scratch.path().to_owned()).join("base");
        // A hook of the user's, or a monitor of files, could do anything with a new checkout.
        let add = "-c core.hooksPath=/dev/null -c core.fsmonitor=false worktree add --quiet --detach --force";
        let words = add.split(' ').map(OsStr::new).chain([folder.as_os_str(), OsStr::new(commit)]);
        git(&self.top, words, hint)?;
        Ok(Checkout { repository: self, _scratch: scratch, folder })
    }
}

impl Checkout<'_> {
    /// Links files that are in no commit, by their paths from the current folder.
    ///
    /// # Errors
    ///
    /// Returns an error if a path does not exist, leads out of the repository, or is in the commit.
    pub(super) fn link(&self, paths: &[PathBuf]) -> Result<(), Failure> {
        for path in paths {
            let failed = |what: &str| {
                Failure::new(format!("--link {}: {what}", path.display()), "name a path below the current folder")
            };
            let is_below = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
            if !is_below {
                return Err(failed("the path leads out of the current folder"));
            }
            let from = self.repository.top.join(&self.repository.below).join(path);
            let to = self.folder.join(&self.repository.below).join(path);
            if !from.exists() {
                return Err(failed("there is no such file"));
            }
            to.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| failed(&error.to_string()))?;
            std::os::unix::fs::symlink(&from, &to).map_err(|error| failed(&error.to_string()))?;
        }
        Ok(())
    }

    /// Returns the place of a path of the user's checkout in this one, if it is there.
    pub(super) fn counterpart(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.repository.top).ok()?;
        Some(self.folder.join(below)).filter(|path| path.exists())
    }
}

impl Drop for Checkout<'_> {
    fn drop(&mut self) {
        let words = ["worktree", "remove", "--force", "--force"].map(OsStr::new);
        // If it fails, git forgets the folder by itself once that is gone.
        let _ = git(&self.repository.top, words.into_iter().chain([self.folder.as_os_str()]), "");
    }
}

/// Runs git and returns the first line that it prints.
fn git(folder: &Path, words: impl IntoIterator<Item = impl AsRef<OsStr>>, hint: &str) -> Result<String, Failure> {
    let ran = Command::new("git").arg("-C").arg(folder).args(words).output().map_err(|error| {
        Failure::new(format!("git cannot be run: {error}"), "install git, which checks the base out")
    })?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        let said = said.lines().find(|line| !line.is_empty()).unwrap_or("it refused").trim_start_matches("fatal: ");
        return Err(Failure::new(format!("git: {said}"), hint));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).lines().next().unwrap_or_default().to_owned())
}
