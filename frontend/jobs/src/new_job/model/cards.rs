//! Cards of a sweep, as one text with commas: those of the table, which are ticked, and others, which are typed.

use shared::job::Card;

/// Returns true if the table of GPUs has this name.
fn is_known(name: &str) -> bool {
    Card::all().any(|card| card.name == name.trim())
}

/// Returns true if a card is among those of a text.
pub(crate) fn has(written: &str, card: &str) -> bool {
    written.split(',').any(|name| name.trim() == card)
}

/// Returns the text with a card added at its end, or removed.
pub(crate) fn toggled(written: &str, card: &str) -> String {
    let others: Vec<_> = written.split(',').filter(|name| !name.trim().is_empty() && name.trim() != card).collect();
    let added = (!has(written, card)).then_some(card);
    others.into_iter().chain(added).collect::<Vec<_>>().join(",")
}

/// Returns the cards that no table has, as they were typed.
pub(crate) fn typed(written: &str) -> String {
    written.split(',').filter(|name| !is_known(name)).collect::<Vec<_>>().join(",")
}

/// Returns the text with other cards that no table has.
pub(crate) fn with_typed(written: &str, typed: &str) -> String {
    let known = written.split(',').filter(|name| is_known(name));
    known.chain(Some(typed).filter(|typed| !typed.is_empty())).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_change_the_text() {
        assert_eq!(toggled("", "t4-16gb"), "t4-16gb");
        assert_eq!(toggled("t4-16gb, custom:8GiB", "l4-24gb"), "t4-16gb, custom:8GiB,l4-24gb");
        assert_eq!(toggled("t4-16gb,l4-24gb", "t4-16gb"), "l4-24gb");
        assert!(has("l4-24gb, t4-16gb", "t4-16gb") && !has("2x t4-16gb", "t4-16gb"));
    }

    #[test]
    fn other_cards_are_typed() {
        assert_eq!(typed("t4-16gb,custom:48GiB:8.6,2x l4-24gb"), "custom:48GiB:8.6,2x l4-24gb");
        // What is unfinished stays as it is typed.
        assert_eq!(with_typed("t4-16gb,custom:8GiB", "custom:8GiB,"), "t4-16gb,custom:8GiB,");
        assert_eq!(typed("t4-16gb,custom:8GiB,"), "custom:8GiB,");
        assert_eq!(with_typed("t4-16gb,custom:8GiB", ""), "t4-16gb");
        assert_eq!((typed(""), with_typed("", "")), (String::new(), String::new()));
    }
}
