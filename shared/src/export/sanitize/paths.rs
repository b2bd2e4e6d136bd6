//! Shortens paths to their part inside the package or project.
//!
//! ```text
//! /fsx/ada/proj/train.py                                → train.py
//! /fsx/ada/proj/blocks/attention.py                     → blocks/attention.py
//! /fsx/ada/proj/.venv/lib/python3.12/site-packages/torch/nn/modules/module.py
//!                                                       → site-packages/torch/nn/modules/module.py
//! /opt/conda/lib/python3.12/threading.py                → lib/python3.12/threading.py
//! C:\Users\Ada\proj\src\train.py                        → src/train.py
//! /usr/lib/x86_64-linux-gnu/libcuda.so.1                → libcuda.so.1
//! ```
//!
//! No rule knows which folders name people, because clusters have such folders at any depth. So a folder is kept only
//! if something shows that it belongs to a project: it lies below a folder of the project that contains files itself,
//! its name is common to many projects (`src`, `models`), or it is a public package.
//! A shortened path is no longer absolute, so that shortening it again changes nothing.

use super::texts::{is_code_folder, is_public_package, is_storage};
use crate::base::frame_rules::is_native;
use hashbrown::HashSet;

/// Prefix of a folder with compiled kernels; the name of its owner follows.
const KERNEL_CACHE: &str = "torchinductor_";

/// Prefix of a folder with the cells of a notebook.
const NOTEBOOK: &str = "ipykernel_";

/// Source folders of the C library, Python and PyTorch, whose builds name sources by paths with `..`.
const BUILT: [&str; 12] =
    ["Modules", "Objects", "Python", "aten", "c10", "caffe2", "csu", "misc", "nptl", "stdlib", "sysdeps", "torch"];

/// Minimum depth of a project's folder below storage; the folder directly below may belong to a person or team.
const PARTS_OF_OWNER: usize = 2;

/// Replacement for the path of a folder inside a text.
const FOLDER: &str = "*";

/// Project folders that a trace names.
#[derive(Debug, Default)]
pub(super) struct Projects {
    /// Folders that directly contain a file of a frame.
    with_files: HashSet<String>,
}

/// Classification of a path.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// Relative path, or one that is the same on every machine.
    Plain,
    /// Path that belongs to a package or the like from the part `start` on; `text` is its shortened form.
    Known { parts: Vec<String>, start: usize, text: String },
    /// Path of a user's file, of which the first `storage` parts are storage.
    Own { parts: Vec<String>, storage: usize },
}

impl Projects {
    /// Records the folder of a frame's file as one of a project.
    pub(super) fn learn(&mut self, path: &str) {
        if let Kind::Own { parts, .. } = kind(path) {
            self.with_files.insert(parts[..parts.len() - 1].join("/"));
        }
    }

    /// Shortens the file of a frame to its part inside a package or project; `None` if nothing is to be cut.
    pub(super) fn cut(&self, path: &str) -> Option<String> {
        match kind(path) {
            Kind::Plain => None,
            Kind::Known { text, .. } => (text != path).then_some(text),
            Kind::Own { parts, storage } => Some(parts[self.start(&parts, storage)..].join("/")),
        }
    }

    /// Shortens a path inside another text; if it is a folder, nothing of it is kept.
    pub(super) fn cut_inside(&self, path: &str) -> Option<String> {
        match kind(path) {
            Kind::Own { parts, .. } if !is_file(&parts) => Some(FOLDER.to_owned()),
            _ => self.cut(path),
        }
    }

