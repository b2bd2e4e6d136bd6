//! Connects to the database, migrates its tables to this version, and gives it an identity.

use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection as _, SqlitePool};
use uuid::Uuid;

use super::pool::{Database, execute, on, rows};
use super::{DatabaseError, Result, now_ms};
use crate::config::DatabaseAddress;
use crate::failure::Failure;
use crate::folder::make_private;

/// Time that a statement waits for another writer of the same SQLite file.
const BUSY: Duration = Duration::from_secs(20);

/// Maximum number of pooled connections.
const CONNECTIONS: u32 = 8;

/// Maximum wait for a free connection.
const ACQUIRE: Duration = Duration::from_secs(10);

impl Database {
    /// Connects to the configured database and makes the folder of a SQLite file if it is missing.
    pub async fn connect(address: &DatabaseAddress) -> std::result::Result<Self, Failure> {
        if let Some(folder) = address.secret().strip_prefix("sqlite:").and_then(|path| Path::new(path).parent()) {
            // If this fails, opening the file below reports why.
            let _ = make_private(folder);
        }
        let mut opened = Self::open(address.secret()).await;
        // The pool waits for a database that refuses connections, but not for one that goes during a migration.
        if opened.as_ref().is_err_and(DatabaseError::is_away) {
            opened = Self::open(address.secret()).await;
        }
        opened.map_err(|error| {
            Failure::new(format!("{error}, at {address}"), "check that the database runs, and the setting `database`")
        })
    }

    /// Connects to a database and migrates its tables to this version.
    ///
    /// `address` is `sqlite:PATH` or `postgres://…`; a missing file is made.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be reached or belongs to a later version.
    pub async fn open(address: &str) -> Result<Self> {
        let database = match address.strip_prefix("sqlite:") {
            Some(path) => Self::Sqlite(open_sqlite(Path::new(path)).await?),
            None => {
                let options = PgConnectOptions::from_str(address)?.application_name("snapscope");
                let pool = PgPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(ACQUIRE);
                Self::Postgres(pool.connect_with(options).await?)
            }
        };
        let migrations = sqlx::migrate!("./migrations");
        database.refuse_later(&migrations).await?;
        on!(&database, pool => migrations.run(pool).await?);
        Ok(database)
    }

    /// Returns an error if a migration was applied that neither this version nor an earlier one has.
    async fn refuse_later(&self, migrations: &Migrator) -> Result<()> {
        let query = "SELECT version FROM _sqlx_migrations";
        let applied: Vec<(i64,)> = match rows!(self, fetch_all, query) {
            // A new database does not have this table.
            Err(sqlx::Error::Database(_)) => Vec::new(),
            applied => applied?,
        };
        match applied.iter().all(|&(version,)| migrations.iter().any(|known| known.version == version)) {
            true => Ok(()),
            false => Err(DatabaseError(
                "its tables are from a later version of Snapscope: use that version, or restore a backup".into(),
            )),
        }
    }
}

/// Opens a SQLite file with settings that let commits survive a crash of the machine.
///
/// A new file is its owner's alone: it has the configs and logs of all jobs. SQLite gives its journals the same mode.
async fn open_sqlite(path: &Path) -> Result<SqlitePool> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // If this fails, opening the database says why.
    let _ = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY);
    let pool = SqlitePoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(ACQUIRE)
        // Discards connections whose commit failed on a full disk, because nothing can end their transaction.
        .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }));
    Ok(pool.connect_with(options).await?)
}

impl Database {
    /// Returns the ID of this installation and makes it on first use; a dump of the database includes it.
    pub async fn installation(&self) -> Result<String> {
        let insert =
            "INSERT INTO installation (single, id, kept_ms) VALUES (1, $1, $2) ON CONFLICT (single) DO NOTHING";
        let id = Uuid::now_v7().simple().to_string();
        execute!(self, insert, id, now_ms())?;
        let (id,): (String,) = rows!(self, fetch_one, "SELECT id FROM installation")?;
        Ok(id)
    }

    /// Returns the time of the last housekeeping round, in milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails or if [`installation`](Self::installation) was never called.
    pub async fn kept_ms(&self) -> Result<i64> {
        let (kept_ms,): (i64,) = rows!(self, fetch_one, "SELECT kept_ms FROM installation")?;
        Ok(kept_ms)
    }

    /// Records that a housekeeping round takes place now.
    pub async fn note_kept(&self) -> Result<()> {
        Ok(execute!(self, "UPDATE installation SET kept_ms = $1", now_ms()).map(drop)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn opened() -> Result<(tempfile::TempDir, Database, String)> {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", folder.path().join("a.sqlite").display());
        Ok((folder, Database::open(&address).await?, address))
    }

    #[tokio::test]
    async fn a_new_file_is_its_owners_alone() -> Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let (folder, _database, _) = opened().await?;
        for file in ["a.sqlite", "a.sqlite-wal", "a.sqlite-shm"] {
            let mode = std::fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
        Ok(())
    }

    #[tokio::test]
    async fn tables_of_a_later_version_are_refused() -> Result<()> {
        let (_folder, database, address) = opened().await?;
        let Database::Sqlite(pool) = &database else { unreachable!() };
        let insert = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                      VALUES (20200101000001, 'of another version', 1, x'00', 0)";
        sqlx::query(insert).execute(pool).await?;
        database.close().await;
        let refused = Database::open(&address).await.map(drop).unwrap_err().to_string();
        assert!(refused.contains("a later version"), "{refused}");
        Ok(())
    }
}
