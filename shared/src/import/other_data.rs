//! Identifies documents that could be read but are no snapshot.

use super::build::SnapshotBuilder;
use super::error::ImportError;
use super::foreign::{self, MOST_ITEMS, MOST_KEYS, MOST_LEVELS, Outline};
use super::kinds::POOL;
use crate::base::StringId;
use crate::pickle::{Heap, Kind, Val};

/// Maximum number of strings and keys inspected, because shared parts could multiply them by eight on each level.
const MOST_TEXTS: usize = 4096;
/// Number of bytes of each string that are inspected.
const MOST_TEXT_BYTES: usize = 200;

/// Returns the error of a document that is no snapshot.
pub(super) fn not_a_snapshot(builder: &SnapshotBuilder, heap: &Heap, root: Val, is_json: bool) -> ImportError {
    let mut texts = MOST_TEXTS;
    foreign::other_data(&outline(builder, heap, root, 0, &mut texts), is_json)
}

/// Builds the outline of a document as if it were text, with a limit of `texts` strings, which counts down.
fn outline(builder: &SnapshotBuilder, heap: &Heap, val: Val, level: usize, texts: &mut usize) -> Outline {
    let val = heap.current(val);
    match val.kind() {
        _ if *texts == 0 => Outline::Other,
        Kind::Handle(POOL, _) => Outline::List(vec![Outline::Number(0.0); 2], 2),
        Kind::Handle(..) => Outline::Part,
        Kind::Str(id) => Outline::Text(beginning(builder, id, texts)),
        _ if level > MOST_LEVELS => Outline::Other,
        Kind::EmptyDict | Kind::FreshDict(_) => Outline::Table(Vec::new()),
        Kind::FreshList(_) => Outline::List(Vec::new(), 0),
        _ => {
            if let Some(entries) = heap.entries(val) {
                let names = entries.chunks_exact(2).map(|pair| pair[0].as_str().unwrap_or(StringId::EMPTY));
                let names = names.take(MOST_KEYS.min(*texts));
                return Outline::Table(names.map(|key| beginning(builder, key, texts)).collect());
            }
            match (heap.items(val), heap.as_f64(val)) {
                (Some(items), _) => {
                    let inner = |item: &Val| outline(builder, heap, *item, level + 1, texts);
                    Outline::List(items.iter().take(MOST_ITEMS).map(inner).collect(), items.len())
                }
                (None, Some(number)) => Outline::Number(number),
                (None, None) => Outline::Other,
            }
        }
    }
}

/// Returns the beginning of a string.
fn beginning(builder: &SnapshotBuilder, id: StringId, texts: &mut usize) -> String {
    *texts = texts.saturating_sub(1);
    let text = builder.strings.whole(id);
    text[..text.floor_char_boundary(MOST_TEXT_BYTES)].to_owned()
}
