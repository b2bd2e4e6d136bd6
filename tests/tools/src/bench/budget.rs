//! Compares measured figures with their budgets.

use super::{Table, figures};

/// Upper limit of a figure.
#[derive(Clone, Debug)]
pub struct Budget {
    pub what: String,
    /// Limit, in the unit of the figure.
    pub at_most: f64,
    /// Measured value; `None` if this run did not measure it.
    pub figure: Option<f64>,
    pub unit: Unit,
}

/// Unit of a budget and its figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Ratio to another figure of the same run.
    Times,
    Bytes,
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
    /// Returns `met`, the relative excess in percent, or `not measured`.
    pub fn verdict(&self) -> String {
        match self.figure {
            None => "not measured".to_owned(),
            Some(figure) if figure <= self.at_most => "met".to_owned(),
            Some(figure) => format!("{:.0} % over", ((figure / self.at_most - 1.0) * 100.0).max(1.0)),
        }
    }
}

/// Returns a table of the budgets that this run measured.
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
        assert_eq!(budget(Some(5.0)).verdict(), "25 % over");
        assert_eq!(budget(Some(4.001)).verdict(), "1 % over");
        assert_eq!(budget(None).verdict(), "not measured");
        let text = table(&[budget(Some(0.25)), budget(None)]).text(true);
        assert!(text.contains("| time | 4.0×    | 0.250× | met |") && text.lines().count() == 6, "{text}");
    }
}
