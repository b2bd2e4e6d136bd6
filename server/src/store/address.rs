//! Where a store is, as people write it.

use std::fmt;
use std::path::PathBuf;

use crate::Failure;

/// A folder, or a bucket of a service that speaks S3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreAddress {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A bucket.
    Bucket {
        /// Its name.
        bucket: String,
        /// What the names of objects begin with.
        prefix: String,
        /// Where it is and who may use it.
        variables: BucketVariables,
    },
}

/// The variables `AWS_…` of an environment; they have secrets, which are not shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct BucketVariables(Vec<(String, String)>);

impl BucketVariables {
    /// The variables of a bucket among those of an environment.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(variables.into_iter().filter(|(name, _)| name.starts_with("AWS_")).collect())
    }

    /// Names and values.
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
                let (bucket, prefix) = (bucket.to_owned(), prefix.trim_matches('/').to_owned());
                Ok(Self::Bucket { bucket, prefix, variables: BucketVariables::default() })
            }
            Some((service, _)) => Err(Failure::new(format!("snapshots can't be stored in `{service}://…`"), hint)),
            None => Ok(Self::Folder(text.into())),
        }
    }

    /// The same place, with the variables of an environment where it needs some.
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
