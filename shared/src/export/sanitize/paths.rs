//! Cutting paths to the package or to the project.
//!
//! ```text
//! /home/ada/proj/train.py                               → train.py
//! /home/ada/proj/models/attention.py                    → models/attention.py
//! /home/ada/proj/.venv/lib/python3.12/site-packages/torch/nn/modules/module.py
//!                                                       → site-packages/torch/nn/modules/module.py
//! /opt/conda/lib/python3.12/threading.py                → lib/python3.12/threading.py
//! C:\Users\Ada\proj\train.py                            → train.py
//! /usr/lib/x86_64-linux-gnu/libcuda.so.1                → libcuda.so.1
//! ```
//!
//! A project is what lies below the folder that all files of one *place* have in common; a place is a person's home,
//! a drive, a share or a folder at the top.
//! What is cut leads nowhere any more, so that cutting it again changes nothing.

use hashbrown::HashMap;

/// Folders whose folders are named after people.
const HOMES: [&str; 5] = ["home", "homes", "Users", "users", "scratch"];

/// Folders that may lie around those.
const ABOVE_HOMES: [&str; 10] =
    ["mnt", "export", "data", "nfs", "net", "gpfs", "lustre", "Volumes", "storage", "cluster"];

/// What the caches of compiled kernels begin with, before the name of whom they belong to.
const KERNEL_CACHE: &str = "torchinductor_";

/// The folders of the projects that a trace names, by their places.
#[derive(Debug, Default)]
pub(super) struct Projects {
    folders: HashMap<String, Vec<String>>,
}

/// What a path is to a reader of stacks.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// It leads nowhere by itself, or is the same on every machine.
    Plain,
    /// It belongs to a package or the like, and this is all that matters.
    Known(String),
    /// It is a file of somebody's, in a place of so many parts.
    Own { parts: Vec<String>, place: usize },
}

impl Projects {
    /// Notes a path, so that its project is known.
    pub(super) fn learn(&mut self, path: &str) {
        let Kind::Own { parts, place } = kind(path) else { return };
        let folder = &parts[place..parts.len() - 1];
        self.folders
            .entry(parts[..place].join("/"))
            .and_modify(|common| {
                let same = common.iter().zip(folder).take_while(|(a, b)| a == b).count();
                common.truncate(same);
            })
            .or_insert_with(|| folder.to_vec());
    }

    /// The path from its package or project on; `None` where nothing is to be cut.
    pub(super) fn cut(&self, path: &str) -> Option<String> {
        match kind(path) {
            Kind::Plain => None,
            Kind::Known(cut) => (cut != path).then_some(cut),
            Kind::Own { parts, place } => {
                let last = parts.len() - 1;
                let folder = self.folders.get(&parts[..place].join("/"));
                let is_inside = |folder: &&Vec<String>| parts[place..last].starts_with(folder);
                let start = folder.filter(is_inside).map_or(last, |folder| place + folder.len());
                Some(parts[start..].join("/"))
            }
        }
    }
}

/// The people and hosts that a path names.
pub(super) fn names(path: &str) -> Vec<String> {
    let Some(parts) = parts(path) else { return Vec::new() };
    let mut names = Vec::new();
    if let [_, .., _] = parts.as_slice()
        && let Some(home) = home(&parts)
    {
        names.push(parts[home + 1].clone());
    }
    match parts.as_slice() {
        [host, _, ..] if is_share(path) => names.push(host.clone()),
        [net, host, _, ..] if net == "net" && !HOMES.contains(&host.as_str()) => names.push(host.clone()),
        [first, _, ..] => names.extend(first.strip_prefix('~').filter(|name| !name.is_empty()).map(str::to_owned)),
        _ => {}
    }
    names.extend(parts.iter().filter_map(|part| part.strip_prefix(KERNEL_CACHE)).map(str::to_owned));
    names
}

fn kind(path: &str) -> Kind {
    let Some(parts) = parts(path) else { return Kind::Plain };
    let last = parts.len() - 1;
    if parts[0] == "rustc" && path.starts_with('/') {
        return Kind::Plain;
    }
    let from = |index: usize| Kind::Known(parts[index..].join("/"));
    if let Some(index) = parts[..last].iter().rposition(|part| part.ends_with("-packages")) {
        return from(index);
    }
    if let Some(index) = standard_library(&parts) {
        return from(index);
    }
    if let Some(index) = parts.windows(2).position(|pair| pair[0] == ".cargo" && pair[1] == "registry")
        && index + 2 < last
    {
        // The registry's address stands behind `src`.
        let after = parts[index + 2..last].iter().take(2).count();
        return Kind::Known([&parts[index..index + 2], &parts[index + 2 + after..]].concat().join("/"));
    }
    if let Some(index) = parts[..last].iter().position(|part| part.starts_with(KERNEL_CACHE)) {
        return Kind::Known(format!("{}/{}", KERNEL_CACHE.trim_end_matches('_'), parts[index + 1..].join("/")));
    }
    let file = &parts[last];
    if file.ends_with(".so") || file.contains(".so.") || file.ends_with(".dll") {
        return from(last);
    }
    let place = place(path, &parts).min(last);
    Kind::Own { parts, place }
}