    /// Returns the folders that are cut from the file of a frame, and the owner of its kernel cache.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let mut names = match kind(path) {
            Kind::Plain => Vec::new(),
            Kind::Known { mut parts, start, .. } => {
                let owners = parts.iter().filter_map(|part| part.strip_prefix(KERNEL_CACHE));
                let owners: Vec<String> = owners.map(str::to_owned).collect();
                parts.truncate(start);
                // The name of an environment does not name a person, and often names a model.
                if let Some(envs) = parts.iter().position(|part| part == "envs" || part == "versions") {
                    parts.truncate(envs);
                }
                without_marks(&parts).chain(owners).collect()
            }
            Kind::Own { parts, storage } => without_marks(&parts[..self.start(&parts, storage)]).collect(),
        };
        names.extend(way(path).map(|(_, left)| left).unwrap_or_default());
        names
    }

    /// Returns the folders that are cut from a path inside another text, which may itself be a folder.
    pub(super) fn names_inside(&self, path: &str) -> Vec<String> {
        match kind(path) {
            Kind::Own { parts, .. } if !is_file(&parts) => without_marks(&parts).collect(),
            _ => self.names(path),
        }
    }

    /// Returns the position of the first part that is kept of a user's path.
    fn start(&self, parts: &[String], storage: usize) -> usize {
        let last = parts.len() - 1;
        if let Some(package) = package(parts, storage) {
            return package;
        }
        let has_files = |count: &usize| self.with_files.contains(&parts[..*count].join("/"));
        let mut start = (storage + PARTS_OF_OWNER..=last).find(has_files).unwrap_or(last);
        while start > storage && is_code_folder(&parts[start - 1]) {
            start -= 1;
        }
        // At the beginning, a part that ends with a colon would be read as the scheme of a URL.
        start + parts[start..last].iter().take_while(|part| part.ends_with(':')).count()
    }
}

/// Returns true for a user's file, whose shortened path may be equal to that of another file.
pub(super) fn is_own(path: &str) -> bool {
    matches!(kind(path), Kind::Own { .. })
}

fn without_marks(parts: &[String]) -> impl Iterator<Item = String> {
    let name = |part: &String| part.strip_prefix('~').unwrap_or(part).to_owned();
    parts.iter().map(name).filter(|name| !name.is_empty())
}

