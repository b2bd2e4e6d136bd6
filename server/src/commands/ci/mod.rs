//! Implements `snapscope ci`, which compares the memory of a script at two commits, or with two versions of PyTorch.
//!
//! Each commit is run by `snapscope run` in a process of its own, and the comparison is that of `diff`.
//!
//! Invariant: the user's checkout is neither changed nor moved, and the temporary one is gone at the end.

mod checkout;
mod options;
mod page;
mod report;
mod side;

use std::path::Path;

use clap::Subcommand;

use super::output::{Output, document, write};
use super::record::Forwarded;
use super::run::badge;
use crate::Failure;
use crate::config::ScriptConfig;
use crate::folder::make_temporary;
use checkout::{Checkout, Repository};
use options::CiRunArgs;
use report::CiReport;
use side::Task;

/// The commands of `snapscope ci`.
#[derive(Debug, Clone, Subcommand)]
pub enum CiArgs {
    /// Run a script at two commits on the virtual GPU, and report what changes its memory
    #[command(
        after_help = "Exit status: 0 if the limits hold, 1 if one does not or if memory runs out, 2 if something \
                            is not supported or cannot be read, 3 if a script failed"
    )]
    Run(Box<CiRunArgs>),
}

impl CiArgs {
    /// Runs both sides and compares them.
    pub fn run(&self) -> Result<Output, Failure> {
        let Self::Run(args) = self;
        let report = compared(args)?;
        let markdown = || page::markdown(args, &report);
        if let Some(path) = &args.markdown {
            write(path, &markdown())?;
        }
        if let Some(folder) = &args.output {
            write(&folder.join("badge.svg"), &badge(&report.head.run))?;
        }
        let text: String = match args.json {
            true => document(&report),
            false => page::page(args, &report),
        };
        Ok(Output { status: report.status.exit_status(), ..text.into() })
    }
}

fn compared(args: &CiRunArgs) -> Result<CiReport, Failure> {
    let config = ScriptConfig::from_environment()?;
    config.check()?;
    let scratch = make_temporary("snapscope-ci-", None);
    let scratch = scratch.map_err(|error| Failure::writing(Path::new("the folder for temporary files"), &error))?;
    let folder = match &args.output {
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| std::path::absolute(folder))
            .map_err(|error| Failure::writing(folder, &error))?,
        None => scratch.path().to_owned(),
    };
    let forwarded = Forwarded::listen();
    let repository = args.base.as_ref().map(|_| Repository::find()).transpose()?;
    let (base, head) = names(args, repository.as_ref())?;
    let checkout = repository.as_ref().zip(base.commit).map(|(repository, commit)| repository.check_out(&commit));
    let checkout: Option<Checkout<'_>> = checkout.transpose()?;
    if let Some(checkout) = &checkout {
        checkout.link(&args.link)?;
    }
    let here = || std::path::absolute(".").map_err(|error| Failure::writing(Path::new("."), &error));
    let below = repository.as_ref().map(|repository| repository.below.clone()).unwrap_or_default();
    let base_folder = checkout.as_ref().map_or_else(here, |checkout| Ok(checkout.folder.join(&below)))?;
    if !base_folder.is_dir() {
        let message = format!("the folder {} does not exist in {}", below.display(), base.name);
        return Err(Failure::new(message, "start the command in a folder that both commits have"));
    }
    let snapshots = [folder.join("base.pickle"), folder.join("head.pickle")];
    let task = Task {
        args,
        config: &config,
        forwarded: &forwarded,
        name: base.name,
        folder: base_folder,
        checkout: checkout.as_ref(),
        python: args.base_python.as_deref(),
        snapshot: &snapshots[0],
    };
    let base = task.run()?;
    let task = Task { name: head, folder: here()?, checkout: None, python: None, snapshot: &snapshots[1], ..task };
    let head = task.run()?;
    let top = checkout.as_ref().and(repository.as_ref()).map(|repository| repository.top.as_path());
    CiReport::of(args, base, head, top)
}

/// The base before it runs.
struct Named {
    name: String,
    commit: Option<String>,
}

/// Names both sides by their commits, and by the interpreters if these differ.
fn names(args: &CiRunArgs, repository: Option<&Repository>) -> Result<(Named, String), Failure> {
    let short = |commit: &str| commit.chars().take(9).collect::<String>();
    let python = args.base_python.as_ref().map(|python| format!(" with {}", python.display())).unwrap_or_default();
    let (Some(repository), Some(base)) = (repository, &args.base) else {
        return Ok((Named { name: format!("base{python}"), commit: None }, "head".to_owned()));
    };
    let commit = repository.commit(base)?;
    let changed = if repository.is_changed() { " with changes" } else { "" };
    let head = format!("head {}{changed}", short(&repository.commit("HEAD")?));
    Ok((Named { name: format!("base {}{python}", short(&commit)), commit: Some(commit) }, head))
}
