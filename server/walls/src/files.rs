//! Restricts which files a process may open, and which ports and processes it may reach, with Landlock.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::{Programs, Walls};

/// Landlock version that is requested. Older kernels, from Linux 5.13 on, enforce the part that they support; before
/// version 9, a driver behind the walls can connect to every Unix socket with a path.
const ASKED: ABI = ABI::V9;

/// Landlock version below which no foreign code runs: the first that covers the length of files, in Linux 6.2.
const LEAST_FOR_FOREIGN: ABI = ABI::V3;

/// Folder of the threads of this process, each with a file `comm` that holds its name.
///
/// CUDA's driver names its threads by these files while it starts, and gives up if it may not.
const THREADS: &str = "/proc/self/task";

/// Restricts this thread to the files, folders and devices in `walls`.
///
/// # Errors
/// Returns a sentence with the reason if the kernel has no Landlock or refuses the rules.
pub(crate) fn restrict(walls: &Walls) -> Result<(), String> {
    match enforce(walls) {
        Ok(RulesetStatus::NotEnforced) => {
            Err("this kernel has no Landlock, so only file permissions restrict access to files".to_owned())
        }
        Ok(_) => Ok(()),
        Err(error) => Err(format!("Landlock cannot restrict access to files: {error}")),
    }
}

fn enforce(walls: &Walls) -> Result<RulesetStatus, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let supervises = walls.programs == Programs::Supervised;
    // A pipe with a name keeps the processes that are started, and links lead to the virtual GPU.
    let more = if supervises { AccessFs::MakeFifo | AccessFs::MakeSym } else { BitFlags::empty() };
    let write = read | changes() | more;
    let run = if walls.programs == Programs::None { read } else { read | AccessFs::Execute };
    let device = read | AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::ResolveUnix;
    let threads = walls.has_driver.then_some((THREADS, AccessFs::WriteFile | AccessFs::Truncate));
    let mut rules = Ruleset::default()
        // Foreign code could cut off files by their paths where Landlock does not cover that.
        .set_compatibility(if walls.programs == Programs::None {
            CompatLevel::BestEffort
        } else {
            CompatLevel::HardRequirement
        })
        .handle_access(AccessFs::from_all(LEAST_FOR_FOREIGN))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ASKED))?
        // No rule allows a port, so none can be reached.
        .handle_access(AccessNet::from_all(ASKED))?
        .scope(Scope::from_all(ASKED))?
        .create()?
        .add_rules(path_beneath_rules(&walls.read, run))?
        .add_rules(path_beneath_rules(&walls.write, write))?
        .add_rules(path_beneath_rules(&walls.devices, device))?;
    let own = walls.read.iter().filter(|place| place.starts_with("/proc/self")).map(|place| (&**place, read));
    for (place, rights) in own.chain(threads.map(|(place, rights)| (Path::new(place), rights))) {
        rules = keep(rules, place, rights)?;
    }
    Ok(rules.restrict_self()?.ruleset)
}

/// Adds a rule for a place in this process's folder in `/proc`, whose descriptor stays open until the process ends.
///
/// A rule belongs to an inode. The kernel makes inodes of `/proc/PID` anew once it has dropped their names from its
/// cache, under memory pressure for example, and the rule would be lost with them; the descriptor keeps the name.
fn keep(rules: RulesetCreated, place: &Path, rights: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    // Without `/proc`, nothing in it can be reached anyway.
    let Ok(descriptor) = PathFd::new(place) else { return Ok(rules) };
    let rules = rules.add_rule(PathBeneath::new(&descriptor, rights))?;
    std::mem::forget(descriptor);
    Ok(rules)
}

/// Returns the rights to make, change, move and remove regular files and folders, but no devices, sockets or links.
fn changes() -> BitFlags<AccessFs> {
    AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer
}
