//! Implements `snapscope data`, which checks, backs up and restores the database and the store of a server.
//!
//! A backup is a data folder of its own: `snapscope serve --data BACKUP` serves it. The database is copied first, then
//! the objects of the snapshots that the live database lists at that time. Each object that the backup lacks is read
//! whole and compared with its hash; one of the same size that is already there is kept as it is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use futures_util::TryStreamExt as _;
use sha2::{Digest as _, Sha256};
use shared::base::format::{bytes, counted};
use tokio::io::AsyncWriteExt as _;

use super::output::Output;
use crate::config::{DatabaseAddress, SettingsArgs};
use crate::database::{Database, SnapshotRow};
use crate::failure::Failure;
use crate::folder::make_private;
use crate::hex::hex;
use crate::installation::{self, Belonging};
use crate::jobs::worker;
use crate::store::{Store, StoreAddress};

/// File name of the database in a data folder.
const DATABASE: &str = "snapscope.sqlite";

/// Maximum number of names that are printed of a list.
const MOST_SHOWN: usize = 10;

/// The options of `snapscope data`.
#[derive(Debug, Clone, Subcommand)]
pub enum DataArgs {
    /// Check that the database and the store belong together and that no snapshot is missing
    #[command(after_help = "Exit status: 0 if everything is in order, 1 if it is not, 2 if the check failed")]
    Check {
        /// Where the data are
        #[command(flatten)]
        place: PlaceArgs,

        /// Also read each snapshot and compare it with its hash
        #[arg(long)]
        contents: bool,
    },

    /// Back up all data into a folder that a server can be started with
    Backup {
        /// The backup folder; an existing backup in it is updated
        #[arg(value_name = "DIR")]
        to: PathBuf,

        /// Where the data are
        #[command(flatten)]
        place: PlaceArgs,
    },

    /// Restore a backup into a new database and an empty store
    Restore {
        /// The backup folder
        #[arg(value_name = "DIR")]
        from: PathBuf,

        /// Where the data are
        #[command(flatten)]
        place: PlaceArgs,
    },
}

/// Where a server keeps its data, as for `snapscope serve`.
#[derive(Debug, Clone, Args)]
pub struct PlaceArgs {
    /// Folder of the database and the store [default: ~/.local/share/snapscope]
    #[arg(long, value_name = "DIR", env = "SNAPSCOPE_DATA")]
    data: Option<PathBuf>,

    /// Address of the database: `sqlite:PATH` or `postgres://…` [default: a file in the data folder]
    #[arg(long, value_name = "URL", env = "SNAPSCOPE_DATABASE")]
    database: Option<String>,

    /// Where to store snapshots: a folder, or s3://bucket/prefix with the variables `AWS_…` [default: a folder in the
    /// data folder]
    #[arg(long, value_name = "PLACE", env = "SNAPSCOPE_STORE")]
    store: Option<String>,
}

impl DataArgs {
    /// Runs the command; the status is 1 if the check found a problem.
    pub fn run(self) -> Result<Output, Failure> {
        worker::runtime()?.block_on(async {
            match self {
                Self::Check { place, contents } => check(&Place::resolve(place)?, contents).await,
                Self::Backup { to, place } => Ok(backup(&Place::resolve(place)?, &to).await?.into()),
                Self::Restore { from, place } => Ok(restore(&from, &Place::resolve(place)?).await?.into()),
            }
        })
    }
}

/// Location of a database and its store.
struct Place {
    database: DatabaseAddress,
    store: StoreAddress,
}

impl Place {
    fn resolve(PlaceArgs { data, database, store }: PlaceArgs) -> Result<Self, Failure> {
        let (database, store) = SettingsArgs { data, database, store, ..SettingsArgs::default() }.resolve_place()?;
        Ok(Self { database, store })
    }

    fn backup(folder: &Path) -> Self {
        Self {
            database: DatabaseAddress::file(&folder.join(DATABASE)),
            store: StoreAddress::Folder(folder.join("store")),
        }
    }

    /// Returns true if a backup in this folder would overwrite the data, or become a part of them.
    fn overlaps(&self, folder: &Path) -> bool {
        let folder = resolved(folder);
        let database = self.database.path().map(resolved);
        let StoreAddress::Folder(store) = &self.store else { return database == Some(folder.join(DATABASE)) };
        let store = resolved(store);
        // A database that is not beside its store may lie in any folder, such as the home folder.
        let data = store.parent().filter(|data| database.as_deref().and_then(Path::parent) == Some(data));
        database == Some(folder.join(DATABASE))
            || folder.starts_with(&store)
            || store.starts_with(folder.join("store"))
            || data.is_some_and(|data| folder.starts_with(data))
    }

