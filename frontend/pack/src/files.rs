//! Files by path, and how they are written to a folder together with compressed copies.

use anyhow::{Context, Result};
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, fs, thread};

/// Contents of files by path, with `/` between folders.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Document that a site must have.
pub(crate) const INDEX: &str = "index.html";

/// Reads all files of a folder, including its subfolders.
pub(crate) fn read_folder(folder: &Path) -> Result<Files> {
    let mut files = Files::new();
    read_into(folder, "", &mut files).with_context(|| format!("reading {}", folder.display()))?;
    Ok(files)
}

fn read_into(folder: &Path, prefix: &str, files: &mut Files) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().with_context(|| format!("the name {name:?} is not UTF-8"))?;
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            read_into(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.insert(path, std::fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// Minimum size of a file that is compressed, because for smaller ones a response's headers outweigh the saving.
const SMALLEST_BYTES: usize = 256;

/// How hard copies are compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For a page that is looked at on this machine.
    Quick,
    /// For a page that many download; takes half a minute.
    Best,
}

/// Total size of the files that are worth compressing, before and after Brotli.
#[derive(Default)]
pub(crate) struct Totals {
    plain_bytes: usize,
    brotli_bytes: usize,
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kib = |bytes: usize| bytes.div_ceil(1024);
        write!(f, "{} KiB, {} KiB compressed", kib(self.plain_bytes), kib(self.brotli_bytes))
    }
}

/// Writes every file to an empty folder, with `.br` and `.gz` copies beside those that shrink.
///
/// The totals leave out files that are compressed already, such as the samples.
pub(crate) fn write(site: &Files, folder: &Path, effort: Effort) -> Result<Totals> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    // The largest first, so that no processor begins with one when the others have ended.
    let mut files: Vec<(&String, &Vec<u8>)> = site.iter().collect();
    files.sort_by_key(|(_, bytes)| Reverse(bytes.len()));
    let next = AtomicUsize::new(0);
    let work = || -> Result<Totals> {
        let mut totals = Totals::default();
        while let Some((path, bytes)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let target = folder.join(path);
            fs::create_dir_all(target.parent().unwrap_or(folder))?;
            fs::write(&target, bytes).with_context(|| format!("writing {}", target.display()))?;
            if path.ends_with(".gz") || path.ends_with(".png") || path.ends_with(".woff2") {
                continue;
            }
            totals.brotli_bytes += write_siblings(&target, bytes, effort)?;
            totals.plain_bytes += bytes.len();
        }
        Ok(totals)
    };
    thread::scope(|scope| {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_fold(Totals::default(), |all, worker| {
            let own = worker.join().expect("no panic")?;
            Ok(Totals {
                plain_bytes: all.plain_bytes + own.plain_bytes,
                brotli_bytes: all.brotli_bytes + own.brotli_bytes,
            })
        })
    })
}

/// Writes the compressed copies that are smaller than the file, and returns the size that a browser will load.
fn write_siblings(target: &Path, bytes: &[u8], effort: Effort) -> Result<usize> {
    if bytes.len() < SMALLEST_BYTES {
        return Ok(bytes.len());
    }
    let brotli = brotli(bytes, effort)?;
    for (suffix, copy) in [("br", &brotli), ("gz", &gzip(bytes, effort)?)] {
        if copy.len() < bytes.len() {
            let mut name = target.as_os_str().to_owned();
            name.push(format!(".{suffix}"));
            fs::write(&name, copy).with_context(|| format!("writing {}", name.display()))?;
        }
    }
    Ok(brotli.len().min(bytes.len()))
}

fn brotli(bytes: &[u8], effort: Effort) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    let quality = if effort == Effort::Best { 11 } else { 4 };
    let params = BrotliEncoderParams { quality, size_hint: bytes.len(), ..Default::default() };
    brotli::BrotliCompress(&mut &bytes[..], &mut copy, &params)?;
    Ok(copy)
}

fn gzip(bytes: &[u8], effort: Effort) -> Result<Vec<u8>> {
    let level = if effort == Effort::Best { Compression::best() } else { Compression::fast() };
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_shrinks_has_siblings() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let long = "moment ".repeat(1000).into_bytes();
        let site = [("a/long.css", long.clone()), ("short.css", b"p{}".to_vec()), ("sample.gz", long.clone())];
        let totals = write(&site.map(|(path, bytes)| (path.to_owned(), bytes)).into(), &out, Effort::Quick).unwrap();

        assert_eq!(fs::read(out.join("a/long.css")).unwrap(), long);
        assert!(fs::read(out.join("a/long.css.br")).unwrap().len() < 100);
        assert!(fs::read(out.join("a/long.css.gz")).unwrap().len() < 100);
        assert!(!out.join("short.css.br").exists());
        assert!(!out.join("sample.gz.br").exists());
        assert_eq!(totals.plain_bytes, long.len() + 3);
    }
}
