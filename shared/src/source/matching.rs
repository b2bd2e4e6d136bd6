//! Matches paths of another machine with the files of a folder.
//!
//! Idea: the last parts of two paths of one file agree, whatever folder it was copied to.
//!
//! ```text
//! in the stacks                               in the folder `job`      parts in common
//! /workspace/job/model/attention.py           model/attention.py       3, with the folder's own name
//! C:\work\job\train.py                        train.py                 2
//! …/site-packages/pandas/train.py             train.py                 1, but 2 are needed: pandas/train.py
//! ```
//!
//! Cost: linear in the paths, plus the number of pairs with the same file name.

use crate::base::ShortSort;
use hashbrown::HashMap;
use std::cmp::Reverse;

/// File of the folder for a path of the stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// No file of the folder ends like the path.
    Missing,
    /// Position of the file in the folder.
    Found(usize),
    /// Positions of several files that fit equally well.
    Several(Vec<usize>),
    /// Position of a file that fits another path of the stacks at least as well, and the position of that path.
    Taken { file: usize, by: usize },
}

impl Match {
    /// Says why a path has no file although one ends like it, as the end of a sentence about the path.
    pub fn note(&self, paths: &[&str], files: &[&str]) -> Option<String> {
        const SHOWN: usize = 4;
        match self {
            Self::Found(_) | Self::Missing => None,
            Self::Several(several) => {
                let names: Vec<&str> = several.iter().take(SHOWN).map(|&file| files[file]).collect();
                let more = if several.len() > SHOWN { " or others" } else { "" };
                Some(format!("could be {}{more}", names.join(" or ")))
            }
            Self::Taken { file, by } => Some(format!("could be {}, as could {}", files[*file], paths[*by])),
        }
    }
}

/// Matches each path of the stacks with a file of the folder.
///
/// Paths of the folder are relative to it; `folder` is its own path, as far as it is known, and may be empty.
/// Paths may use `/` or `\`; those of Windows are compared without regard to case.
pub fn match_files(stacks: &[&str], folder: &str, files: &[&str]) -> Vec<Match> {
    let root: Vec<String> = parts(folder);
    let files: Vec<Vec<String>> = files.iter().map(|file| parts(file)).collect();
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, file) in files.iter().enumerate() {
        by_name.entry_ref(&last(file).to_lowercase()).or_default().push(index);
    }
    let best = |path: &&str| {
        let wanted = Wanted::of(path);
        let same_name = by_name.get(&last(&wanted.parts).to_lowercase());
        let candidates = same_name.into_iter().flatten();
        let fits = candidates.filter_map(|&file| Some((wanted.fit(&files[file], &root)?, file)));
        let mut fits: Vec<(Fit, usize)> = fits.collect();
        fits.short_sort_by_key(|&(fit, file)| (Reverse(fit), file));
        let equal = fits.partition_point(|&(fit, _)| Some(fit) == fits.first().map(|first| first.0));
        fits.truncate(equal);
        fits
    };
    let best: Vec<Vec<(Fit, usize)>> = stacks.iter().map(best).collect();
    let owners = owners(&best);
    let found = best.iter().enumerate().map(|(path, fits)| match fits.as_slice() {
        [] => Match::Missing,
        // A path that fits the file at least as well.
        &[(_, file)] => match owners[&file].1.iter().find(|owner| **owner != path) {
            Some(&by) => Match::Taken { file, by },
            None => Match::Found(file),
        },
        several => Match::Several(several.iter().map(|&(_, file)| file).collect()),
    });
    found.collect()
}

/// How well a path fits a file, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// Number of last parts in common, including those of the folder itself.
    parts: usize,
    /// True if the path ends with the whole path below the folder.
    is_whole: bool,
}

/// Returns the paths that fit each file best, among those that fit no other file as well.
fn owners(best: &[Vec<(Fit, usize)>]) -> HashMap<usize, (Fit, Vec<usize>)> {
    let mut owners: HashMap<usize, (Fit, Vec<usize>)> = HashMap::new();
    for (path, fits) in best.iter().enumerate() {
        let &[(fit, file)] = fits.as_slice() else { continue };
        let (most, paths) = owners.entry(file).or_insert((fit, Vec::new()));
        if fit > *most {
            (*most, *paths) = (fit, Vec::new());
        }
        if fit == *most {
            paths.push(path);
        }
    }
    owners
}

struct Wanted {
    parts: Vec<String>,
    ignores_case: bool,
    /// Number of last parts that a file must have in common.
    needed: usize,
}

impl Wanted {
    fn of(path: &str) -> Self {
        let parts = parts(path);
        let needed = parts.len() - installed(&parts).unwrap_or(parts.len() - 1);
        Self { ignores_case: path.contains('\\'), needed, parts }
    }

    fn fit(&self, file: &[String], root: &[String]) -> Option<Fit> {
        let is_same = |one: &str, other: &str| match self.ignores_case {
            true => one.to_lowercase() == other.to_lowercase(),
            false => one == other,
        };
        let pairs = self.parts.iter().rev().zip(file.iter().rev().chain(root.iter().rev()));
        let parts = pairs.take_while(|(one, other)| is_same(one, other)).count();
        (parts >= self.needed).then_some(Fit { parts, is_whole: parts >= file.len() })
    }
}

