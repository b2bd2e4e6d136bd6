//! Implements `snapscope ranks`, which compares the snapshots of one job's processes.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use shared::analysis::{Category, Outlier, RankFigures, Study, Unlike, order_of_ranks, outliers};
use shared::api::{RankOutlier, RankRow, RanksReport};
use shared::base::format::{bytes, count, counted, percent};

use super::{abreast, text};
use crate::Failure;
use crate::snapshot_file::Opened;
use shared::base::Moment;

/// The options of `snapscope ranks`.
#[derive(Debug, Clone, Args)]
pub struct RanksArgs {
    /// A folder of snapshots, or the snapshot files; each GPU of a file with several GPUs counts as a rank
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Suffixes of the files that are taken from a folder as snapshots.
const ENDINGS: [&str; 5] = [".pickle", ".pkl", ".pickle.gz", ".pkl.gz", ".json.gz"];

/// One rank with its figures.
struct Rank {
    number: u64,
    file: String,
    device: i64,
    figures: RankFigures,
    sparkline: String,
}

/// Text to print, and the failures of unreadable files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanksPage {
    pub text: String,
    /// Failures of the files that could not be read; the text is about the other files.
    pub unread: Vec<Failure>,
}

impl RanksArgs {
    /// Reads the files and returns the text to print; an unreadable file does not stop the others.
    ///
    /// # Errors
    ///
    /// Returns an error if no file can be read, if a folder has no snapshots, or if no device had memory in use.
    pub fn run(&self) -> Result<RanksPage, Failure> {
        let (ranks, unread) = ranks(&files(&self.files)?)?;
        let figures: Vec<RankFigures> = ranks.iter().map(|rank| rank.figures.clone()).collect();
        let found = outliers(&figures);
        if self.json {
            let document = serde_json::to_string_pretty(&report(&ranks, &found));
            return Ok(RanksPage { text: document.expect("plain data can be written") + "\n", unread });
        }
        Ok(RanksPage { text: page(&ranks, &found), unread })
    }
}

