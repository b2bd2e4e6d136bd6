//! Legend entries for categories of allocations.

use crate::ask::{CategoryBytes, PhaseBasis};
use shared::analysis::Category;
use shared::base::format;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CategoryLine {
    pub category: Category,
    /// Number from which the colour is chosen.
    pub color: u32,
    pub name: &'static str,
    pub size: String,
}

/// Returns all categories of the trace, in an order that does not depend on the moment.
pub fn lines(bytes: &CategoryBytes) -> Vec<CategoryLine> {
    let line = |&(category, size_bytes): &(Category, u64)| CategoryLine {
        category,
        color: category as u32 + 1,
        name: name(category),
        size: format::bytes(size_bytes),
    };
    bytes.rows.iter().map(line).collect()
}

/// Says which moment the bytes of the legend are of.
pub fn when(is_pin: bool) -> &'static str {
    if is_pin { "At the pin:" } else { "At the peak:" }
}

/// Returns a remark if the categories are a guess.
pub fn doubt(bytes: &CategoryBytes) -> Option<&'static str> {
    (bytes.basis == PhaseBasis::Curve).then_some("a guess: no stack identifies forward or backward")
}

fn name(category: Category) -> &'static str {
    match category {
        Category::Collective => "communication buffers",
        Category::Unknown => "unknown purpose",
        category => category.plural(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legend_names_what_the_trace_has() {
        let rows = vec![(Category::Parameter, 1 << 30), (Category::Activation, 3 << 30), (Category::Unknown, 0)];
        let bytes = CategoryBytes { rows, basis: PhaseBasis::Operations, ..CategoryBytes::default() };
        let lines = lines(&bytes);
        let names: Vec<_> = lines.iter().map(|line| (line.color, line.name, line.size.as_str())).collect();
        assert_eq!(
            names,
            [(1, "parameters", "1.00 GiB"), (4, "activations", "3.00 GiB"), (10, "unknown purpose", "0 B")]
        );
        assert_eq!(doubt(&bytes), None);
        assert!(doubt(&CategoryBytes::default()).is_some(), "the curve alone is a guess");
    }
}
