//! Answers ten questions about strangers' snapshots on the page, and prints clicks and seconds for `./dev tasks`.

mod list;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use testkit::browser::Browser;
use testkit::server::Server;
use testkit::tasks::{Effort, Task};

use crate::bench::Table;

/// Size of the page in CSS pixels.
const SIZE: (u32, u32) = (1440, 900);

/// Carries out each task whose files are in a folder, on the page that `dev` built, and prints a table.
///
/// # Errors
///
/// Returns a message if the folder cannot be read or has none of the files, and the tasks that failed.
pub fn run(folder: &Path) -> Result<(), String> {
    let names = names(folder)?;
    let server = Server::with_page();
    // What stops a gesture is in the table.
    std::panic::set_hook(Box::new(|_| {}));
    let mut table = Table::new("Tasks on real files at 1440×900", &["question", "files", "clicks", "s", "result"]);
    let mut failed = Vec::new();
    for (task, begins) in list::TASKS {
        for files in groups(folder, &names, begins) {
            let effort = carry_out(&server, task, &files);
            let others = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
            let shown = format!("{}{others}", short(&files[0]));
            let (clicks, seconds, result) = match &effort {
                Ok(Effort { clicks, seconds }) => (clicks.to_string(), format!("{seconds:.1}"), "answered".to_owned()),
                Err(message) => ("–".to_owned(), "–".to_owned(), message.clone()),
            };
            if effort.is_err() {
                failed.push(format!("{} ({shown})", task.question));
            }
            table.row(&[task.question.to_owned(), shown, clicks, seconds, result]);
        }
    }
    if table.is_empty() {
        return Err(format!("{} has none of the files of the tasks", folder.display()));
    }
    table.print();
    if failed.is_empty() { Ok(()) } else { Err(format!("not answered: {}", failed.join("; "))) }
}

fn names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}

/// Returns the files of a task: those that begin with its names together, or with a single star each one by itself.
fn groups(folder: &Path, names: &[String], begins: &[&str]) -> Vec<Vec<PathBuf>> {
    let is_snapshot = |name: &&String| [".gz", ".pickle", ".pkl"].iter().any(|end| name.ends_with(end));
    if begins == ["*"] {
        return names.iter().filter(is_snapshot).map(|name| vec![folder.join(name)]).collect();
    }
    let of = |begin: &&str| names.iter().filter(|name| name.starts_with(*begin)).map(|name| folder.join(name)).next();
    begins.iter().map(of).collect::<Option<Vec<_>>>().into_iter().collect()
}

fn carry_out(server: &Server, task: &Task, files: &[PathBuf]) -> Result<Effort, String> {
    let attempt = || {
        let browser = Browser::open_sized(&server.url("/"), SIZE.0, SIZE.1);
        browser.role("banner", "*").wait();
        task.carry_out(&browser, files)
    };
    // A gesture whose element never comes must not end the table.
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|_| Err("a gesture found nothing".to_owned()))
}

fn short(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (owner, rest) = name.split_once("__").unwrap_or((&name, ""));
    let end = rest.rsplit("__").next().unwrap_or_default();
    format!("{owner} {}", end.split('.').next().unwrap_or_default()).trim_end().chars().take(44).collect()
}
