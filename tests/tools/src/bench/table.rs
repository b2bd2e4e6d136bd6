//! Formats rows as a table, for a terminal or as Markdown.

/// Rows of texts under a title and headings.
#[derive(Debug)]
pub struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(title: &str, headings: &[&str]) -> Self {
        Self { title: title.to_owned(), rows: vec![headings.iter().map(|&text| text.to_owned()).collect()] }
    }

    pub fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// Prints the table as Markdown that is also aligned for a terminal.
    pub fn print(&self) {
        print!("{}", self.text(true));
    }

    /// Returns the title, the headings and the rows with aligned columns, as Markdown or for a terminal.
    pub fn text(&self, is_markdown: bool) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
        let width = |column: usize| self.rows.iter().map(|row| cell(row, column).chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |row: &[String]| {
            let cells = widths.iter().enumerate().map(|(column, &width)| format!("{:<width$}", cell(row, column)));
            let cells: Vec<String> = cells.collect();
            if is_markdown {
                format!("| {} |\n", cells.join(" | "))
            } else {
                cells.join("  ").trim_end().to_owned() + "\n"
            }
        };
        let rule = |width: &usize| if is_markdown { "-".repeat(width + 2) + "|" } else { "─".repeat(*width) + "  " };
        let rule: String = widths.iter().map(rule).collect();
        let rule = if is_markdown { format!("|{rule}\n") } else { rule.trim_end().to_owned() + "\n" };
        let rows: String = self.rows[1..].iter().map(|row| line(row)).collect();
        format!("\n{}\n\n{}{rule}{rows}", self.title, line(&self.rows[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new("Times", &["file", "s"]);
        assert!(table.is_empty());
        table.row(&["10 MB".to_owned(), "1.2×".to_owned()]);
        assert_eq!(table.text(true), "\nTimes\n\n| file  | s    |\n|-------|------|\n| 10 MB | 1.2× |\n");
        assert_eq!(table.text(false), "\nTimes\n\nfile   s\n─────  ────\n10 MB  1.2×\n");
        table.row(&["short".to_owned()]);
        assert!(table.text(true).ends_with("| short |      |\n"));
    }
}