/// Returns the position of the first part inside the folder of installed packages or of the standard library.
///
/// Such a file is the same only if its whole path there is: every second package has a `utils.py`.
fn installed(parts: &[String]) -> Option<usize> {
    let is_packages = |part: &String| part.ends_with("-packages");
    let is_python = |part: &str| part.to_lowercase().starts_with("python3");
    let in_python = |pair: &[String]| {
        (pair[0] == "lib" && is_python(&pair[1])) || (is_python(&pair[0]) && pair[1].to_lowercase() == "lib")
    };
    let packages = parts.iter().rposition(is_packages).map(|at| at + 1);
    let library = || parts.windows(2).position(in_python).map(|at| at + 2);
    packages.or_else(library).filter(|&at| at < parts.len())
}

/// Splits a path into its parts, without `.`, a drive or empty ones; at least one.
fn parts(path: &str) -> Vec<String> {
    let is_part = |part: &&str| !part.is_empty() && *part != "." && !part.ends_with(':');
    let parts: Vec<String> = path.split(['/', '\\']).filter(is_part).map(str::to_owned).collect();
    if parts.is_empty() { vec![String::new()] } else { parts }
}

fn last(parts: &[String]) -> &str {
    parts.last().map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 6] =
        ["train.py", "model/attention.py", "model/__init__.py", "tools/train.py", "a/same.py", "b/same.py"];

    /// Checks the match of one path in the folder `/home/me/job`.
    #[track_caller]
    fn check(path: &str, expected: Match) {
        assert_eq!(match_files(&[path], "/home/me/job", &FILES), [expected], "{path}");
    }

    #[test]
    fn the_longest_common_end_decides() {
        check("/workspace/job/model/attention.py", Match::Found(1));
        check("/workspace/other/attention.py", Match::Found(1));
        check("/workspace/train.py", Match::Found(0));
        check("/x/tools/train.py", Match::Found(3));
        check("./train.py", Match::Found(0));
        check("train.py", Match::Found(0));
        check("/x/model/__init__.py", Match::Found(2));
    }

    #[test]
    fn windows_has_other_separators_and_no_case() {
        check(r"C:\work\Job\Model\Attention.py", Match::Found(1));
        check(r"C:\work\tools\train.py", Match::Found(3));
        check("/work/Train.py", Match::Missing);
    }

    #[test]
    fn files_that_fit_equally_well_are_all_named() {
        check("/x/same.py", Match::Several(vec![4, 5]));
        check("/x/b/same.py", Match::Found(5));
    }

    #[test]
    fn installed_files_need_their_whole_path() {
        check("/opt/venv/lib/python3.11/site-packages/pandas/train.py", Match::Missing);
        check("/opt/venv/lib/python3.11/train.py", Match::Found(0));
        check("/usr/lib/python3.11/json/train.py", Match::Missing);
        check(r"C:\Python311\Lib\json\train.py", Match::Missing);
        let package = ["utils.py", "models/gpt2/modeling_gpt2.py"];
        let paths = ["/v/site-packages/transformers/models/gpt2/modeling_gpt2.py", "/v/site-packages/torch/utils.py"];
        assert_eq!(match_files(&paths, "/x/transformers", &package), [Match::Found(1), Match::Missing]);
    }

    #[test]
    fn a_file_belongs_to_the_path_that_fits_it_best() {
        let paths = ["/w/other/train.py", "/w/job/train.py", "/w/third/train.py"];
        let taken = Match::Taken { file: 0, by: 1 };
        assert_eq!(match_files(&paths, "/home/me/job", &["train.py"]), [taken.clone(), Match::Found(0), taken]);
        let equal = [Match::Taken { file: 0, by: 1 }, Match::Taken { file: 0, by: 0 }];
        assert_eq!(match_files(&["/a/train.py", "/b/train.py"], "", &["train.py"]), equal);
    }

    #[test]
    fn a_note_names_what_could_be_meant() {
        let note = |found: Match| found.note(&["/a/train.py", "/b/train.py"], &FILES);
        assert_eq!(note(Match::Several(vec![4, 5])).as_deref(), Some("could be a/same.py or b/same.py"));
        let many = note(Match::Several((0..6).collect())).unwrap();
        assert!(many.starts_with("could be train.py or ") && many.ends_with("tools/train.py or others"), "{many}");
        let taken = note(Match::Taken { file: 0, by: 1 });
        assert_eq!(taken.as_deref(), Some("could be train.py, as could /b/train.py"));
        assert_eq!((note(Match::Missing), note(Match::Found(0))), (None, None));
    }

    #[test]
    fn odd_paths_match_nothing() {
        for path in ["", "/", "<frozen runpy>", "<eval_with_key>.3", "C:", "missing.py", r"\\"] {
            check(path, Match::Missing);
        }
        assert_eq!(match_files(&["a.py"], "", &[]), [Match::Missing]);
        assert_eq!(match_files(&[], "", &FILES), []);
    }
}
