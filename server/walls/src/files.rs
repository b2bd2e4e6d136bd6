//! Restricts which files a process may open, and which ports and processes it may reach, with Landlock.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::Walls;

/// Landlock version that is requested (Linux 6.12). Older kernels, from 5.13 on, enforce the part that they support.
const ASKED: ABI = ABI::V6;

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
    let write = read | changes();
    let device = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::WriteFile | AccessFs::IoctlDev;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ASKED))?
        // No rule allows a port, so none can be reached.
        .handle_access(AccessNet::from_all(ASKED))?
        .scope(Scope::from_all(ASKED))?
        .create()?
        .add_rules(path_beneath_rules(&walls.read, read))?
        .add_rules(path_beneath_rules(&walls.write, write))?
        .add_rules(path_beneath_rules(&walls.devices, device))?
        .restrict_self()?;
    Ok(status.ruleset)
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