/// The parts of a path that leads from a top, without what goes back up; at least one.
fn parts(path: &str) -> Option<Vec<String>> {
    let path = path.replace('\\', "/");
    let path = path.strip_prefix("//?/").unwrap_or(&path);
    let is_absolute = path.starts_with(['/', '~']) || has_drive(path);
    let climbed = path.trim_start_matches("./").trim_start_matches("../");
    let is_climbing_home = climbed.len() < path.len() && leads_home(climbed);
    if !is_absolute && !is_climbing_home {
        return None;
    }
    let mut parts: Vec<String> = Vec::new();
    for part in climbed.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_owned()),
        }
    }
    (!parts.is_empty()).then_some(parts)
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

/// Whether the way from the top leads into somebody's home.
fn leads_home(climbed: &str) -> bool {
    let first = climbed.split('/').next().unwrap_or_default();
    first == "root" || ["home", "Users"].contains(&first)
}

/// A Windows share, `\\server\share\…`.
fn is_share(path: &str) -> bool {
    path.starts_with("\\\\") && !path.starts_with("\\\\?\\")
}

/// How many parts say where a path's project lies, and not what it is.
fn place(path: &str, parts: &[String]) -> usize {
    match home(parts) {
        Some(home) => home + 2,
        None if is_share(path) => 2,
        None => 1,
    }
}

/// Where the folder of homes is, if there is one with a home in it.
fn home(parts: &[String]) -> Option<usize> {
    let is_home = |index: &usize| parts.get(*index).is_some_and(|part| HOMES.contains(&part.as_str()));
    let index = match parts {
        [first, ..] if ABOVE_HOMES.contains(&first.as_str()) || first.ends_with(':') => {
            [1, 0].into_iter().find(is_home)?
        }
        _ => Some(0).filter(is_home)?,
    };
    // A hidden folder is nobody, and a file has no home.
    (index + 2 < parts.len() && !parts[index + 1].starts_with('.')).then_some(index)
}

/// Where Python's own modules begin, if the path is of one; the same rule as of
/// [`frame_rules`](crate::base::frame_rules).
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
        check(&["/home/ada/proj/train.py", "/home/ada/proj/models/a.py"], &["train.py", "models/a.py"]);
        check(&["/home/ada/proj/train.py", "/home/bob/lib/a.py"], &["train.py", "a.py"]);
        check(&["/srv/a/x.py", "/srv/b/y.py", "/train.py"], &["a/x.py", "b/y.py", "train.py"]);
        check(&["~/proj/train.py", "~ada/x/y.py"], &["train.py", "y.py"]);
        check(&["/srv/app/../../home/ada/x/y.py"], &["y.py"]);
        check(&["../../home/ada/x/y.py", "./home/x.py"], &["y.py", "x.py"]);
    }

    #[test]
    fn windows_has_the_same_rules() {
        check(&[r"C:\Users\Ada\proj\train.py", r"C:\Users\Ada\proj\m\a.py"], &["train.py", "m/a.py"]);
        check(&[r"D:\work\x\train.py", r"D:\work\y.py"], &["x/train.py", "y.py"]);
        check(&[r"\\nas01\team\proj\train.py"], &["train.py"]);
        check(&[r"\\?\C:\proj\.venv\lib\site-packages\torch\_tensor.py"], &["site-packages/torch/_tensor.py"]);
        check(&[r"C:\Python311\Lib\contextlib.py"], &["Python311/Lib/contextlib.py"]);
    }

    #[test]
    fn packages_keep_their_names() {
        check(&["/v/lib/python3.12/site-packages/torch/nn/f.py"], &["site-packages/torch/nn/f.py"]);
        check(&["/usr/lib/python3/dist-packages/torch/a.py"], &["dist-packages/torch/a.py"]);
        check(&["/opt/conda/lib/python3.12/threading.py"], &["lib/python3.12/threading.py"]);
        check(&["/tmp/torchinductor_ada/3u/c3u.py"], &["torchinductor/3u/c3u.py"]);
        check(
            &["/home/ada/.cargo/registry/src/index.io-1/tch-0.24/src/lib.rs"],
            &[".cargo/registry/tch-0.24/src/lib.rs"],
        );
        check(&["/usr/lib/x86_64-linux-gnu/libcuda.so.535.1"], &["libcuda.so.535.1"]);
    }

    #[test]
    fn what_leads_nowhere_stays() {
        for path in ["", "??", "<string>", "src/main.rs", "./nptl/pthread_create.c", "module", "/rustc/a1/std/rt.rs"] {
            check(&[path], &[path]);
        }
    }

    #[test]
    fn people_and_hosts_are_found() {
        assert_eq!(names("/home/ada/x.py"), ["ada"]);
        assert_eq!(names("/mnt/home/ada/x.py"), ["ada"]);
        assert_eq!(names(r"C:\Users\Ada Byron\x.py"), ["Ada Byron"]);
        assert_eq!(names(r"\\nas01\team\x.py"), ["nas01"]);
        assert_eq!(names("/net/node17/data/x.py"), ["node17"]);
        assert_eq!(names("~ada/x.py"), ["ada"]);
        assert_eq!(names("/tmp/torchinductor_ada/ab/c.py"), ["ada"]);
        for path in ["/home/.pyenv/x.py", "/home/x.py", "/srv/x/y.py", "/srv/home.py", "home/ada/x.py"] {
            assert_eq!(names(path), [""; 0], "{path}");
        }
    }
}