/// Replaces each folder by its snapshots, sorted by name, and keeps the order of the arguments otherwise.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in named {
        if path.is_dir() {
            files.extend(files_of(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn files_of(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::new(format!("{}: {error}", folder.display()), "check the path and the permissions of the folder")
    };
    let is_snapshot = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        path.is_file() && ENDINGS.iter().any(|ending| name.ends_with(ending))
    };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let entries = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<PathBuf>, _>>();
    let mut files: Vec<PathBuf> = entries.map_err(unreadable)?.into_iter().filter(is_snapshot).collect();
    files.sort();
    if files.is_empty() {
        return Err(Failure::new(
            format!("{}: the folder has no snapshots", folder.display()),
            format!("the names of snapshots end in {}; pass other files one by one", ENDINGS.join(", ")),
        ));
    }
    Ok(files)
}

/// Returns the ranks of all readable files in ascending order, and the failures of the other files.
///
/// Of each file only the figures are kept in memory.
fn ranks(files: &[PathBuf]) -> Result<(Vec<Rank>, Vec<Failure>), Failure> {
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let read = |position: usize| Ok::<_, Infallible>(Opened::read(paths[position]).map(|opened| of_file(&opened)));
    let Ok(outcomes) = abreast::each(&paths, read);
    let (mut files, mut of_files, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    for (path, outcome) in paths.into_iter().zip(outcomes) {
        match outcome {
            Ok(of_file) => {
                files.push(path);
                of_files.push(of_file);
            }
            Err(failure) => unread.push(failure),
        }
    }
    if let (true, Some(failure)) = (files.is_empty(), unread.iter().cloned().reduce(|all, next| all.and(&next))) {
        return Err(failure);
    }
    let mut ranks: Vec<Rank> = if of_files.iter().all(|of_file| of_file.len() == 1) {
        let names: Vec<String> = files.iter().map(|file| name_of(file)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut of_files: Vec<Option<Rank>> = of_files.into_iter().map(|mut of_file| of_file.pop()).collect();
        let ordered = order_of_ranks(&names).into_iter();
        ordered.filter_map(|(position, number)| Some(Rank { number, ..of_files[position].take()? })).collect()
    } else {
        let all = of_files.into_iter().flatten().zip(0..);
        all.map(|(rank, number)| Rank { number, ..rank }).collect()
    };
    if ranks.is_empty() {
        return Err(Failure::new(
            "no memory was in use on any GPU",
            "the processes that wrote the snapshots did not use CUDA",
        ));
    }
    ranks.sort_by_key(|rank| rank.number);
    Ok((ranks, unread))
}

fn name_of(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns a rank for each device of a file that had memory.
///
/// The others are skipped because a process also sees the GPUs that other processes use.
fn of_file(opened: &Opened) -> Vec<Rank> {
    let used = opened.devices().filter(|(_, timeline)| timeline.live_peak().1 + timeline.reserved_peak().1 > 0);
    used.map(|(device, timeline)| {
        const WIDTH: u32 = 32;
        let study = Study::new(&opened.trace, device, timeline);
        Rank {
            number: 0,
            file: opened.file.clone(),
            device: device.index,
            figures: RankFigures::of_study(&study),
            sparkline: text::sparkline(timeline, WIDTH),
        }
    })
    .collect()
}

fn report(ranks: &[Rank], found: &[Outlier]) -> RanksReport {
    let row = |rank: &Rank| {
        let of = &rank.figures;
        RankRow {
            rank: rank.number,
            file: rank.file.clone(),
            device: rank.device,
            peak_live_bytes: of.peak_bytes,
            peak_event: Moment(of.peak_moment).event_number(),
            peak_reserved_bytes: of.reserved_bytes,
            peak_by_category: of.at_peak.iter().map(|(category, bytes)| (category.name(), *bytes)).collect(),
            steps: of.steps as u64,
            growth_bytes_per_step: of.growth_bytes,
            ooms: of.ooms,
        }
    };
    RanksReport {
        ranks: ranks.iter().map(row).collect(),
        outliers: found.iter().map(|outlier| outlier_row(ranks, outlier)).collect(),
    }
}

fn outlier_row(ranks: &[Rank], outlier: &Outlier) -> RankOutlier {
    let rank = ranks[outlier.rank].number;
    let (kind, delta_bytes, most) = match outlier.unlike {
        Unlike::Peak { bytes, most } => ("peak", Some(bytes), most),
        Unlike::Growth { bytes } => ("growth", Some(bytes), None),
        Unlike::OutOfMemory { .. } => ("out-of-memory", None, None),
    };
    RankOutlier {
        rank,
        kind,
        delta_bytes,
        category: most.map(|(category, _)| category.name()),
        category_delta_bytes: most.map(|(_, bytes)| bytes),
        message: outlier.sentence(&format!("rank {rank}")),
    }
}

fn page(ranks: &[Rank], found: &[Outlier]) -> String {
    let highest = ranks.iter().map(|rank| rank.figures.peak_bytes).max().unwrap_or(0);
    let row = |rank: &Rank| {
        const BAR_WIDTH: usize = 12;
        let RankFigures { peak_bytes, reserved_bytes, growth_bytes, ooms, .. } = &rank.figures;
        let growth = growth_bytes.filter(|&bytes| bytes > 0).map(|growth| format!("+{} per step", bytes(growth)));
        let out = (*ooms > 0).then(|| format!("{}× out of memory", count(*ooms)));
        vec![
            format!("rank {}", count(rank.number)),
            bytes(*peak_bytes),
            text::bar(*peak_bytes, highest, BAR_WIDTH),
            format!("{} reserved", bytes(*reserved_bytes)),
            rank.sparkline.clone(),
            composition(&rank.figures),
            [growth, out].into_iter().flatten().collect::<Vec<_>>().join(", "),
            format!("{} GPU {}", rank.file, rank.device),
        ]
    };
    let rows: Vec<Vec<String>> = ranks.iter().map(row).collect();
    let mut lines = text::table(&rows, &[1, 3]);
    lines.push(String::new());
    let sentence = |outlier: &Outlier| outlier.sentence(&format!("rank {}", ranks[outlier.rank].number));
    lines.extend(found.iter().map(sentence));
    if found.is_empty() {
        let why = if ranks.len() < 3 { "too few to find outliers" } else { "no rank stands out" };
        lines.push(format!("{}: {why}", counted(ranks.len() as u64, "rank")));
    }
    lines.join("\n") + "\n"
}

/// Formats the two largest categories at the peak with their shares.
fn composition(figures: &RankFigures) -> String {
    const SHOWN: usize = 2;
    let mut largest: Vec<(Category, u64)> = figures.at_peak.clone();
    largest.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
    let shown = largest.iter().take(SHOWN);
    let shown = shown.map(|(category, bytes)| format!("{} {}", category.plural(), percent(*bytes, figures.peak_bytes)));
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_snapshots() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["rank1.pickle", "rank0.pickle.gz", "notes.txt"] {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        let names = |paths: Vec<PathBuf>| paths.iter().map(|path| name_of(path)).collect::<Vec<_>>();
        assert_eq!(names(files(&[folder.path().to_owned()]).unwrap()), ["rank0.pickle.gz", "rank1.pickle"]);
        // A file that is named explicitly is taken whatever its suffix.
        let notes = folder.path().join("notes.txt");
        assert_eq!(files(std::slice::from_ref(&notes)).unwrap(), [notes]);
        let empty = tempfile::tempdir().unwrap();
        assert!(files(&[empty.path().to_owned()]).unwrap_err().message.contains("has no snapshots"));
    }
}