    /// Opens both for reading: does not test whether the store is writable and does not create a missing database.
    async fn open(&self) -> Result<(Database, Store), Failure> {
        if let Some(file) = self.database.path().filter(|file| !file.is_file()) {
            return Err(Failure::new(
                format!("there is no database at {}", file.display()),
                "pass the data folder of the server with --data DIR",
            ));
        }
        let database = Database::connect(&self.database).await?;
        let store = Store::open(&self.store).map_err(failure)?;
        store.ping().await.map_err(failure)?;
        Ok((database, store))
    }
}

/// Follows the links of a path as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = whole.ancestors().find_map(|known| {
        let (real, rest) = (known.canonicalize().ok()?, whole.strip_prefix(known).ok()?);
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    real.unwrap_or(whole)
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(error.to_string(), "check that the database and the store respond and that the disk is not full")
}

async fn check(place: &Place, contents: bool) -> Result<Output, Failure> {
    let (database, store) = place.open().await?;
    let belonging = installation::belonging(&database, &store).await.map_err(failure)?;
    let rows = database.snapshots().await.map_err(failure)?;
    let mut objects: Vec<String> = store.list().map_ok(|listed| listed.object).try_collect().await.map_err(failure)?;
    objects.sort_unstable();
    let is_there = |object: &String| objects.binary_search(object).is_ok();
    let mut known: Vec<&String> = rows.iter().map(|row| &row.object).collect();
    known.sort_unstable();
    let missing: Vec<&str> = known.iter().filter(|object| !is_there(object)).map(|object| object.as_str()).collect();
    let trash = if missing.is_empty() { Vec::new() } else { store.trash().await.map_err(failure)? };
    let lost = trash.iter().filter(|discarded| missing.contains(&discarded.object.as_str()));
    let lost: Vec<String> = lost.map(|discarded| discarded.place()).collect();
    let unknown: Vec<&str> =
        objects.iter().filter(|object| known.binary_search(object).is_err()).map(String::as_str).collect();
    let mut changed = Vec::new();
    if contents {
        for row in rows.iter().filter(|row| is_there(&row.object)) {
            if hash_of(&store, row, None).await? != row.hash {
                changed.push(row.object.as_str());
            }
        }
    }
    let is_other = matches!(belonging, Belonging::Other | Belonging::Unknown);
    let stored: u64 = rows.iter().map(|row| row.stored_bytes.max(0) as u64).sum();
    let mut page = format!("database: {}\nstore: {}\n", place.database, place.store);
    let belongs = match belonging {
        Belonging::Own => "the database and the store belong together",
        Belonging::New => "the database and the store belong together; the server marks the store at its next start",
        Belonging::Other => "the store belongs to ANOTHER database",
        Belonging::Unknown => "the database knows none of the snapshots in the store",
    };
    let _ = writeln!(page, "{belongs}");
    let _ = writeln!(page, "{}, {}", counted(rows.len() as u64, "snapshot"), bytes(stored));
    list_of(&mut page, "missing from the store", &missing);
    list_of(&mut page, "of these in the trash; move them to snapshots/ in the store to have them back", &lost);
    list_of(&mut page, "changed since they were stored", &changed);
    list_of(&mut page, "in the store but not in the database; the server keeps them in the trash for a week", &unknown);
    if missing.is_empty() && changed.is_empty() && !is_other {
        page += if contents { "all snapshots are present and unchanged\n" } else { "all snapshots are present\n" };
    }
    let is_bad = is_other || !missing.is_empty() || !changed.is_empty();
    Ok(Output { status: u8::from(is_bad), ..page.into() })
}

fn list_of(page: &mut String, what: &str, objects: &[impl std::fmt::Display]) {
    if objects.is_empty() {
        return;
    }
    let _ = writeln!(page, "{what}: {}", objects.len());
    objects.iter().take(MOST_SHOWN).for_each(|object| {
        let _ = writeln!(page, "  {object}");
    });
    if objects.len() > MOST_SHOWN {
        let _ = writeln!(page, "  and {} more", objects.len() - MOST_SHOWN);
    }
}

async fn backup(place: &Place, to: &Path) -> Result<String, Failure> {
    let (database, store) = place.open().await?;
    if !matches!(installation::belonging(&database, &store).await.map_err(failure)?, Belonging::Own | Belonging::New) {
        return Err(Failure::new(
            "the database and the store do not belong together",
            "run `snapscope data check`, and pass the same --database and --store as the server",
        ));
    }
    if place.overlaps(to) {
        return Err(Failure::new(
            format!("{} lies in the data of the server, which it is to back up; nothing was changed", to.display()),
            "pass a folder elsewhere, on another disk if possible",
        ));
    }
    make_private(to).map_err(|error| cannot_write(to, &error))?;
    let target = Place::backup(to);
    let is_whole = matches!(database, Database::Sqlite(_));
    if is_whole {
        let (fresh, file) = (to.join("snapscope.sqlite.new"), to.join(DATABASE));
        let _ = std::fs::remove_file(&fresh);
        copy_database(&database, &fresh).await?;
        std::fs::rename(&fresh, &file).map_err(|error| cannot_write(&file, &error))?;
    }
    let rows = database.snapshots().await.map_err(failure)?;
    let backup = Store::connect(&target.store).await?;
    let copied = copy(&store, &backup, &rows, to).await?;
    backup.set_installation(&database.installation().await.map_err(failure)?).await.map_err(failure)?;
    let mut page = format!("{} in {}, {copied} of them new\n", counted(rows.len() as u64, "snapshot"), to.display());
    if !is_whole {
        page += "the PostgreSQL database is not included: dump it with `pg_dump` before each backup\n";
    }
    Ok(page)
}

