//! Finds the peak of gradients.

use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::category::Category;

/// Returns the moment at which the most bytes of gradients are alive, and these bytes.
pub(in crate::analysis) fn most_gradients(allocations: &Allocations, categories: &[Category]) -> (u32, u64) {
    let is_gradient = |row: &usize| categories[*row] == Category::Gradient;
    let mut deaths = allocations.deaths.iter().map(|&row| row as usize).filter(is_gradient).peekable();
    let (mut live, mut most) = (0_u64, (0, 0));
    for row in (0..allocations.len()).filter(is_gradient) {
        let born = allocations.born_at(row as u32);
        while let Some(dead) = deaths.next_if(|&dead| allocations.died[dead] <= born) {
            live = live.saturating_sub(allocations.size_bytes[dead]);
        }
        live = live.saturating_add(allocations.size_bytes[row]);
        if live > most.1 {
            most = (born, live);
        }
    }
    most
}
