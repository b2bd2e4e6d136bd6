//! The known name that a misspelt one was meant to be.

/// `did you mean `hidden`?` for the known name nearest to a text, if one is near enough.
pub(super) fn did_you_mean<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(text, known).map(|name| format!("did you mean `{name}`?"))
}

/// The known name that a text most likely stands for.
///
/// A name is near if a third of the longer of the two would have to change at most, or if it starts with the text.
/// Of two that are equally near the first wins.
pub(super) fn nearest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.chars().take(LONGEST).flat_map(char::to_lowercase).collect::<Vec<_>>();
    let rated = known.filter_map(|name| {
        let name_chars = name.chars().collect::<Vec<_>>();
        let far = distance(&text, &name_chars);
        let is_start = text.len() >= 3 && name_chars.starts_with(&text);
        (is_start || far * 3 <= text.len().max(name_chars.len())).then_some((far, name))
    });
    rated.min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

/// Characters of a text that are looked at; no known name is as long.
const LONGEST: usize = 48;

/// How many insertions, deletions, substitutions and swaps of neighbours make one text of the other.
///
/// The optimal string alignment distance, in O(a·b) time and three rows.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above = (0..=b.len()).collect::<Vec<_>>();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substituted = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substituted.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 6] = ["hidden", "heads", "layers", "learning_rate", "t4-16gb", "gpt2"];

    #[track_caller]
    fn check<'a>(text: &str, expected: impl Into<Option<&'a str>>) {
        assert_eq!(nearest(text, KNOWN.into_iter()), expected.into());
    }

    #[test]
    fn slips_are_forgiven() {
        check("hiden", "hidden");
        check("hdiden", "hidden");
        check("Layer", "layers");
        check("learningrate", "learning_rate");
        check("learn", "learning_rate");
        check("t4", None);
        check("colour", None);
        check("", None);
        check(&"hidden".repeat(1000), None);
    }

    #[test]
    fn swaps_count_once() {
        let distance = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("heads", "haeds"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
