//! Keeps the latest answers that take long to make.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use actix_web::web::Bytes;

/// Maximum bytes of kept answers; a picture takes some tens of kilobytes, findings up to some hundreds.
const MOST_BYTES: usize = 16 << 20;

/// The latest answers, by their tags.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<VecDeque<(String, Bytes)>>);

impl Kept {
    pub(crate) fn get(&self, tag: &str) -> Option<Bytes> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == tag).map(|(_, answer)| answer.clone())
    }

    /// Keeps an answer in place of the oldest ones.
    pub(crate) fn keep(&self, tag: &str, answer: Bytes) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| known != tag);
        kept.push_front((tag.to_owned(), answer));
        let mut bytes = 0;
        kept.retain(|(known, answer)| {
            bytes += known.len() + answer.len();
            bytes <= MOST_BYTES
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_answers_are_kept() {
        let kept = Kept::default();
        let answer = || Bytes::from(vec![0; MOST_BYTES / 4 - 1]);
        ["a", "b", "c", "d", "d", "e"].iter().for_each(|tag| kept.keep(tag, answer()));
        assert_eq!(kept.get("e"), Some(answer()));
        assert_eq!(["a", "b", "c", "d", "e"].map(|tag| kept.get(tag).is_some()), [false, true, true, true, true]);
        kept.keep("f", Bytes::from(vec![0; MOST_BYTES + 1]));
        assert_eq!(kept.get("f"), None);
        kept.keep("g", Bytes::new());
        assert_eq!(kept.get("g"), Some(Bytes::new()));
    }
}
