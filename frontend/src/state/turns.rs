//! Limits the number of files that are decoded at a time.

use super::choices::FileId;
use std::collections::VecDeque;

/// Files that are being decoded, and files that wait for them.
///
/// A folder of 64 ranks would otherwise start 64 workers at once. All of them would be slow, and each needs the most
/// memory while it decodes. With a limit, the first files are ready soon and the others follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    limit: usize,
    busy: Vec<FileId>,
    waiting: VecDeque<FileId>,
}

impl Turns {
    /// Creates a queue for `limit` files at a time, at least one.
    pub fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), busy: Vec::new(), waiting: VecDeque::new() }
    }

    /// Requests a file's turn; returns true if it may start at once, otherwise the file waits.
    pub fn ask(&mut self, id: FileId) -> bool {
        let may_begin = self.busy.len() < self.limit;
        if may_begin {
            self.busy.push(id);
        } else {
            self.waiting.push_back(id);
        }
        may_begin
    }

    /// Lets a file start at once, whether or not it waits.
    pub fn take(&mut self, id: FileId) {
        self.waiting.retain(|&waiting| waiting != id);
        if !self.busy.contains(&id) {
            self.busy.push(id);
        }
    }

    /// Moves a waiting file, which the user looks at, to the front of the queue.
    pub fn prefer(&mut self, id: FileId) {
        if let Some(position) = self.waiting.iter().position(|&waiting| waiting == id) {
            self.waiting.remove(position);
            self.waiting.push_front(id);
        }
    }

    /// Ends the turn of a file that was decoded, failed or was closed, and returns the file whose turn it is now.
    pub fn end(&mut self, id: FileId) -> Option<FileId> {
        self.waiting.retain(|&waiting| waiting != id);
        let position = self.busy.iter().position(|&busy| busy == id)?;
        self.busy.remove(position);
        let next = self.waiting.pop_front_if(|_| self.busy.len() < self.limit)?;
        self.busy.push(next);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_begin_in_their_order() {
        let mut turns = Turns::new(2);
        assert_eq!([1, 2, 3, 4].map(|id| turns.ask(id)), [true, true, false, false]);
        assert_eq!(turns.end(2), Some(3));
        assert_eq!(turns.end(2), None, "it ended before");
        assert_eq!(turns.end(1), Some(4));
        assert_eq!((turns.end(3), turns.end(4)), (None, None));
        assert!(turns.ask(5));
    }

    #[test]
    fn the_file_that_is_looked_at_is_next() {
        let mut turns = Turns::new(1);
        let _ = [1, 2, 3, 4].map(|id| turns.ask(id));
        [4, 1, 9].into_iter().for_each(|id| turns.prefer(id));
        assert_eq!([1, 4, 2, 3].map(|id| turns.end(id)), [Some(4), Some(2), Some(3), None]);
    }

    #[test]
    fn a_file_that_began_out_of_turn_does_not_begin_again() {
        let mut turns = Turns::new(1);
        let _ = [1, 2, 3].map(|id| turns.ask(id));
        turns.take(2);
        turns.take(1);
        assert_eq!([1, 2, 3].map(|id| turns.end(id)), [None, Some(3), None]);
    }

    #[test]
    fn a_file_that_waits_can_be_closed() {
        let mut turns = Turns::new(0);
        assert_eq!([1, 2, 3].map(|id| turns.ask(id)), [true, false, false]);
        assert_eq!(turns.end(2), None);
        assert_eq!(turns.end(1), Some(3));
    }
}
