//! Landlock: which files a process may open, and whom it may reach.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::Walls;

/// What is asked for: Linux 6.12. A kernel that knows less holds what it knows, from 5.13 on.
const ASKED: ABI = ABI::V6;

/// Lets this thread open what `walls` names and nothing else; returns in a sentence what the kernel lacks.
pub(crate) fn restrict(walls: &Walls) -> Result<(), String> {
    match enforce(walls) {
        Ok(RulesetStatus::NotEnforced) => {
            Err("this kernel has no Landlock: which files are opened is left to file permissions".to_owned())
        }
        Ok(_) => Ok(()),
        Err(error) => Err(format!("Landlock does not hold files back: {error}")),
    }
}

fn enforce(walls: &Walls) -> Result<RulesetStatus, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = read | changes();
    let device = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::WriteFile | AccessFs::IoctlDev;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ASKED))?
        // No port is named, so none is reached.
        .handle_access(AccessNet::from_all(ASKED))?
        .scope(Scope::from_all(ASKED))?
        .create()?
        .add_rules(path_beneath_rules(&walls.read, read))?
        .add_rules(path_beneath_rules(&walls.write, write))?
        .add_rules(path_beneath_rules(&walls.devices, device))?
        .restrict_self()?;
    Ok(status.ruleset)
}

/// What a process does in a folder of its own: regular files and folders, no devices, sockets or links.
fn changes() -> BitFlags<AccessFs> {
    AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer
}
