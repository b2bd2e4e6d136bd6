//! Passes on the signals that are meant for the recorded program.

use std::io::IsTerminal as _;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process};

/// The signals that were sent to this process.
pub(in crate::commands) struct Forwarded {
    seen: Vec<(Signal, Arc<AtomicBool>)>,
    /// True if a terminal sends its interrupts to the program as well.
    has_terminal: bool,
}

impl Forwarded {
    /// Takes the signals over; without that, they would end this process before the program.
    pub(in crate::commands) fn listen() -> Self {
        let signals = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2];
        let seen = signals.map(|signal| {
            let flag = Arc::new(AtomicBool::new(false));
            // A signal that cannot be taken over does what it did before.
            let _ = signal_hook::flag::register(signal.as_raw(), Arc::clone(&flag));
            (signal, flag)
        });
        Self { seen: seen.into(), has_terminal: std::io::stdin().is_terminal() }
    }

    /// Sends the signals that have arrived since the last call to the program.
    pub(in crate::commands) fn send_to(&self, child: &Child) {
        let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
        for (signal, flag) in &self.seen {
            let is_terminals = self.has_terminal && [Signal::INT, Signal::QUIT].contains(signal);
            if flag.swap(false, Ordering::Relaxed) && !is_terminals {
                // The program may have ended by now.
                let _ = kill_process(pid, *signal);
            }
        }
    }
}
