//! Where a store is, as people write it.

use std::fmt;
use std::path::PathBuf;

use crate::Failure;

/// A folder, or a bucket of a service that speaks S3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreAddress {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A bucket; where it is and who may use it is said in the variables `AWS_…`.
    Bucket {
        /// Its name.
        bucket: String,
        /// What the names of objects begin with.
        prefix: String,
    },
}

impl StoreAddress {
    /// Reads `s3://bucket/prefix`, or the path of a folder.
    ///
    /// # Errors
    ///
    /// The bucket has no name, or it is another service.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let hint = "write the path of a folder, or s3://bucket/prefix";
        match text.split_once("://") {
            Some(("s3", rest)) => {
                let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                if bucket.is_empty() {
                    return Err(Failure::new(format!("`{text}` has no name of a bucket"), hint));
                }
                Ok(Self::Bucket { bucket: bucket.to_owned(), prefix: prefix.trim_matches('/').to_owned() })
            }
            Some((service, _)) => Err(Failure::new(format!("snapshots can't be stored in `{service}://…`"), hint)),
            None => Ok(Self::Folder(text.into())),
        }
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Bucket { bucket, prefix } => write!(f, "s3://{bucket}/{prefix}"),
        }
    }
}