fn is_file(parts: &[String]) -> bool {
    let file = parts.last().map_or("", String::as_str);
    let ending = file.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or("", |(_, ending)| ending);
    (1..=8).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Returns the position of a public package below the storage in a user's path.
fn package(parts: &[String], storage: usize) -> Option<usize> {
    let last = parts.len() - 1;
    let first = (storage + 1..last).find(|&index| is_public_package(&parts[index]))?;
    // Repositories often have the name of their package: `transformers/src/transformers`.
    let again = (first + 1..last.min(first + 3)).rev().find(|&index| parts[index] == parts[first]);
    Some(again.unwrap_or(first))
}

fn kind(path: &str) -> Kind {
    let Some(parts) = parts(path) else { return Kind::Plain };
    let last = parts.len() - 1;
    if parts[0] == "rustc" && path.starts_with('/') {
        return Kind::Plain;
    }
    let known = |start: usize, text: String| Kind::Known { parts: parts.clone(), start, text };
    let from = |start: usize| known(start, parts[start..].join("/"));
    if let Some(index) = parts[..last].iter().rposition(|part| part.ends_with("-packages")) {
        let rest = parts[index + 1..].join("/");
        return match parts[index].as_str() {
            "site-packages" | "dist-packages" => from(index),
            // A folder of a user, which readers of stacks treat as a package all the same.
            _ => known(index, format!("*-packages/{rest}")),
        };
    }
    if let Some(index) = standard_library(&parts) {
        return from(index);
    }
    if let Some(index) = parts.windows(2).position(|pair| pair[0] == ".cargo" && pair[1] == "registry")
        && index + 2 < last
    {
        // The name of the registry follows `src`.
        let after = parts[index + 2..last].iter().take(2).count();
        return known(index, [&parts[index..index + 2], &parts[index + 2 + after..]].concat().join("/"));
    }
    if let Some(index) = parts[..last].iter().position(|part| part.starts_with(KERNEL_CACHE)) {
        let cache = KERNEL_CACHE.trim_end_matches('_');
        return known(index, format!("{cache}/{}", parts[index + 1..].join("/")));
    }
    if let Some(index) = parts[..last].iter().rposition(|part| part.starts_with(NOTEBOOK)) {
        return from(index);
    }
    let file = &parts[last];
    if file.ends_with(".so") || file.contains(".so.") || file.ends_with(".dll") {
        return from(last);
    }
    let storage = parts[..last].iter().take_while(|part| is_storage(part)).count();
    Kind::Own { storage: storage + cell(&parts[..last], storage), parts }
}

/// Counts the parts after storage that precede the user's own: on AFS, a cell and the storage in it.
fn cell(folders: &[String], storage: usize) -> usize {
    let behind = &folders[storage..];
    match behind {
        [cell, rest @ ..] if storage > 0 && folders[0] == "afs" && cell.contains('.') => {
            1 + rest.iter().take_while(|part| is_storage(part)).count()
        }
        _ => 0,
    }
}

/// Splits a path that is not relative into its parts, at least one.
fn parts(path: &str) -> Option<Vec<String>> {
    way(path).map(|(parts, _)| parts).filter(|parts| !parts.is_empty())
}

/// Returns the parts of a path that leads out of the current folder, and the folders that its `..` leave again.
fn way(path: &str) -> Option<(Vec<String>, Vec<String>)> {
    let path = path.replace('\\', "/");
    let (path, is_address) = without_scheme(&path);
    let path = path.strip_prefix("//?/").unwrap_or(path);
    let is_absolute = is_address || path.starts_with(['/', '~']) || has_drive(path);
    let climbed = path.trim_start_matches("./").trim_start_matches("../");
    let is_built = BUILT.contains(&climbed.split('/').next().unwrap_or_default()) && is_native(climbed);
    let is_climbing = path.contains("../") && climbed.len() < path.len() && !is_built;
    if !is_absolute && !is_climbing && !leads_home(climbed) {
        return None;
    }
    let (mut parts, mut left) = (Vec::<String>::new(), Vec::new());
    for part in climbed.split('/') {
        match part {
            "" | "." => {}
            ".." => left.extend(parts.pop()),
            part => parts.push(part.to_owned()),
        }
    }
    Some((parts, left))
}

/// Removes a scheme such as `file:` and all from `#` on; the second result is true if there was a scheme.
fn without_scheme(path: &str) -> (&str, bool) {
    let Some((scheme, rest)) = path.split_once(':') else { return (path, false) };
    let is_scheme =
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'));
    if !is_scheme || !rest.starts_with('/') {
        return (path, false);
    }
    (rest.split('#').next().unwrap_or(rest), true)
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

/// Returns true if a path leads through a folder of home directories.
fn leads_home(climbed: &str) -> bool {
    let mut parts = climbed.split('/');
    matches!(parts.next(), Some("root" | "home" | "Users")) && parts.next().is_some()
}

/// Returns the position at which Python's standard library begins, if the path belongs to it.
///
/// The rule is that of [`frame_rules`](crate::base::frame_rules).
fn standard_library(parts: &[String]) -> Option<usize> {
    let last = parts.len() - 1;
    let unix = (0..last.saturating_sub(1)).find(|&i| parts[i] == "lib" && parts[i + 1].starts_with("python3"));
    let windows = || {
        let index = parts.iter().position(|part| part.starts_with("Python3"))?;
        (index + 1..last).any(|lib| parts[lib] == "Lib").then_some(index)
    };
    unix.or_else(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(paths: &[&str], cuts: &[&str]) {
        let mut projects = Projects::default();
        paths.iter().for_each(|path| projects.learn(path));
        let found: Vec<_> = paths.iter().map(|path| projects.cut(path).unwrap_or_else(|| (*path).to_owned())).collect();
        assert_eq!(found, cuts);
        for cut in &found {
            assert_eq!(projects.cut(cut), None, "{cut} is cut twice");
        }
    }

    #[test]
    fn a_project_keeps_its_inner_folders() {
        check(&["/home/ada/proj/train.py", "/home/ada/proj/own/a.py"], &["train.py", "own/a.py"]);
        check(&["/fsx/ada/proj/train.py", "/fsx/ada/proj/own/deep/a.py"], &["train.py", "own/deep/a.py"]);
        check(&["/home/ada/proj/src/x.py", "/home/bob/models/a.py"], &["src/x.py", "models/a.py"]);
        check(&["/srv/app/../../home/ada/x/y.py"], &["y.py"]);
        check(&["/home/ada/proj/run.py", "/home/ada/proj/run.t:/tmp/x.py"], &["run.py", "tmp/x.py"]);
        check(&["../../home/ada/x/y.py", "./home/x.py", "../../x/y.py"], &["y.py", "x.py", "y.py"]);
    }

    #[test]
    fn nobody_is_a_folder_of_a_project() {
        check(&["/fsx/ada/proj/train.py", "/fsx/shared/own/util.py"], &["train.py", "util.py"]);
        check(&["/fsx/run.py", "/fsx/ada/train.py"], &["run.py", "train.py"]);
        check(&["/fsx/team/run.py", "/fsx/team/ada/train.py"], &["run.py", "train.py"]);
        check(&["/cluster/work/acme/run.py", "/cluster/work/acme/ada/train.py"], &["run.py", "train.py"]);
        check(&["/afs/cern.ch/user/a/run.py", "/afs/cern.ch/user/a/ada/x.py"], &["run.py", "x.py"]);
        check(&["~/run.py", "~/proj/train.py", "~ada/x/y.py"], &["run.py", "train.py", "y.py"]);
        check(&["/workspace/run.py", "/workspace/ada/models/x.py"], &["run.py", "models/x.py"]);
    }

    #[test]
    fn windows_has_the_same_rules() {
        check(&[r"C:\Users\Ada\proj\train.py", r"C:\Users\Ada\proj\m\a.py"], &["train.py", "m/a.py"]);
        check(&[r"D:\ada\x\train.py", r"D:\ada\y.py"], &["train.py", "y.py"]);
        check(&[r"\\nas01\team\proj\train.py"], &["train.py"]);
        check(&[r"\\?\C:\proj\.venv\lib\site-packages\torch\_tensor.py"], &["site-packages/torch/_tensor.py"]);
        check(&[r"C:\Python311\Lib\contextlib.py"], &["Python311/Lib/contextlib.py"]);
    }

    #[test]
    fn packages_keep_their_names() {
        check(&["/v/lib/python3.12/site-packages/torch/nn/f.py"], &["site-packages/torch/nn/f.py"]);
        check(&["/usr/lib/python3/dist-packages/torch/a.py"], &["dist-packages/torch/a.py"]);
        check(&["/fsx/ada-packages/x.py"], &["*-packages/x.py"]);
        check(&["/opt/conda/lib/python3.12/threading.py"], &["lib/python3.12/threading.py"]);
        check(&["/fsx/ada/vllm/vllm/worker/x.py", "/x/pytorch/torch/nn/f.py"], &["vllm/worker/x.py", "torch/nn/f.py"]);
        check(&["/tmp/torchinductor_ada/3u/c3u.py"], &["torchinductor/3u/c3u.py"]);
        check(&["/tmp/ipykernel_7/12.py"], &["ipykernel_7/12.py"]);
        check(
            &["/home/ada/.cargo/registry/src/index.io-1/tch-0.24/src/lib.rs"],
            &[".cargo/registry/tch-0.24/src/lib.rs"],
        );
        check(&["/usr/lib/x86_64-linux-gnu/libcuda.so.535.1"], &["libcuda.so.535.1"]);
    }

    #[test]
    fn addresses_of_files_are_paths() {
        check(&["dbfs:/Users/ada/x.py", "s3://acme/ada/y.py"], &["x.py", "y.py"]);
        check(&["vscode-notebook-cell://ssh-remote%2Bgpu17/home/ada/x.ipynb#X12"], &["x.ipynb"]);
    }

    #[test]
    fn what_leads_nowhere_stays() {
        for path in ["", "??", "<string>", "src/main.rs", "./nptl/pthread_create.c", "module", "/rustc/a1/std/rt.rs"] {
            check(&[path], &[path]);
        }
        check(&["../sysdeps/unix/clone3.S"], &["../sysdeps/unix/clone3.S"]);
        check(&["./csu/../csu/libc-start.c", "../../ada/k.cu"], &["./csu/../csu/libc-start.c", "k.cu"]);
    }

    #[test]
    fn what_is_cut_away_is_what_names_people() {
        let names = |path: &str| Projects::default().names(path);
        assert_eq!(names("/home/ada/x.py"), ["home", "ada"]);
        assert_eq!(names(r"C:\Users\Ada Byron\x.py"), ["C:", "Users", "Ada Byron"]);
        assert_eq!(names(r"\\nas01\team\x.py"), ["nas01", "team"]);
        assert_eq!(names("~ada/src/x.py"), ["ada"]);
        assert_eq!(names("/tmp/torchinductor_ada/ab/c.py"), ["tmp", "ada"]);
        assert_eq!(names("/fsx/ada/envs/llama/lib/python3.12/site-packages/torch/x.py"), ["fsx", "ada"]);
        assert_eq!(Projects::default().names_inside("/fsx/ada/runs"), ["fsx", "ada", "runs"]);
        assert_eq!(names("/fsx/ada/../bob/x.py"), ["fsx", "bob", "ada"]);
        assert_eq!(names("home.py"), [""; 0]);
    }
}
