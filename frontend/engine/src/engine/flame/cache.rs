//! Calls and trees of the most recent flame graphs.

use frontend::ask::{FlameSource, FlameTree};
use shared::analysis::{CallTree, Calls};
use std::cell::RefCell;
use std::rc::Rc;

/// Number of trees that are stored, as many as the page shows at once: a sandwich adds two to the graph.
pub(super) const KEPT_TREES: usize = 3;

/// Most recent calls and trees, because zooming and searching ask for the same ones again.
#[derive(Debug, Default)]
pub(crate) struct FlameCache {
    pub(super) calls: RefCell<Option<(u32, FlameSource, Rc<Calls>)>>,
    pub(super) trees: RefCell<Vec<(u32, FlameTree, Rc<CallTree>)>>,
}
