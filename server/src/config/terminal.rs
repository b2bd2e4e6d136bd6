//! Finds out about the terminal: its size, whether there is a display, and the connection by SSH.

use std::env;
use std::ffi::OsStr;
use std::io::IsTerminal as _;

use clap::ColorChoice;
use rustix::termios::tcgetwinsize;

/// Size without a terminal, such as in a pipe.
const COLUMNS: usize = 100;
const LINES: usize = 40;

/// The terminal at which the command was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terminal {
    pub(crate) columns: usize,
    pub(crate) lines: usize,
    /// True if programs can show windows to the user.
    pub(crate) has_display: bool,
    /// User name and `SSH_CONNECTION`, if the user came by SSH.
    ssh: Option<(String, String)>,
}

impl Terminal {
    pub(crate) fn from_environment() -> Self {
        let named = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let number = |name: &str| named(name)?.parse().ok().filter(|&number: &usize| number > 0);
        let size = tcgetwinsize(std::io::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        Self {
            columns: { number("COLUMNS").or(size.map(|size| size.ws_col.into())) }.unwrap_or(COLUMNS),
            lines: { number("LINES").or(size.map(|size| size.ws_row.into())) }.unwrap_or(LINES),
            has_display: ["DISPLAY", "WAYLAND_DISPLAY"]
                .iter()
                .any(|name| env::var_os(name).is_some_and(|value| value != OsStr::new(""))),
            ssh: named("SSH_CONNECTION").map(|connection| (named("USER").unwrap_or_default(), connection)),
        }
    }

    /// Returns the command that forwards a port of this machine to the one from which the user came by SSH.
    pub(crate) fn forwarding(&self, port: u16) -> Option<String> {
        let (user, connection) = self.ssh.as_ref()?;
        // The addresses and ports of the client and of this machine.
        let mut parts = connection.split_whitespace().skip(2);
        let host = parts.next().unwrap_or("this-machine");
        let other_port = parts.next().filter(|&port| port != "22").map(|port| format!(" -p {port}"));
        let user = if user.is_empty() { String::new() } else { format!("{user}@") };
        Some(format!("ssh -N -L {port}:127.0.0.1:{port}{} {user}{host}", other_port.unwrap_or_default()))
    }
}

/// Returns true if standard output gets colors: by default in a terminal, unless `NO_COLOR` has a value
/// (<https://no-color.org>).
pub fn is_colored(choice: ColorChoice) -> bool {
    let is_off = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => !is_off && std::io::stdout().is_terminal(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(user: &str, connection: &str, line: &str) {
        let ssh = Some((user.to_owned(), connection.to_owned()));
        let terminal = Terminal { columns: 80, lines: 24, has_display: false, ssh };
        assert_eq!(terminal.forwarding(4000).as_deref(), Some(line));
    }

    #[test]
    fn the_line_names_the_machine_as_the_user_reached_it() {
        check("ada", "192.0.2.1 50000 192.0.2.9 22", "ssh -N -L 4000:127.0.0.1:4000 ada@192.0.2.9");
        check("", "192.0.2.1 50000 192.0.2.9 2222", "ssh -N -L 4000:127.0.0.1:4000 -p 2222 192.0.2.9");
        check("ada", "odd", "ssh -N -L 4000:127.0.0.1:4000 ada@this-machine");
        let local = Terminal { columns: 80, lines: 24, has_display: true, ssh: None };
        assert_eq!(local.forwarding(4000), None, "at the machine itself");
    }
}
