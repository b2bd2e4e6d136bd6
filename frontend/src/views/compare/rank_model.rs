//! Texts and numbers of the comparison of ranks: one strip per rank, on one scale.

use crate::ask::{CurveData, RankData};
use shared::analysis::{Category, order_of_ranks};
use shared::base::format;
use shared::report::rank_outliers;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankFile {
    pub name: String,
    /// CUDA index of the device.
    pub index: i64,
    pub data: RankData,
}

/// One rank; lengths are in units of 1/1000 of the width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// Position among the given files.
    pub file: usize,
    pub title: String,
    pub note: String,
    pub peak: String,
    /// Reserved bytes, and growth and out-of-memory errors if there are any.
    pub facts: String,
    pub curve: CurveData,
    pub top_bytes: u64,
    pub parts: Vec<Part>,
    pub unusual: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub category: Category,
    pub x: u32,
    pub width: u32,
    pub label: String,
}

/// Returns the strips in the order of their ranks.
///
/// If each file has one rank, file names give the order. Otherwise the devices are ranks in the given order.
pub fn strips(files: &[RankFile]) -> Vec<Strip> {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let have_one_each = names.iter().enumerate().all(|(position, name)| !names[..position].contains(name));
    let order = if have_one_each { order_of_ranks(&names) } else { (0..files.len()).zip(0..).collect() };
    let figures = || order.iter().map(|&(file, rank)| (rank, &files[file].data.figures));
    let top_bytes = figures().map(|(_, of)| of.peak_live_bytes).max().unwrap_or(0);
    let unusual = rank_outliers(figures());
    let strip = |&(file, rank): &(usize, u64)| {
        let of_rank = unusual.iter().filter(|outlier| outlier.rank == rank);
        strip(&files[file], (file, rank), top_bytes, of_rank.map(|outlier| outlier.message.clone()).collect())
    };
    order.iter().map(strip).collect()
}

pub fn legend(strips: &[Strip]) -> Vec<Category> {
    let occurs =
        |category: &Category| strips.iter().flat_map(|strip| &strip.parts).any(|part| part.category == *category);
    Category::ALL.into_iter().filter(occurs).collect()
}

pub fn summary(strips: &[Strip]) -> String {
    let unusual = strips.iter().filter(|strip| !strip.unusual.is_empty()).count() as u64;
    let ranks = format::counted(strips.len() as u64, "rank");
    match (strips.len(), unusual) {
        (..3, _) => format!("{ranks}: open at least three to find outliers"),
        (_, 0) => format!("{ranks}, no outliers"),
        (_, unusual) => {
            let differ = if unusual == 1 { "differs" } else { "differ" };
            format!("{ranks}, {} of which {differ} from the others", format::count(unusual))
        }
    }
}

fn strip(of: &RankFile, (file, rank): (usize, u64), top_bytes: u64, unusual: Vec<String>) -> Strip {
    let RankFile { name: file_name, index, data } = of;
    let mut facts = vec![format!("{} reserved", format::bytes(data.figures.peak_reserved_bytes))];
    let growth = data.figures.growth_bytes_per_step.filter(|&bytes| bytes > 0);
    facts.extend(growth.map(|growth| format!("+{} per step", format::bytes(growth))));
    facts.extend((data.figures.ooms > 0).then(|| format!("{}× out of memory", format::count(data.figures.ooms))));
    Strip {
        file,
        title: format!("Rank {rank}"),
        note: format!("GPU {index}, {file_name}"),
        peak: format::bytes(data.figures.peak_live_bytes),
        facts: facts.join(", "),
        curve: data.curve.clone(),
        top_bytes,
        parts: parts(data, top_bytes),
        unusual,
    }
}

fn parts(data: &RankData, top_bytes: u64) -> Vec<Part> {
    let place = |bytes: u64| (bytes as f64 * 1000.0 / top_bytes.max(1) as f64).round() as u32;
    let mut below = 0;
    let part = |(&category, &bytes): (&Category, &u64)| {
        let x = place(below);
        below += bytes;
        let label = format!("{}, {}", category.plural(), format::bytes(bytes));
        Part { category, x, width: place(below) - x, label }
    };
    data.figures.peak_by_category.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::report::RankFigures;

    fn file(name: &str, index: i64, activations: u64) -> RankFile {
        let figures = RankFigures {
            peak_live_bytes: 1000 + activations,
            peak_by_category: [(Category::Parameter, 1000), (Category::Activation, activations)].into(),
            ..RankFigures::default()
        };
        let curve = CurveData { start: 0, end: 1, bytes: vec![1000 + activations] };
        let data = RankData { figures, curve };
        RankFile { name: name.into(), index, data }
    }

    #[test]
    fn names_are_the_order_and_outliers_are_marked() {
        let files = [("rank3.pickle", 1000), ("rank0.pickle", 1000), ("rank1.pickle", 3000), ("rank2.pickle", 1000)];
        let strips = strips(&files.map(|(name, activations)| file(name, 0, activations)));
        let titles: Vec<&str> = strips.iter().map(|strip| strip.title.as_str()).collect();
        assert_eq!(titles, ["Rank 0", "Rank 1", "Rank 2", "Rank 3"]);
        assert_eq!(strips.iter().map(|strip| strip.file).collect::<Vec<_>>(), [1, 2, 3, 0]);
        assert_eq!(strips[1].unusual, ["rank 1 peaks 1.95 KiB above the median: activations, 1.95 KiB more"]);
        assert_eq!(summary(&strips), "4 ranks, 1 of which differs from the others");
        assert_eq!(legend(&strips), [Category::Parameter, Category::Activation]);
    }

    #[test]
    fn devices_of_one_process_are_ranks() {
        let strips = strips(&[file("a.pickle", 0, 0), file("a.pickle", 1, 0)]);
        assert_eq!(strips[1].note, "GPU 1, a.pickle");
        assert!(summary(&strips).starts_with("2 ranks: open at least three"));
        assert_eq!(summary(&[]), "0 ranks: open at least three to find outliers");
    }

    #[test]
    fn bars_have_one_scale() {
        let strips = strips(&[file("rank0", 0, 1000), file("rank1", 0, 3000)]);
        let widths = |strip: &Strip| strip.parts.iter().map(|part| (part.x, part.width)).collect::<Vec<_>>();
        assert_eq!(widths(&strips[0]), [(0, 250), (250, 250)]);
        assert_eq!(widths(&strips[1]), [(0, 250), (250, 750)]);
        assert_eq!(strips[0].parts[1].label, "activations, 0.977 KiB");
        assert_eq!(strips[0].curve.bytes[0] * 2, strips[0].top_bytes);
    }

    #[test]
    fn facts_are_said_where_there_are_any() {
        let mut loud = file("rank0", 0, 0);
        loud.data.figures.growth_bytes_per_step = Some(512);
        loud.data.figures.ooms = 1;
        assert_eq!(strips(&[loud])[0].facts, "0 B reserved, +512 B per step, 1× out of memory");
        assert_eq!(strips(&[file("rank0", 0, 0)])[0].facts, "0 B reserved");
    }
}
