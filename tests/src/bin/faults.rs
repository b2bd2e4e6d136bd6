//! Runs `./dev faults [KILLS]`: random histories of kills, pauses and clock jumps, up to a number of kills.

use std::path::PathBuf;
use std::process::ExitCode;

use testkit::histories::Programs;
use testkit::histories::long::run;

/// Default number of processes to kill.
const KILLS: usize = 500;

fn main() -> ExitCode {
    let kills = match std::env::args().nth(1).map_or(Ok(KILLS), |word| word.parse()) {
        Ok(kills) => kills,
        Err(error) => {
            eprintln!("error: how many kills? {error}\nusage: ./dev faults [KILLS]");
            return ExitCode::from(2);
        }
    };
    let beside = |name: &str| -> Option<PathBuf> {
        let program = std::env::current_exe().ok()?.with_file_name(name);
        program.is_file().then_some(program)
    };
    let (Some(snapscope), Some(recorder)) = (beside("snapscope"), beside("snapscope-recorder")) else {
        eprintln!("error: `snapscope` and its recorder are not built: run this by `./dev faults`");
        return ExitCode::from(2);
    };
    // target/debug/snapscope → target/faults
    let folder = snapscope.ancestors().nth(2).expect("a target folder").join("faults");
    let programs = Programs { snapscope, recorder };
    if run(kills, &folder, &programs) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
