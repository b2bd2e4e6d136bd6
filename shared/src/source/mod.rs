//! Finds the files of stacks in a folder of the user's, and reads and quotes them.
//!
//! Paths in a snapshot are those of another machine, and the files of the folder may have changed since.
//!
//! Invariant: nothing here reads a folder; it takes names and bytes.
//!
//! Invariant: a file that two paths could mean is shown for neither, and one whose lines do not fit the stacks is named
//! as another version.

mod excerpt;
mod matching;
mod text;

pub use excerpt::{Piece, excerpt};
pub use matching::{Match, match_files};
pub use text::{Misfit, SourceText, Unreadable};
