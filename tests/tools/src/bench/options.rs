//! Defines the command-line options of `./dev bench`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Measures over generated snapshots: the page and other viewers in headless Chromium, the command line, and recordings.
#[derive(Clone, Debug, Parser)]
#[command(name = "bench")]
pub struct Options {
    /// Parts to measure [default: all]
    #[arg(value_enum)]
    pub parts: Vec<Part>,

    /// Sizes of the snapshots in MB, about 10,000 events each
    #[arg(long, value_delimiter = ',', default_values_t = [4, 67, 334, 1000], value_name = "MB",
        value_parser = clap::value_parser!(u32).range(1..=4000))]
    pub sizes: Vec<u32>,

    /// Runs of each measurement, of which the median counts [default: 3, and 1 over 500 MB]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub runs: Option<u16>,

    /// Another viewer: its page, a folder with an index.html, or one with MemoryViz.js and d3.min.js
    #[arg(long = "viewer", value_name = "NAME=PATH", value_parser = named_path)]
    pub viewers: Vec<(String, PathBuf)>,

    /// Print tables as Markdown
    #[arg(long)]
    pub markdown: bool,

    /// The command line to measure
    #[arg(long, value_name = "PROGRAM")]
    pub snapscope: Option<PathBuf>,
}

/// A part of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The page, and the other viewers.
    Page,
    /// CPython, decoding, findings and the command line.
    Native,
    /// Recordings on the virtual GPU.
    Record,
    /// Comparing two of the largest files, 64 ranks, and the views of the page over the largest file.
    Scale,
}

impl Options {
    /// Returns true if a part was requested; if none is named, all are.
    pub fn has(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    /// Returns the number of runs over a file of `size_mb` MB.
    pub fn runs(&self, size_mb: u32) -> u16 {
        const LARGE_MB: u32 = 500;
        self.runs.unwrap_or(if size_mb > LARGE_MB { 1 } else { 3 })
    }
}

fn named_path(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or_else(|| format!("{text:?} is not NAME=PATH"))?;
    Ok((name.to_owned(), PathBuf::from(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Options, String> {
        let words = ["bench"].into_iter().chain(words.split_whitespace());
        Options::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn options_are_parsed_and_without_any_everything_is_asked_for() {
        let options = parse("").expect("options");
        assert_eq!(options.sizes, [4, 67, 334, 1000]);
        assert_eq!((options.runs(100), options.runs(1000)), (3, 1));
        assert!(options.has(Part::Page) && options.has(Part::Scale));
        let options = parse("page native --sizes 1,1000 --runs 5 --viewer official=/a=b").expect("options");
        assert!(options.has(Part::Native) && !options.has(Part::Scale));
        assert_eq!((options.sizes.as_slice(), options.runs(1000)), ([1, 1000].as_slice(), 5));
        assert_eq!(options.viewers, [("official".to_owned(), PathBuf::from("/a=b"))]);
        assert!(parse("--viewer official").unwrap_err().contains("NAME=PATH"));
        assert!(parse("--sizes 0").is_err() && parse("--runs 0").is_err());
    }
}
