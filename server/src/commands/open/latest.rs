//! Offers the latest snapshots where `snapscope record` and `snapscope run` leave them.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use shared::base::format::{bytes, duration};

use crate::Failure;
use crate::commands::text::{printable, table};

const MOST_OFFERED: usize = 9;

/// A snapshot by its time and size.
struct Found {
    path: PathBuf,
    modified: SystemTime,
    len: u64,
}

/// Lets the user choose one of the latest snapshots of a folder; without a terminal, the latest is chosen.
///
/// # Errors
///
/// Returns an error if there is none, or if the answer is none of their numbers.
pub(super) fn choose(folder: &Path) -> Result<PathBuf, Failure> {
    let mut offered = latest(folder);
    if offered.is_empty() {
        let hint = "name a file, or make one by `snapscope record -- python train.py`";
        return Err(Failure::new("there are no snapshots in this folder and in `snapshots`", hint));
    }
    let mut number = 1;
    if offered.len() > 1 && io::stdin().is_terminal() && io::stderr().is_terminal() {
        eprint!("{}\nOpen which? [1] ", printable(&list(&offered)));
        let _ = io::stderr().flush();
        let mut answer = String::new();
        let _ = io::stdin().lock().read_line(&mut answer);
        number = answered(&answer, offered.len())?;
    }
    Ok(offered.swap_remove(number - 1).path)
}

/// Returns the latest snapshots, the newest first.
fn latest(folder: &Path) -> Vec<Found> {
    let folders = [folder.to_owned(), folder.join("snapshots")];
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut found: Vec<Found> = entries
        .filter_map(|entry| {
            let path = entry.path().strip_prefix(".").map_or_else(|_| entry.path(), Path::to_owned);
            let name = path.file_name()?.to_string_lossy().into_owned();
            let is_snapshot = [".pickle", ".pickle.gz", ".pkl", ".pkl.gz"].iter().any(|ending| name.ends_with(ending));
            let about = entry.metadata().ok().filter(|about| is_snapshot && about.is_file())?;
            Some(Found { path, modified: about.modified().ok()?, len: about.len() })
        })
        .collect();
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    found.truncate(MOST_OFFERED);
    found
}

fn list(offered: &[Found]) -> String {
    let ago = |found: &Found| found.modified.elapsed().map_or(0, |time| time.as_secs() * 1_000_000);
    let row = |(number, found): (usize, &Found)| {
        let path = found.path.display().to_string();
        vec![format!("{number}"), path, bytes(found.len), format!("{} ago", duration(ago(found)))]
    };
    table(&(1..).zip(offered).map(row).collect::<Vec<_>>(), &[0, 2]).join("\n")
}

/// Reads a number from 1 to `most`; nothing stands for 1.
fn answered(answer: &str, most: usize) -> Result<usize, Failure> {
    let number = if answer.trim().is_empty() { Ok(1) } else { answer.trim().parse() };
    let wrong =
        || Failure::new(format!("{:?} is not in the list", answer.trim()), format!("type a number from 1 to {most}"));
    number.ok().filter(|number| (1..=most).contains(number)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_latest_snapshots_are_offered() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("snapshots")).unwrap();
        let start = SystemTime::now() - Duration::from_secs(7200);
        for (name, minutes) in [("a.pickle", 0), ("snapshots/b.pickle.gz", 60), ("train.py", 90), ("c.pkl", 30)] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(start + Duration::from_secs(60 * minutes)).unwrap();
        }
        let found = latest(folder.path());
        let names: Vec<_> = found.iter().map(|found| found.path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["b.pickle.gz", "c.pkl", "a.pickle"]);
        assert!(list(&found).lines().next().unwrap().ends_with("1 h 0 min ago"), "{}", list(&found));
        assert_eq!(choose(folder.path()).unwrap(), found[0].path, "tests have no terminal");
    }

    #[test]
    fn an_answer_is_a_number_of_the_list() {
        assert_eq!([answered("\n", 3).ok(), answered(" 3 \n", 3).ok()], [Some(1), Some(3)]);
        assert_eq!(answered("4", 3).unwrap_err().hint, "type a number from 1 to 3");
        assert!(answered("x", 3).is_err());
    }
}
