//! Names of open files, cut to where they differ.

/// Shorter common beginnings are not worth a cut.
const LEAST_CUT: usize = 12;

/// Returns the texts of the tabs: with several files, without the beginning that all names share.
///
/// The cut is at a separator, so that no word or number is torn apart.
pub fn tab_texts(names: &[&str]) -> Vec<String> {
    let cut = common_cut(names);
    let text = |name: &&str| if cut == 0 { (*name).to_owned() } else { format!("…{}", &name[cut..]) };
    names.iter().map(text).collect()
}

fn common_cut(names: &[&str]) -> usize {
    let (Some(first), 2..) = (names.first(), names.len()) else { return 0 };
    let common = |name: &&str| first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let shared = names.iter().map(common).min().unwrap_or(0);
    let is_separator = |byte: u8| matches!(byte, b'-' | b'_' | b'.' | b' ' | b'=' | b'/');
    let cut = first.bytes().take(shared).rposition(is_separator).map_or(0, |position| position + 1);
    // Separators are ASCII, so that the cut is between characters; nothing must be left of no name.
    let is_short = cut < LEAST_CUT || names.iter().any(|name| name.len() <= cut);
    if is_short { 0 } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], texts: &[&str]) {
        assert_eq!(tab_texts(names), texts);
    }

    #[test]
    fn names_show_where_they_differ() {
        check(&["cornell-runs_rank0.pickle", "cornell-runs_rank12.pickle"], &["…rank0.pickle", "…rank12.pickle"]);
        check(&["snapshot-before.pickle"], &["snapshot-before.pickle"]);
        check(&["a_1.pickle", "a_2.pickle"], &["a_1.pickle", "a_2.pickle"]);
        check(&["training-run-é.json", "training-run-è.json"], &["…é.json", "…è.json"]);
        check(&["same-name-of-two.json", "same-name-of-two.json"], &["…json", "…json"]);
        check(&[], &[]);
    }
}
