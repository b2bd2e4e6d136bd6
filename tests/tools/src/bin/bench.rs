//! Runs `./dev bench`, which measures the page, other viewers, the command line and recordings.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use testkit::server::root;
use tools::bench::native::{self, Programs};
use tools::bench::options::{Options, Part};
use tools::bench::viewer::Viewer;
use tools::bench::{Table, budget_table, measure, record, report, scale};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, task, file] = &arguments[..]
        && word == native::CHILD
    {
        native::child(task, Path::new(file));
        return ExitCode::SUCCESS;
    }
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let programs = programs(options)?;
    let mut viewers = Vec::new();
    if options.has(Part::Page) {
        viewers.push(Viewer::own(&programs.snapscope));
        for (name, path) in &options.viewers {
            viewers.push(Viewer::at(name, path)?);
        }
        viewers.push(Viewer::bare());
    }
    let print = |table: Table| {
        if !table.is_empty() {
            print!("{}", table.text(options.markdown));
        }
    };
    let mut budgets = Vec::new();
    if options.has(Part::Native) || options.has(Part::Page) {
        let all = measure(options, &programs, &viewers)?;
        print(report::tasks(&all));
        print(report::viewers(&all));
        print(report::starts(&all));
        budgets.extend(report::budgets(&all));
        if options.has(Part::Page) {
            budgets.extend(report::modules(&root().join("target/dist")));
        }
    }
    if options.has(Part::Record) {
        let all = record::measure(&programs, options.runs(1))?;
        print(record::table(&all));
        budgets.extend(record::budgets(&all));
    }
    if options.has(Part::Scale) {
        let size_mb = options.sizes.iter().copied().max().unwrap_or(1);
        print(scale::native(&programs, size_mb)?);
        print(scale::page(&programs, size_mb));
    }
    print(budget_table(&budgets));
    Ok(())
}

/// Returns the paths of this program and of the command line beside it.
fn programs(options: &Options) -> Result<Programs, String> {
    let bench = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = |name: &str| -> PathBuf { bench.with_file_name(name) };
    let snapscope = options.snapscope.clone().unwrap_or_else(|| beside("snapscope"));
    if !snapscope.is_file() {
        return Err(format!("{} is not built: run this by `./dev bench`", snapscope.display()));
    }
    Ok(Programs { snapscope, bench })
}
