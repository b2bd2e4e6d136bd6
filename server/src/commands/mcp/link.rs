//! Fetches the snapshot behind a link that somebody shared.

use std::io::Write as _;
use std::time::Duration;

use reqwest::{Client, StatusCode, Url};
use tempfile::TempPath;

use crate::Failure;

/// Most bytes that are fetched.
const MOST_BYTES: u64 = 4 << 30;

/// Time in which a server has to answer, and to go on sending.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns true for the address of a page or a file.
pub(super) fn is_link(name: &str) -> bool {
    name.starts_with("http://") || name.starts_with("https://")
}

/// Downloads the snapshot of a link into a temporary file; must not be called by a thread that runs futures.
///
/// # Errors
///
/// Returns an error if the link is none of Snapscope's, has expired, or if its server cannot be reached.
pub(super) fn fetch(link: &str) -> Result<TempPath, Failure> {
    let address = snapshot_address(link)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(error.to_string(), "try again"))?;
    runtime.block_on(download(link, address))
}

/// Returns the address of the snapshot of a link such as `https://host/s/TOKEN`.
fn snapshot_address(link: &str) -> Result<Url, Failure> {
    let wrong = || {
        Failure::new(
            format!("{link} is no link to a shared snapshot"),
            "pass a link such as https://host/s/TOKEN, or a path",
        )
    };
    let mut address = Url::parse(link).map_err(|_| wrong())?;
    address.set_fragment(None);
    address.set_query(None);
    let path = address.path().to_owned();
    if path.contains("/api/v1/") {
        return Ok(address);
    }
    let (before, token) = path.rsplit_once("/s/").ok_or_else(wrong)?;
    let token = token.trim_end_matches('/');
    if token.is_empty() || token.contains('/') {
        return Err(wrong());
    }
    address.set_path(&format!("{before}/api/v1/shares/{token}/snapshot"));
    Ok(address)
}

async fn download(link: &str, address: Url) -> Result<TempPath, Failure> {
    let unreachable = |error: reqwest::Error| {
        Failure::new(format!("{link}: {}", error.without_url()), "check the address and that this machine reaches it")
    };
    let full = |error: std::io::Error| Failure::new(format!("{link}: {error}"), "set TMPDIR to a folder with room");
    // A provider that is there already is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().connect_timeout(PATIENCE).read_timeout(PATIENCE).build().map_err(unreachable)?;
    let mut response = client.get(address).send().await.map_err(unreachable)?;
    match response.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => {
            return Err(Failure::new(
                format!("{link}: there is no such link"),
                "it may have expired; ask for a new one",
            ));
        }
        status => {
            return Err(Failure::new(format!("{link}: the server answers {status}"), "open the link in a browser"));
        }
    }
    let mut file = tempfile::Builder::new().prefix("snapscope-link-").suffix(".pickle.gz").tempfile().map_err(full)?;
    let mut len = 0;
    while let Some(piece) = response.chunk().await.map_err(unreachable)? {
        len += piece.len() as u64;
        if len > MOST_BYTES {
            return Err(Failure::new(format!("{link}: the file is too large"), "download it and pass its path"));
        }
        file.write_all(&piece).map_err(full)?;
    }
    Ok(file.into_temp_path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_its_snapshot() {
        let address = |link: &str| snapshot_address(link).map(|address| address.to_string());
        let snapshot = "https://host/x/api/v1/shares/abc/snapshot";
        assert_eq!(address("https://host/x/s/abc#v1").as_deref(), Ok(snapshot));
        assert_eq!(address(snapshot).as_deref(), Ok(snapshot));
        for wrong in ["https://host/", "https://host/s/", "https://host/s/a/b", "http://"] {
            assert!(address(wrong).unwrap_err().message.contains("no link"), "{wrong}");
        }
    }
}
