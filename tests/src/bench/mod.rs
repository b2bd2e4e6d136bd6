//! What `./dev bench` measures, as ratios of one run on one machine.

pub mod decode;
pub mod page;

mod process;
mod table;

pub use process::{cpu_seconds, descendants_with, peak_memory_bytes};
pub use table::Table;

use std::path::{Path, PathBuf};

use shared::pickle::Style;

use crate::generator::{Config, generate};
use crate::server::root;

/// A generated snapshot file of about so many events, made once and kept in `target/bench`.
///
/// # Panics
///
/// The file cannot be written.
pub fn snapshot(events: usize, style: Style) -> PathBuf {
    let name = match style {
        Style::Torch => format!("{events}-torch.pickle"),
        _ => format!("{events}.pickle"),
    };
    let folder = root().join("target/bench");
    let file = folder.join(name);
    if !file.is_file() {
        std::fs::create_dir_all(&folder).expect("a folder for snapshots");
        write(&file, &Config { seed: 1, events, style });
    }
    file
}

fn write(file: &Path, config: &Config) {
    use std::io::Write;
    // A run that is stopped here must not leave half a file under the final name.
    let partial = file.with_extension("part");
    let mut out = std::fs::File::create(&partial).expect("a file for the snapshot");
    generate(config, |piece| out.write_all(piece).expect("room for the snapshot"));
    drop(out);
    std::fs::rename(&partial, file).expect("the snapshot to take its name");
}
