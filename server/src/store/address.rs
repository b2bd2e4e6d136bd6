//! Parses the address of a store.

use std::fmt;
use std::path::PathBuf;

use crate::Failure;

/// A folder, or a bucket of an S3-compatible service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreAddress {
    Folder(PathBuf),
    Bucket {
        bucket: String,
        /// Prefix of all object names.
        prefix: String,
        /// Endpoint and credentials.
        variables: BucketVariables,
    },
}

/// The `AWS_…` variables of an environment; `Debug` omits their values because some are secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct BucketVariables(Vec<(String, String)>);

impl BucketVariables {
    /// Selects the bucket's variables from those of an environment.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(variables.into_iter().filter(|(name, _)| name.starts_with("AWS_")).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for BucketVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

impl StoreAddress {
    /// Parses `s3://bucket/prefix`, or the path of a folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the bucket name is empty or the scheme is not supported.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let hint = "use the path of a folder, or s3://bucket/prefix";
        match text.split_once("://") {
            Some(("s3", rest)) => {
                let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                if bucket.is_empty() {
                    return Err(Failure::new(format!("`{text}` has no bucket name"), hint));
                }
                let (bucket, prefix) = (bucket.to_owned(), prefix.trim_matches('/').to_owned());
                Ok(Self::Bucket { bucket, prefix, variables: BucketVariables::default() })
            }
            Some((service, _)) => Err(Failure::new(format!("snapshots can't be stored in `{service}://…`"), hint)),
            None => Ok(Self::Folder(text.into())),
        }
    }

    /// Adds the variables of an environment if the address is a bucket.
    #[must_use]
    pub fn with_variables(self, variables: BucketVariables) -> Self {
        match self {
            Self::Folder(folder) => Self::Folder(folder),
            Self::Bucket { bucket, prefix, .. } => Self::Bucket { bucket, prefix, variables },
        }
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Bucket { bucket, prefix, .. } => write!(f, "s3://{bucket}/{prefix}"),
        }
    }
}
