//! Budgets beside what was measured.

use super::{Table, figures};

/// What a figure may be at most.
#[derive(Clone, Debug)]
pub struct Budget {
    /// What is measured.
    pub what: String,
    /// At most so much, in the unit of the figure.
    pub at_most: f64,
    /// What came out, if it was measured.
    pub figure: Option<f64>,
    /// How budget and figure are written.
    pub unit: Unit,
}

/// What a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// So many times another figure of the same run.
    Times,
    /// Bytes.
    Bytes,
    /// Milliseconds.
    Milliseconds,
}

impl Unit {
    fn text(self, value: f64) -> String {
        match self {
            Self::Times if value < 1.0 => format!("{value:.3}×"),
            Self::Times => format!("{value:.1}×"),
            Self::Bytes => figures::bytes(value),
            Self::Milliseconds => format!("{value:.1} ms"),
        }
    }
}

impl Budget {
    /// `met`, by how much it was missed, or that it wasn't measured.
    pub fn verdict(&self) -> String {
        match self.figure {
            None => "not measured".to_owned(),
            Some(figure) if figure <= self.at_most => "met".to_owned(),
            Some(figure) => format!("missed by {:.0} %", ((figure / self.at_most - 1.0) * 100.0).max(1.0)),
        }
    }
}

/// All budgets as a table, those left out that this run could not measure.
pub fn table(budgets: &[Budget]) -> Table {
    let mut table = Table::new("Budgets", &["what", "at most", "figure", ""]);
    for budget in budgets.iter().filter(|budget| budget.figure.is_some()) {
        let figure = budget.figure.map_or_else(|| "–".to_owned(), |figure| budget.unit.text(figure));
        table.row(&[budget.what.clone(), budget.unit.text(budget.at_most), figure, budget.verdict()]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let budget = |figure| Budget { what: "time".to_owned(), at_most: 4.0, figure, unit: Unit::Times };
        assert_eq!(budget(Some(4.0)).verdict(), "met");
        assert_eq!(budget(Some(5.0)).verdict(), "missed by 25 %");
        assert_eq!(budget(Some(4.001)).verdict(), "missed by 1 %");
        assert_eq!(budget(None).verdict(), "not measured");
        let text = table(&[budget(Some(0.25)), budget(None)]).text(true);
        assert!(text.contains("| time | 4.0×    | 0.250× | met |") && text.lines().count() == 6, "{text}");
    }
}
