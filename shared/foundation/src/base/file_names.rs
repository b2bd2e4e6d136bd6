//! Names of files in a folder: their order, and which are never recordings.

/// Endings of files that are no recording of memory: code, documents, pictures, archives and weights.
const OTHERS: &str = "bat c cc cfg cpp css cu h ini ipynb jpeg jpg js lock md npy npz pdf png pt pth py pyc rs rst \
    safetensors sh so svg tar toml whl yaml yml";

/// Returns a key by which `2.pickle` comes before `10.pickle`.
pub fn number_order(name: &str) -> Vec<(u64, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text_end = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
        let (text, after) = rest.split_at(text_end);
        let number_end = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(number_end);
        parts.push((0, text.to_owned()));
        parts.push((number.parse().unwrap_or(u64::MAX), number.to_owned()));
        rest = after;
    }
    parts
}

/// Returns true for hidden files, and for those whose ending says that they are no recording.
///
/// What remains is recognised by its content.
pub fn is_of_no_interest(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    name.starts_with('.') || ending.is_some_and(|ending| OTHERS.split(' ').any(|other| other == ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let mut names = ["rank10.pickle", "rank2.pickle", "a9", "rank2.pickle.gz"];
        names.sort_by_key(|name| number_order(name));
        assert_eq!(names, ["a9", "rank2.pickle", "rank2.pickle.gz", "rank10.pickle"]);
    }

    #[test]
    fn recordings_and_logs_are_of_interest() {
        for name in ["snapshot", "rank0.pickle", "run.pickle.gz", "trace.json", "ps.log", "memray.bin", "x.csv"] {
            assert!(!is_of_no_interest(name), "{name}");
        }
        for name in [".DS_Store", "train.py", "README.MD", "model.safetensors", "libc.so"] {
            assert!(is_of_no_interest(name), "{name}");
        }
    }
}