async fn restore(from: &Path, place: &Place) -> Result<String, Failure> {
    if !from.join(DATABASE).is_file() {
        return Err(Failure::new(
            format!("the backup in {} contains no database", from.display()),
            "pass the folder that `snapscope data backup` wrote; if the server uses PostgreSQL, restore its database \
             with `pg_restore` or `psql` and copy the backup's folder `store` to the server's store",
        ));
    }
    let (source, objects) = Place::backup(from).open().await?;
    let Some(file) = place.database.path() else {
        return Err(Failure::new(
            "a PostgreSQL database has to be restored with its own tools",
            "use `pg_restore` or `psql`, or restore into a SQLite file with --database sqlite:PATH",
        ));
    };
    if file.exists() {
        return Err(Failure::new(
            format!("a database already exists at {}; nothing was changed", file.display()),
            "pass an empty folder with --data",
        ));
    }
    let store = Store::connect(&place.store).await?;
    let own = source.installation().await.map_err(failure)?;
    let is_free = match store.installation().await.map_err(failure)? {
        Some(name) => name == own,
        None => store.list().try_next().await.map_err(failure)?.is_none(),
    };
    if !is_free {
        return Err(Failure::new(
            format!("the store at {} is used by another database; nothing was changed", place.store),
            "pass an empty store with --store",
        ));
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    make_private(folder).map_err(|error| cannot_write(folder, &error))?;
    let rows = source.snapshots().await.map_err(failure)?;
    let copied = copy(&objects, &store, &rows, folder).await?;
    store.set_installation(&own).await.map_err(failure)?;
    // The database comes last, because a server can be started on the folder once it is there.
    copy_database(&source, file).await?;
    Ok(format!("{} from {}, {copied} of them copied\n", counted(rows.len() as u64, "snapshot"), from.display()))
}

/// Copies a database to a file that only its owner can read, also in a folder that others can read.
async fn copy_database(database: &Database, file: &Path) -> Result<(), Failure> {
    let mut new = std::fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::mode(&mut new, 0o600);
    // SQLite writes into an empty file.
    new.write(true).create_new(true).open(file).map_err(|error| cannot_write(file, &error))?;
    database.copy_to(file).await.map_err(failure)
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{} cannot be written: {error}", path.display()), "check the path and its permissions")
}

/// Copies the rows' objects that `to` lacks, each through a file in `scratch`, and returns their number.
///
/// An object of the same size counts as present; its contents are not compared.
async fn copy(from: &Store, to: &Store, rows: &[SnapshotRow], scratch: &Path) -> Result<u64, Failure> {
    let mut copied = 0;
    for row in rows {
        if to.size(&row.object).await.map_err(failure)? == Some(row.stored_bytes.max(0) as u64) {
            continue;
        }
        let file = scratch.join("snapshot.part");
        let hash = hash_of(from, row, Some(&file)).await;
        let put = match hash {
            Ok(hash) if hash == row.hash => to.put(&row.object, &file).await.map(drop).map_err(failure),
            Ok(_) => Err(Failure::new(
                format!("{} has changed since it was stored", row.object),
                "run `snapscope data check --contents`; delete its job or link, or restore it from another backup",
            )),
            Err(failure) => Err(failure),
        };
        let _ = std::fs::remove_file(&file);
        put?;
        copied += 1;
    }
    Ok(copied)
}

/// Computes the SHA-256 of an object's bytes and writes them to `file` if one is given.
async fn hash_of(store: &Store, row: &SnapshotRow, file: Option<&Path>) -> Result<String, Failure> {
    let (_, mut pieces) = store.read(&row.object).await.map_err(failure)?;
    let mut hash = Sha256::new();
    let mut out = match file {
        Some(path) => Some(tokio::fs::File::create(path).await.map_err(|error| cannot_write(path, &error))?),
        None => None,
    };
    while let Some(piece) = pieces.try_next().await.map_err(failure)? {
        hash.update(&piece);
        if let Some(out) = &mut out {
            out.write_all(&piece).await.map_err(failure)?;
        }
    }
    if let Some(mut out) = out {
        out.flush().await.map_err(failure)?;
    }
    Ok(hex(hash.finalize()))
}
