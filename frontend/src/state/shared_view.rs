//! Text of a share link: the view, and what was removed from the copy.

use super::view_state::ViewState;
use crate::ask::CopyOptions;

/// Field after those of the view, whose reader ignores unknown fields.
const CUT: &str = "cut=";

/// Kinds of content that are removed from copies, with their words in the text and for display.
const CUTS: [(&str, &str); 5] = [
    ("paths", "paths shortened to the project"),
    ("names", "names of people and machines"),
    ("metadata", "metadata"),
    ("annotations", "annotations"),
    ("frames", "frames of some packages"),
];

/// Writes the text of a link: a view, and what the options remove from the copy.
pub fn shared_view_text(view: &ViewState, options: &CopyOptions) -> String {
    let is_cut = [
        options.cut_paths,
        options.remove_names,
        options.drop_metadata,
        options.drop_annotations,
        !options.dropped_packages.is_empty(),
    ];
    let words: Vec<&str> = CUTS.iter().zip(is_cut).filter(|(_, is_cut)| *is_cut).map(|((word, _), _)| *word).collect();
    format!("{};{CUT}{}", view.to_text(), words.join("+"))
}

/// Describes what was removed from a link's copy; `None` if the text does not tell.
pub fn cuts_text(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(';').find_map(|part| part.strip_prefix(CUT))?.split('+').collect();
    let said: Vec<&str> = CUTS.iter().filter(|(word, _)| words.contains(word)).map(|(_, text)| *text).collect();
    let (cut, removed) = match said.split_first() {
        Some((&first, rest)) if first == CUTS[0].1 => (Some(first.to_owned()), rest),
        _ => (None, &said[..]),
    };
    let removed = (!removed.is_empty()).then(|| format!("{} removed", removed.join(", ")));
    match [cut, removed].into_iter().flatten().collect::<Vec<_>>().join("; ") {
        text if text.is_empty() => Some("nothing was removed".to_owned()),
        text => Some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(options: &CopyOptions, said: &str) {
        let view = ViewState { device: 3, ..ViewState::default() };
        let text = shared_view_text(&view, options);
        assert_eq!(ViewState::from_text(&text), Ok(view));
        assert_eq!(cuts_text(&text).as_deref(), Some(said));
    }

    #[test]
    fn a_link_says_what_was_taken_out() {
        let default = CopyOptions::default();
        check(&default, "paths shortened to the project; names of people and machines, metadata removed");
        check(&CopyOptions { cut_paths: false, ..default.clone() }, "names of people and machines, metadata removed");
        let none = CopyOptions { cut_paths: false, remove_names: false, drop_metadata: false, ..default };
        check(&none, "nothing was removed");
        check(&CopyOptions { dropped_packages: vec!["torch".into()], ..none }, "frames of some packages removed");
    }

    #[test]
    fn another_text_says_nothing() {
        assert_eq!(cuts_text("v1;device=0"), None);
        assert_eq!(cuts_text(""), None);
    }
}
