//! Implements `snapscope ranks`, which compares the snapshots of one job's processes.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use shared::analysis::{Category, RankFigures, Study, order_of_ranks};
use shared::base::format::{bytes, count, counted, percent};
use shared::report::{Rank, Ranks};

use super::named::name_of;
use super::output::{Output, document};
use super::{abreast, text};
use crate::Failure;
use crate::snapshot_file::Opened;

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

/// Rank with the curve of its live memory in characters.
struct Drawn {
    rank: Rank,
    sparkline: String,
}

impl Drawn {
    fn numbered(self, number: u64) -> Self {
        Self { rank: Rank { rank: number, ..self.rank }, ..self }
    }
}

impl RanksArgs {
    /// Reads the files and returns the text to print; an unreadable file does not stop the others.
    pub fn run(&self) -> Result<Output, Failure> {
        let (ranks, unread) = ranks(&files(&self.files)?)?;
        let (ranks, sparklines): (Vec<Rank>, Vec<String>) =
            ranks.into_iter().map(|Drawn { rank, sparkline }| (rank, sparkline)).unzip();
        let report = Ranks::new(ranks);
        let text = match self.json {
            true => document(&report),
            false => page(&report, &sparklines),
        };
        Ok(Output::without(&unread, text, 0))
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
    let unreadable = |error: std::io::Error| Failure::reading(folder, &error, "folder");
    let is_snapshot = |path: &PathBuf| {
        let name = name_of(path).to_ascii_lowercase();
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
fn ranks(files: &[PathBuf]) -> Result<(Vec<Drawn>, Vec<Failure>), Failure> {
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
    let mut ranks: Vec<Drawn> = if of_files.iter().all(|of_file| of_file.len() == 1) {
        let names: Vec<String> = files.iter().map(|file| name_of(file)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut of_files: Vec<Option<Drawn>> = of_files.into_iter().map(|mut of_file| of_file.pop()).collect();
        let ordered = order_of_ranks(&names).into_iter();
        ordered.filter_map(|(position, number)| Some(of_files[position].take()?.numbered(number))).collect()
    } else {
        let all = of_files.into_iter().flatten().zip(0..);
        all.map(|(drawn, number)| drawn.numbered(number)).collect()
    };
    if ranks.is_empty() {
        return Err(Failure::new(
            "no memory was in use on any GPU",
            "the processes that wrote the snapshots did not use CUDA",
        ));
    }
    ranks.sort_by_key(|drawn| drawn.rank.rank);
    Ok((ranks, unread))
}

/// Returns a rank for each device of a file that had memory.
///
/// The others are skipped because a process also sees the GPUs that other processes use.
fn of_file(opened: &Opened) -> Vec<Drawn> {
    let used = opened.devices().filter(|(_, timeline)| timeline.live_peak().1 + timeline.reserved_peak().1 > 0);
    used.map(|(device, timeline)| {
        const WIDTH: u32 = 32;
        let study = Study::new(&opened.trace, device, timeline);
        let (file, figures) = (opened.file.clone(), RankFigures::of_study(&study));
        let rank = Rank { rank: 0, file, device: device.index, figures };
        Drawn { rank, sparkline: text::sparkline(timeline, WIDTH) }
    })
    .collect()
}

fn page(report: &Ranks, sparklines: &[String]) -> String {
    let Ranks { ranks, outliers } = report;
    let highest = ranks.iter().map(|rank| rank.figures.peak_live_bytes).max().unwrap_or(0);
    let row = |(rank, sparkline): (&Rank, &String)| {
        const BAR_WIDTH: usize = 12;
        let RankFigures { peak_live_bytes, peak_reserved_bytes, growth_bytes_per_step, ooms, .. } = &rank.figures;
        let growth =
            growth_bytes_per_step.filter(|&bytes| bytes > 0).map(|growth| format!("+{} per step", bytes(growth)));
        let out = (*ooms > 0).then(|| format!("{}× out of memory", count(*ooms)));
        vec![
            format!("rank {}", count(rank.rank)),
            bytes(*peak_live_bytes),
            text::bar(*peak_live_bytes, highest, BAR_WIDTH),
            format!("{} reserved", bytes(*peak_reserved_bytes)),
            sparkline.clone(),
            composition(&rank.figures),
            [growth, out].into_iter().flatten().collect::<Vec<_>>().join(", "),
            format!("{} GPU {}", rank.file, rank.device),
        ]
    };
    let rows: Vec<Vec<String>> = ranks.iter().zip(sparklines).map(row).collect();
    let mut lines = text::table(&rows, &[1, 3]);
    lines.push(String::new());
    lines.extend(outliers.iter().map(|outlier| outlier.message.clone()));
    if outliers.is_empty() {
        let why = if ranks.len() < 3 { "too few to find outliers" } else { "no rank stands out" };
        lines.push(format!("{}: {why}", counted(ranks.len() as u64, "rank")));
    }
    lines.join("\n") + "\n"
}

/// Formats the two largest categories at the peak with their shares.
fn composition(figures: &RankFigures) -> String {
    const SHOWN: usize = 2;
    let mut largest: Vec<(Category, u64)> = figures.peak_by_category.clone().into_iter().collect();
    largest.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
    let shown = largest.iter().take(SHOWN);
    let shown =
        shown.map(|(category, bytes)| format!("{} {}", category.plural(), percent(*bytes, figures.peak_live_bytes)));
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
