//! Reads the gallery of example configs next to the built page.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::{fs, io};

use serde::Deserialize;
use shared::api::GalleryRow;
use shared::job::RawJob;

use crate::failure::Failure;

/// Suffix of the name of a repaired config, after the name of the faulty one.
const REPAIRED: &str = "-repaired";

/// Figures of a recorded config, from `figures.json`.
#[derive(Deserialize)]
struct Figures {
    events: u64,
    peak_allocated_bytes: u64,
    peak_reserved_bytes: u64,
    /// Empty in galleries of versions without curves.
    #[serde(default)]
    live_curve: Vec<u64>,
    #[serde(default)]
    reserved_curve: Vec<u64>,
}

/// Reads the gallery of a built page, ordered by name; empty if the page has none.
///
/// # Errors
///
/// Returns an error if a file cannot be read or is not a valid part of the gallery.
pub(super) fn load(dist: &Path) -> Result<Vec<GalleryRow>, Failure> {
    let folder = dist.join("gallery");
    if !folder.exists() {
        return Ok(Vec::new());
    }
    read(&folder).map_err(|error| {
        Failure::new(
            format!("the gallery in {} cannot be read: {error}", folder.display()),
            "run `./dev build` again, and check the permissions of that folder",
        )
    })
}

fn read(folder: &Path) -> io::Result<Vec<GalleryRow>> {
    let figures: HashMap<String, Figures> = serde_json::from_slice(&fs::read(folder.join("figures.json"))?)?;
    let mut rows = Vec::new();
    let names: HashSet<String> = figures.keys().cloned().collect();
    for (name, figures) in figures {
        let config = fs::read_to_string(folder.join(format!("{name}.toml")))?;
        let job = RawJob::from_toml(&config).map_err(|_| io::Error::other(format!("{name}.toml is not a config")))?;
        let text = config.lines().map_while(|line| line.strip_prefix("# ")).collect::<Vec<_>>().join("\n");
        let repair = Some(format!("{name}{REPAIRED}")).filter(|repair| names.contains(repair));
        rows.push(GalleryRow {
            title: job.name.unwrap_or_else(|| name.clone()),
            name,
            text,
            config,
            repair,
            // Each point of the curve is the maximum of its part, so the maximum of all points is the peak.
            peak_live_bytes: figures.live_curve.iter().copied().max().unwrap_or(figures.peak_allocated_bytes),
            peak_allocated_bytes: figures.peak_allocated_bytes,
            peak_reserved_bytes: figures.peak_reserved_bytes,
            events: figures.events,
            live_curve: figures.live_curve,
            reserved_curve: figures.reserved_curve,
        });
    }
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(rows)
}
