//! Removes the tables of apalis, which held a task for each queued job in databases of earlier versions.
//!
//! The jobs' own rows say what is queued, so that nothing of the tables is needed.

use super::Result;
use super::pool::{Database, on};

/// Versions of apalis's migrations for SQLite and for PostgreSQL, which databases of earlier versions list as applied.
pub(super) const MIGRATIONS: [i64; 33] = [
    20220530084123,
    20220709210445,
    20230330210841,
    20230408110421,
    20230408234928,
    20240225141841,
    20250210092135,
    20250223193249,
    20250307001101,
    20250313213411,
    20250404160441,
    20250722071207,
    20251013233016,
    20251017150712,
    20251017162501,
    20251018162501,
    20251018164839,
    20251018164912,
    20251018164941,
    20251018165007,
    20251018165033,
    20251018165056,
    20251018165121,
    20251225090252,
    20260506101935,
    20260508093314,
    20260605000000,
    20260726081359,
    20260803223031,
    20260804103122,
    20260824233636,
    20260826101335,
    20260902075949,
];

/// Statements that remove the tables, for SQLite and for PostgreSQL.
const TABLES: [&[&str]; 2] =
    [&["DROP TABLE IF EXISTS Jobs", "DROP TABLE IF EXISTS Workers"], &["DROP SCHEMA IF EXISTS apalis CASCADE"]];

impl Database {
    /// Removes the tables of apalis if the database has them.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub(super) async fn leave_former_queue(&self) -> Result<()> {
        let list = MIGRATIONS.map(|version| version.to_string()).join(", ");
        let had = format!("SELECT COUNT(*) FROM _sqlx_migrations WHERE version IN ({list})");
        let forget = format!("DELETE FROM _sqlx_migrations WHERE version IN ({list})");
        let tables = match self {
            Self::Sqlite(_) => TABLES[0],
            Self::Postgres(_) => TABLES[1],
        };
        on!(self, pool => {
            let (count,): (i64,) = sqlx::query_as(sqlx::AssertSqlSafe(had)).fetch_one(pool).await?;
            if count > 0 {
                for statement in tables {
                    sqlx::query(*statement).execute(pool).await?;
                }
                sqlx::query(sqlx::AssertSqlSafe(forget)).execute(pool).await?;
            }
        });
        Ok(())
    }
}
