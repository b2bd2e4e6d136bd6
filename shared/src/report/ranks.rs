//! Builds the comparison of the processes or devices of one job.

use crate::analysis::{Category, Outlier, RankFigures, Unlike, outliers};
use serde::Serialize;

/// Comparison of the processes or devices of one job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ranks {
    /// Ranks in ascending order.
    pub ranks: Vec<Rank>,
    /// Unusual properties of some ranks.
    pub outliers: Vec<RankOutlier>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rank {
    /// Number of the rank, from the file's name or else from the order.
    pub rank: u64,
    /// File as named on the command line, or as found in a folder.
    pub file: String,
    /// CUDA index.
    pub device: i64,
    #[serde(flatten)]
    pub figures: RankFigures,
}

/// Difference between a rank and the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankOutlier {
    /// Number of the rank.
    pub rank: u64,
    /// `peak`, `growth` or `out-of-memory`.
    pub kind: &'static str,
    /// Bytes above the median of all ranks; `None` for `out-of-memory`.
    pub delta_bytes: Option<i64>,
    /// Category that differs most, for `peak`.
    pub category: Option<Category>,
    /// Bytes of that category above its median.
    pub category_delta_bytes: Option<i64>,
    /// Sentence that says the same.
    pub message: String,
}

impl Ranks {
    pub fn new(ranks: Vec<Rank>) -> Self {
        let outliers = rank_outliers(ranks.iter().map(|rank| (rank.rank, &rank.figures)));
        Self { ranks, outliers }
    }
}

/// Compares ranks, each given by its number and its figures.
pub fn rank_outliers<'a>(ranks: impl Iterator<Item = (u64, &'a RankFigures)>) -> Vec<RankOutlier> {
    let (numbers, figures): (Vec<u64>, Vec<RankFigures>) = ranks.map(|(number, of)| (number, of.clone())).unzip();
    outliers(&figures).iter().map(|found| outlier(numbers[found.rank], found)).collect()
}

fn outlier(rank: u64, found: &Outlier) -> RankOutlier {
    let (kind, delta_bytes, most) = match found.unlike {
        Unlike::Peak { bytes, most } => ("peak", Some(bytes), most),
        Unlike::Growth { bytes } => ("growth", Some(bytes), None),
        Unlike::OutOfMemory { .. } => ("out-of-memory", None, None),
    };
    RankOutlier {
        rank,
        kind,
        delta_bytes,
        category: most.map(|(category, _)| category),
        category_delta_bytes: most.map(|(_, bytes)| bytes),
        message: found.sentence(&format!("rank {rank}")),
    }
}
