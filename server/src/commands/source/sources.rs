//! Finds the source files of a trace in the folder that the user names, and reads them.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use shared::analysis::source_files;
use shared::api::{FoundSource, QuotedLine};
use shared::base::format::count;
use shared::base::frame_rules;
use shared::report::{SourceFile, SourceReport};
use shared::source::{Match, SourceText, match_files};
use shared::trace::Trace;

use crate::Failure;

/// Source files of a trace, and where they are in a folder.
pub(in crate::commands) struct Sources {
    folder: SourceFolder,
    /// Paths below the folder by the paths in the stacks.
    pub(super) files: BTreeMap<String, String>,
    /// Paths in the stacks that could be several files, or whose file could also be another path, with the reason.
    pub(super) missing: Vec<(String, String)>,
}

/// File of the folder with its text, or the reason for which it is not shown.
pub(super) struct Found {
    pub(super) path: String,
    pub(super) file: String,
    pub(super) text: Result<SourceText, String>,
    /// Reason to doubt that the file is the one that ran.
    pub(super) doubt: Option<String>,
}

impl Sources {
    /// Looks for the source files of a trace in a folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read or has none of the files.
    pub(super) fn open(folder: &Path, trace: &Trace) -> Result<Self, Failure> {
        let paths = source_files(trace);
        let sources = Self::of(folder, &paths)?;
        if sources.files.is_empty() { Err(sources.none(folder, &paths)) } else { Ok(sources) }
    }

    /// Looks for files in a folder that stacks name by these paths.
    pub(in crate::commands) fn of(folder: &Path, paths: &[&str]) -> Result<Self, Failure> {
        let folder = SourceFolder::open(folder, paths)?;
        let (mut files, mut missing) = (BTreeMap::new(), Vec::new());
        let known: Vec<&str> = folder.files.iter().map(String::as_str).collect();
        for (path, found) in paths.iter().zip(match_files(paths, &folder.root.to_string_lossy(), &known)) {
            let path = (*path).to_owned();
            match found {
                Match::Found(file) => drop(files.insert(path, known[file].to_owned())),
                other => missing.extend(other.note(paths, &known).map(|note| (path, note))),
            }
        }
        Ok(Self { folder, files, missing })
    }

    fn none(&self, folder: &Path, paths: &[&str]) -> Failure {
        let folder = folder.display();
        if let Some((path, note)) = self.missing.first() {
            return Failure::new(
                format!("--source {folder}: no source file can be identified: {path} {note}"),
                "pass the folder one level up or down, so that the paths differ",
            );
        }
        let own = paths.iter().find(|path| frame_rules::is_own(path)).or(paths.first());
        match own {
            Some(path) => Failure::new(
                format!(
                    "--source {folder}: none of the {} source files in the stacks is there",
                    count(paths.len() as u64)
                ),
                format!("pass the folder of the project that ran; one of its files was {path}"),
            ),
            None => Failure::new(
                format!("--source {folder}: the stacks of the snapshot name no source files"),
                "record with torch.cuda.memory._record_memory_history(stacks=\"python\") or \"all\"",
            ),
        }
    }

    /// Reads the file of a report; `None` if it is not in the folder.
    pub(super) fn read(&self, of: &SourceFile) -> Option<Found> {
        let file = self.files.get(&of.path)?;
        let text = self.folder.read(file);
        let lines = || of.lines.iter().map(|line| (line.line, line.function.as_str()));
        let doubt = text.as_ref().ok().and_then(|text| text.doubt(&of.path, lines()));
        Some(Found { path: of.path.clone(), file: file.clone(), text, doubt })
    }

    /// Returns a line of a file that stacks name, unless the file seems to be another version.
    pub(in crate::commands) fn line(&self, path: &str, line: u64, function: &str) -> Option<String> {
        let text = self.folder.read(self.files.get(path)?).ok()?;
        let is_doubtful = text.doubt(path, std::iter::once((line, function))).is_some();
        text.line(line).filter(|_| !is_doubtful).map(|text| text.trim().to_owned())
    }
}

impl Found {
    /// Quotes the report's lines of this file.
    pub(super) fn quoted(&self, report: &SourceReport) -> FoundSource {
        let file = report.files.iter().find(|file| file.path == self.path);
        let numbers = file.into_iter().flat_map(|file| &file.lines).map(|line| line.line);
        let quote = |line: u64| {
            let text = self.text.as_ref().ok()?.line(line)?.to_owned();
            Some(QuotedLine { line, text })
        };
        FoundSource {
            path: self.path.clone(),
            file: self.file.clone(),
            note: self.note(),
            lines: numbers.filter_map(quote).collect(),
        }
    }

    /// Returns a sentence about why the lines are missing or doubtful.
    pub(super) fn note(&self) -> Option<String> {
        match &self.text {
            Ok(_) => self.doubt.clone(),
            Err(why) => Some(format!("The file {why}.")),
        }
    }
}

/// Returns true if the last parts of a path are those of `name`.
pub(super) fn ends_like(path: &str, name: &str) -> bool {
    let [path, name] = [path, name].map(|text| text.replace('\\', "/"));
    path.strip_suffix(name.trim_start_matches("./")).is_some_and(|head| head.is_empty() || head.ends_with('/'))
}

/// Most files and folders that are looked at.
const MOST_ENTRIES: usize = 2_000_000;

/// Folder with the files that have the names of some source files.
struct SourceFolder {
    root: PathBuf,
    /// Paths below the folder, in ascending order.
    files: Vec<String>,
}

impl SourceFolder {
    /// Looks through a folder for files with the names of the paths; it follows no links and skips hidden folders.
    fn open(folder: &Path, paths: &[&str]) -> Result<Self, Failure> {
        let unreadable = |error: io::Error| {
            Failure::new(format!("--source {}: {error}", folder.display()), "pass the folder with the source files")
        };
        let root = folder.canonicalize().map_err(unreadable)?;
        let name = |path: &&str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
        let names: HashSet<String> = paths.iter().map(name).collect();
        let mut files = Vec::new();
        let mut ahead = vec![root.clone()];
        let mut entries = 0;
        while let Some(next) = ahead.pop() {
            let listed = match fs::read_dir(&next) {
                Ok(listed) => listed,
                Err(error) if next == root => return Err(unreadable(error)),
                // A folder that the user may not read has no sources of the user's.
                Err(_) => continue,
            };
            for entry in listed.flatten() {
                entries += 1;
                if entries > MOST_ENTRIES {
                    return Err(Failure::new(
                        format!("--source {}: the folder has more than {MOST_ENTRIES} files", folder.display()),
                        "pass the folder of the project instead",
                    ));
                }
                let file_name = entry.file_name().to_string_lossy().into_owned();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && !file_name.starts_with('.') {
                    ahead.push(entry.path());
                } else if kind.is_file() && names.contains(&file_name.to_lowercase()) {
                    let path = entry.path();
                    files.push(path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned());
                }
            }
        }
        files.sort();
        Ok(Self { root, files })
    }

    /// Reads a file below the folder.
    ///
    /// # Errors
    ///
    /// Returns the reason for which it is not shown, as the end of a sentence about the file.
    fn read(&self, file: &str) -> Result<SourceText, String> {
        use io::Read as _;
        let read = || {
            let mut bytes = Vec::new();
            // One byte more shows that a file is too large.
            fs::File::open(self.root.join(file))?.take(SourceText::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error: io::Error| format!("cannot be read: {error}"))?;
        SourceText::new(&bytes).map_err(|why| why.words().to_owned())
    }
}
