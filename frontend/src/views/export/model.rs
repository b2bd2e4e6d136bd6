//! Names and labels of exported files.

use shared::base::Moment;

const ENDINGS: [&str; 6] = [".gz", ".pickle", ".pkl", ".json", ".html", ".bin"];

/// Returns the name of a file made from a snapshot: `run.pickle.gz` becomes `run-stacks.csv`.
///
/// A clean file does not reveal the snapshot's name, because file names may name people too.
pub fn file_name(snapshot: &str, is_clean: bool, ending: &str) -> String {
    let mut stem = snapshot;
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending)) {
        stem = shorter;
    }
    let stem = if is_clean || stem.is_empty() { "snapshot" } else { stem };
    // Characters that some system forbids in file names, and that browsers replace in different ways.
    let is_refused = |letter: char| letter.is_control() || "/\\:*?\"<>|".contains(letter);
    let stem: String = stem.chars().map(|letter| if is_refused(letter) { '_' } else { letter }).collect();
    format!("{stem}{ending}")
}

/// Describes the moment that an export is about: the pinned one, or else the peak.
pub fn moment_text(pinned: Option<u32>) -> String {
    match pinned {
        None => "at the peak".to_owned(),
        Some(0) => Moment(0).to_string(),
        Some(moment) => format!("{} (pinned)", Moment(moment)),
    }
}

pub fn table_label(name: &str, pinned: Option<u32>) -> String {
    match name {
        "stacks" => format!("Stacks {}", moment_text(pinned)),
        "categories" => format!("Categories {}", moment_text(pinned)),
        "allocations" => "All allocations".to_owned(),
        "events" => "All events".to_owned(),
        "segments" => "Segments at the end".to_owned(),
        "steps" => "Training steps".to_owned(),
        "findings" => "Findings".to_owned(),
        _ => "Frames of all stacks".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::export::Table;

    #[test]
    fn names_keep_the_stem() {
        assert_eq!(file_name("run.pickle.gz", false, "-stacks.csv"), "run-stacks.csv");
        assert_eq!(file_name("a/b:c.pkl", false, ".svg"), "a_b_c.svg");
        assert_eq!(file_name(".pickle", false, ".svg"), "snapshot.svg");
        assert_eq!(file_name("ada.pickle", true, ".svg"), "snapshot.svg");
    }

    #[test]
    fn every_table_has_a_label_of_its_own() {
        let labels: std::collections::HashSet<String> =
            Table::ALL.into_iter().map(|table| table_label(table.name(), Some(8))).collect();
        assert_eq!(labels.len(), Table::ALL.len());
        assert!(labels.contains("Stacks after event 7 (pinned)"));
    }
}
