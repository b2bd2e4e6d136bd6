//! Provides the database and store of a server under test: SQLite and a folder, or PostgreSQL and a bucket.

use server::store::StoreAddress;

use crate::postgres::Postgres;
use crate::s3::S3;

/// Kind of database, with the kind of store that goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// SQLite and a folder, the default.
    Sqlite,
    /// PostgreSQL and a bucket, the setup for large installations.
    Postgres,
}

/// Database and store of one test, each `None` if it is the default.
#[derive(Debug)]
pub struct Storage {
    pub database: Option<String>,
    bucket: Option<S3>,
}

impl Storage {
    /// Creates an empty database and an empty store.
    #[track_caller]
    pub fn new(backend: Backend) -> Self {
        match backend {
            Backend::Sqlite => Self { database: None, bucket: None },
            Backend::Postgres => Self { database: Some(Postgres::shared().database()), bucket: Some(S3::start()) },
        }
    }

    pub fn store(&self) -> Option<StoreAddress> {
        self.bucket.as_ref().map(S3::address)
    }
}

/// Declares tests once for each backend.
///
/// `both!(name, …)` makes the tests `sqlite::name` and `postgres::name` from functions that take a [`Backend`].
#[macro_export]
macro_rules! both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test] fn $name() { super::$name($crate::storage::Backend::Sqlite); })+
        }

        mod postgres {
            $(#[test] fn $name() { super::$name($crate::storage::Backend::Postgres); })+
        }
    };
}
