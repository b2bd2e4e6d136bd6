//! Shows an address in the user's browser.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// Asks the desktop to show an address; whoever has no such program opens the printed address by hand.
pub(super) fn show(address: &str) {
    let mut command = Command::new("xdg-open");
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // An interrupt at the terminal is for this command, not for the browser.
    let _ = command.process_group(0).spawn();
}
