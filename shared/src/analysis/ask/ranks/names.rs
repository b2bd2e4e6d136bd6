//! Reads the rank of a file from its name.

/// Returns the rank in a file's name, if there is one.
///
/// This is the last number that follows the word `rank` (`rank0`, `snapshot_rank-3of8.pickle`), or else a separate
/// number at the end of the name (`snapshot.3.pickle`, `oom_12.pkl.gz`, `7.pickle`).
pub fn rank_of_name(name: &str) -> Option<u64> {
    let lower = name.to_ascii_lowercase();
    lower.rmatch_indices("rank").find_map(|(start, word)| leading_number(&lower[start + word.len()..])).or_else(|| {
        let stem = without_extensions(&lower);
        let start = stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let is_apart = start == 0 || stem[..start].ends_with(SEPARATORS);
        is_apart.then(|| stem[start..].parse().ok())?
    })
}

/// Returns the positions of the files in the order of their ranks, and the rank of each.
///
/// If a name has no rank, or two have the same, the ranks are the positions in `names`.
pub fn order_of_ranks(names: &[&str]) -> Vec<(usize, u64)> {
    let told: Option<Vec<u64>> = names.iter().map(|name| rank_of_name(name)).collect();
    let mut order: Vec<(usize, u64)> = (0..names.len()).map(|position| (position, position as u64)).collect();
    if let Some(told) = told {
        let mut by_rank: Vec<(usize, u64)> = told.into_iter().enumerate().collect();
        by_rank.sort_unstable_by_key(|&(position, rank)| (rank, position));
        if by_rank.windows(2).all(|pair| pair[0].1 < pair[1].1) {
            order = by_rank;
        }
    }
    order
}

const SEPARATORS: [char; 5] = ['-', '_', '.', '=', ' '];

const EXTENSIONS: [&str; 6] = [".gz", ".pickle", ".pkl", ".json", ".html", ".snapshot"];

fn leading_number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches(SEPARATORS);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

fn without_extensions(name: &str) -> &str {
    match EXTENSIONS.iter().find_map(|extension| name.strip_suffix(extension)) {
        Some(stem) => without_extensions(stem),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, rank: Option<u64>) {
        assert_eq!(rank_of_name(name), rank, "{name}");
    }

    #[test]
    fn names_tell_ranks() {
        check("rank0.pickle", Some(0));
        check("memory_rank_3.pickle.gz", Some(3));
        check("fsdp2-gpt2-rank0of8.pickle.gz", Some(0));
        check("Rank=12_step_500.pickle", Some(12));
        check("snapshot.3.pickle", Some(3));
        check("oom_12.pkl.gz", Some(12));
        check("7.pickle", Some(7));
    }

    #[test]
    fn other_names_tell_none() {
        check("snapshot.pickle", None);
        check("gpt2.pickle", None);
        check("rank.pickle", None);
        check("ranking-of-h100.pickle", None);
        check("rank99999999999999999999.pickle", None);
        check("", None);
    }

    #[test]
    fn ranks_are_the_order() {
        assert_eq!(order_of_ranks(&["rank10.pickle", "rank2.pickle"]), [(1, 2), (0, 10)]);
        assert_eq!(order_of_ranks(&["rank1.pickle", "a.pickle"]), [(0, 0), (1, 1)]);
        assert_eq!(order_of_ranks(&["a/rank1.pickle", "b/rank1.pickle"]), [(0, 0), (1, 1)]);
        assert_eq!(order_of_ranks(&[]), []);
    }
}
