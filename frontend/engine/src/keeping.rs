//! Decides which stored copies of open files are deleted to make room for another.

/// Stored copy of a file, of this tab or of another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KeptCopy {
    /// Folder of the tab.
    pub(crate) session: String,
    /// Name within that folder.
    pub(crate) key: String,
    pub(crate) size_bytes: u64,
    /// Time at which it was written, in milliseconds since 1970.
    pub(crate) written_ms: f64,
}

/// Maximum size of all copies together (2 GiB).
const MOST_BYTES: u64 = 2 << 30;

const MOST_COPIES: usize = 32;

/// Returns the copies to delete so that another one can be stored, `None` if there is no room for it.
///
/// Copies of other tabs are deleted, the oldest first. Copies of this tab remain, because it shows them as stored.
/// `free_bytes` is the storage that the browser still grants; at most 1/2 of it is used.
pub(crate) fn room_for(size_bytes: u64, session: &str, copies: &[KeptCopy], free_bytes: u64) -> Option<Vec<KeptCopy>> {
    let (mut count, mut total) = (copies.len(), copies.iter().map(|copy| copy.size_bytes).sum::<u64>());
    let mut free_bytes = free_bytes;
    let mut of_others: Vec<_> = copies.iter().filter(|copy| copy.session != session).collect();
    // Descending by time, so that the oldest is popped first.
    of_others.sort_by(|a, b| b.written_ms.total_cmp(&a.written_ms));
    let mut going = Vec::new();
    while total + size_bytes > MOST_BYTES || count + 1 > MOST_COPIES || size_bytes > free_bytes / 2 {
        let oldest = of_others.pop()?;
        count -= 1;
        total -= oldest.size_bytes;
        free_bytes += oldest.size_bytes;
        going.push(oldest.clone());
    }
    Some(going)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn copy(session: &str, size_bytes: u64, written_ms: f64) -> KeptCopy {
        KeptCopy { session: session.to_owned(), key: written_ms.to_string(), size_bytes, written_ms }
    }

    #[track_caller]
    fn check(size_bytes: u64, copies: &[KeptCopy], free_bytes: u64, going: Option<&[f64]>) {
        let found = room_for(size_bytes, "here", copies, free_bytes);
        let found = found.map(|copies| copies.iter().map(|copy| copy.written_ms).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), going);
    }

    #[test]
    fn there_is_room_for_so_much() {
        check(GIB, &[], 8 * GIB, Some(&[]));
        check(2 * GIB + 1, &[], 80 * GIB, None);
        check(GIB, &[], 2 * GIB - 1, None);
        check(GIB, &[copy("here", GIB, 1.0)], 8 * GIB, Some(&[]));
        check(GIB, &[copy("here", GIB + 1, 1.0)], 8 * GIB, None);
    }

    #[test]
    fn the_oldest_of_other_tabs_go_first() {
        let copies = [copy("there", GIB, 5.0), copy("here", GIB / 2, 1.0), copy("far", GIB / 2, 3.0)];
        check(GIB / 2, &copies, 8 * GIB, Some(&[3.0]));
        check(GIB, &copies, 8 * GIB, Some(&[3.0, 5.0]));
        check(GIB, &copies, GIB, Some(&[3.0, 5.0]));
    }

    #[test]
    fn there_is_room_for_so_many() {
        let copies: Vec<_> = (0..MOST_COPIES).map(|at| copy("there", 1, at as f64)).collect();
        check(1, &copies, GIB, Some(&[0.0]));
        check(1, &copies[1..], GIB, Some(&[]));
    }
}
