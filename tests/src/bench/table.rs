//! Figures as a Markdown table.

/// Rows of texts under headings.
#[derive(Debug)]
pub struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a title and headings.
    pub fn new(title: &str, headings: &[&str]) -> Self {
        Self { title: title.to_owned(), rows: vec![headings.iter().map(|&text| text.to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }

    /// Prints it, with columns aligned for a terminal.
    pub fn print(&self) {
        let columns = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |row: &[String]| {
            let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        };
        println!("\n{}\n", self.title);
        println!("{}", line(&self.rows[0]));
        println!("|{}", widths.iter().map(|width| "-".repeat(width + 2) + "|").collect::<String>());
        self.rows[1..].iter().for_each(|row| println!("{}", line(row)));
    }
}
