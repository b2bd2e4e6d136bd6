//! Implements `snapscope open`, which shows files in the browser, or in the terminal alone.
//!
//! `serve/opened/` is its server. It ends once no page holds its event stream and no request came for five seconds; a
//! reload takes less.

mod latest;
mod screen;

pub(super) use screen::memory_line;

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use shared::base::file_names::is_of_no_interest;

use super::named::{self, Named, name_of};
use super::output::Output;
use super::text::printable;
use crate::Failure;
use crate::config::{Terminal, built_pages};
use crate::serve;

/// The options of `snapscope open`.
#[derive(Debug, Clone, Args)]
pub struct OpenArgs {
    /// Snapshots, logs and whatever else the page can open; a folder stands for its files [default: one of the latest
    /// snapshots in the current folder and in `snapshots`]
    files: Vec<PathBuf>,

    /// Show the timeline, the top stacks and the findings in this terminal, without a browser
    #[arg(long)]
    text: bool,

    /// Folder of the built web pages [default: those inside this program, or `dist` next to its folder]
    #[arg(long, value_name = "DIR", env = "SNAPSCOPE_DIST")]
    dist: Option<PathBuf>,
}

/// The options of `snapscope demo`.
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Folder of the built web pages [default: those inside this program, or `dist` next to its folder]
    #[arg(long, value_name = "DIR", env = "SNAPSCOPE_DIST")]
    dist: Option<PathBuf>,
}

impl DemoArgs {
    /// Serves a recording of the gallery, in which every step keeps its graph, until the page is closed.
    pub fn run(self) -> Result<Output, Failure> {
        const NAME: &str = "speech_losses_bad.pickle.gz";
        let pages = built_pages(self.dist.clone())?;
        let unreadable = |reason: String| Failure::new(format!("{NAME}: {reason}"), "build the web pages again");
        let recording = pages.read(&format!("gallery/{NAME}")).map_err(|error| unreadable(error.to_string()))?;
        let recording = recording.ok_or_else(|| unreadable("the web pages have no such recording".to_owned()))?;
        let folder = tempfile::tempdir().map_err(|error| unreadable(error.to_string()))?;
        let file = folder.path().join(NAME);
        std::fs::write(&file, recording).map_err(|error| unreadable(error.to_string()))?;
        OpenArgs { files: vec![file], text: false, dist: self.dist }.run()
    }
}

impl OpenArgs {
    /// Serves the files until the page is closed, or returns their text; a file that cannot be read is named on standard
    /// error and does not stop the others.
    pub fn run(&self) -> Result<Output, Failure> {
        let terminal = Terminal::from_environment();
        let chosen = if self.files.is_empty() { vec![latest::choose(Path::new("."))?] } else { self.files.clone() };
        let (files, mut unread) = readable(&chosen);
        let mut text = String::new();
        if self.text {
            let (screens, failures) = screen::screens(&files, &terminal);
            text = screens;
            unread.extend(failures);
        }
        if files.is_empty() || (self.text && text.is_empty()) {
            let all = unread.into_iter().reduce(|all, failure| all.and(&failure));
            return Err(all.unwrap_or_else(nothing_of_interest));
        }
        unread.iter().for_each(|failure| eprintln!("{}", printable(&failure.to_string())));
        if !self.text {
            self.serve(files, &terminal)?;
        }
        Ok(Output { status: if unread.is_empty() { 0 } else { Failure::EXIT_STATUS }, ..text.into() })
    }

    fn serve(&self, files: Vec<Named>, terminal: &Terminal) -> Result<(), Failure> {
        let pages = built_pages(self.dist.clone())?;
        let files = files.into_iter().map(|file| file.path).collect();
        crate::jobs::worker::runtime()?.block_on(async {
            let opened = serve::open(&pages, files)?;
            serve::announce(&opened.address);
            match terminal.forwarding(opened.port) {
                Some(line) => eprintln!("forward the port from your own machine: {line}"),
                None if terminal.has_display => show(&opened.address),
                None => (),
            }
            opened.run().await
        })
    }
}

/// Returns the files that can be read, with those of folders, and the failures of the others.
fn readable(paths: &[PathBuf]) -> (Vec<Named>, Vec<Failure>) {
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    for path in paths {
        match named::files(std::slice::from_ref(path)) {
            Ok(found) => files.extend(found),
            Err(failure) => unread.push(failure),
        }
    }
    let is_other = |file: &Named| file.is_of_folder && is_of_no_interest(&name_of(&file.path));
    files.retain(|file| !is_other(file));
    files.retain(|file| check(&file.path).map_err(|failure| unread.push(failure)).is_ok());
    (files, unread)
}

/// Refuses a file that cannot be opened, or whose bytes are not on a disk.
fn check(path: &Path) -> Result<(), Failure> {
    let unreadable = |error: io::Error| Failure::reading(path, &error, "file");
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(Failure::reading(path, &"this is not a file", "file"));
    }
    File::open(path).map(drop).map_err(unreadable)
}

pub(super) fn nothing_of_interest() -> Failure {
    Failure::new("the folder has no snapshots and no logs", "choose another folder, or name a file")
}

/// Asks the desktop to show an address; whoever has no such program opens the printed address by hand.
fn show(address: &str) {
    let mut command = Command::new("xdg-open");
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // An interrupt at the terminal is for this command, not for the browser.
    let _ = command.process_group(0).spawn();
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_can_be_read_is_opened_and_the_rest_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["10.pickle", "2.pickle", "train.py", ".hidden"] {
            fs::write(at(name), "").unwrap();
        }
        let given = [at("missing.pickle"), folder.path().to_owned(), at("no/folder"), at("train.py")];
        let (files, unread) = readable(&given);
        let names: Vec<_> = files.iter().map(|file| name_of(&file.path)).collect();
        assert_eq!(names, ["2.pickle", "10.pickle", "train.py"], "a file that was named is opened whatever its name");
        let said: Vec<_> = unread.iter().map(|failure| failure.message.as_str()).collect();
        assert!(said[0].contains("missing.pickle: No such file") && said.len() == 2, "{said:?}");
    }
}
