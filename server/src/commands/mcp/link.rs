//! Fetches the snapshot behind a link that somebody shared.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use tempfile::TempPath;
use tokio::net::lookup_host;

use crate::Failure;

const MOST_BYTES: u64 = 4 << 30;

const MOST_REDIRECTS: usize = 5;

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
    // An agent may have the address from a stranger, who must not make it sign in anywhere.
    if !address.username().is_empty() || address.password().is_some() {
        return Err(wrong());
    }
    address.set_fragment(None);
    address.set_query(None);
    let path = address.path().trim_end_matches('/').to_owned();
    let of_api =
        path.rsplit_once("/api/v1/shares/").and_then(|(before, rest)| Some((before, rest.strip_suffix("/snapshot")?)));
    let (before, token) = of_api.or_else(|| path.rsplit_once("/s/")).ok_or_else(wrong)?;
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return Err(wrong());
    }
    address.set_path(&format!("{before}/api/v1/shares/{token}/snapshot"));
    Ok(address)
}

/// Returns the addresses of a link's host; none if only a proxy knows the name.
///
/// A stranger's name may lead to this machine or to the metadata of its cloud. Only a link that names them leads there;
/// names of a private network are those of its own servers.
async fn addresses(address: &Url) -> std::io::Result<Vec<SocketAddr>> {
    let host = address.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_stated = host.parse::<IpAddr>().is_ok() || is_local_name(host);
    let Ok(found) = lookup_host((host, address.port_or_known_default().unwrap_or_default())).await else {
        return Ok(Vec::new());
    };
    let found: Vec<SocketAddr> = found.collect();
    match found.iter().any(|found| is_of_this_machine(found.ip())) && !is_stated {
        true => Err(std::io::Error::other(format!("{host} leads to this machine"))),
        false => Ok(found),
    }
}

fn is_local_name(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// Returns true for loopback and link-local addresses.
fn is_of_this_machine(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() || address.is_link_local() || address.is_unspecified(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unicast_link_local() || address.is_unspecified(),
    }
}

/// Follows redirects within a server, such as that to its HTTPS; another host would be asked on behalf of this one.
fn within_the_server() -> Policy {
    Policy::custom(|attempt| {
        let (next, before) = (attempt.url(), attempt.previous());
        let is_same = before.last().is_some_and(|last| {
            let is_secured = next.scheme() == "https" && next.port().is_none() && last.port().is_none();
            next.host() == last.host() && (next.origin() == last.origin() || is_secured)
        });
        if is_same && before.len() < MOST_REDIRECTS { attempt.follow() } else { attempt.stop() }
    })
}

async fn download(link: &str, address: Url) -> Result<TempPath, Failure> {
    let unreachable = |error: reqwest::Error| {
        Failure::new(format!("{link}: {}", error.without_url()), "check the address and that this machine reaches it")
    };
    let full = |error: std::io::Error| Failure::new(format!("{link}: {error}"), "set TMPDIR to a folder with room");
    // A provider that is there already is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let found = addresses(&address).await;
    let found = found.map_err(|error| Failure::new(format!("{link}: {error}"), "name this machine in the link"))?;
    let mut client = Client::builder().connect_timeout(PATIENCE).read_timeout(PATIENCE).redirect(within_the_server());
    if let (Some(host), false) = (address.host_str(), found.is_empty()) {
        client = client.resolve_to_addrs(host, &found);
    }
    // The referrer would contain the token of the link.
    let client = client.referer(false).build();
    let client = client.map_err(unreachable)?;
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
    use std::io::Read as _;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn a_link_leads_to_its_snapshot() {
        let address = |link: &str| snapshot_address(link).map(|address| address.to_string());
        let snapshot = "https://host/x/api/v1/shares/abc/snapshot";
        assert_eq!(address("https://host/x/s/abc#v1").as_deref(), Ok(snapshot));
        assert_eq!(address(snapshot).as_deref(), Ok(snapshot));
        for wrong in [
            "https://host/",
            "https://host/s/",
            "https://host/s/a/b",
            "http://",
            "https://host/api/v1/secrets",
            "https://host/api/v1/shares/../secrets/snapshot",
            "https://host/api/v1/shares/a%2fb/snapshot",
            "https://user:password@host/s/abc",
        ] {
            assert!(address(wrong).unwrap_err().message.contains("no link"), "{wrong}");
        }
    }

    #[test]
    fn redirects_stay_within_the_server() {
        let [first, other] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let (address, elsewhere) = (first.local_addr().unwrap(), other.local_addr().unwrap());
        let server = thread::spawn(move || {
            for location in ["/moved".to_owned(), format!("http://{elsewhere}/secret")] {
                let (mut stream, _) = first.accept().unwrap();
                let mut head = vec![0; 4096];
                let len = stream.read(&mut head).unwrap();
                assert!(!String::from_utf8_lossy(&head[..len]).to_lowercase().contains("referer"));
                let answer =
                    format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close");
                write!(stream, "{answer}\r\n\r\n").unwrap();
            }
        });
        let failure = fetch(&format!("http://{address}/s/abc")).unwrap_err();
        assert!(failure.message.contains("302"), "{}", failure.message);
        server.join().unwrap();
        other.set_nonblocking(true).unwrap();
        assert!(other.accept().is_err(), "nobody asks the other server");
    }

    #[test]
    fn this_machine_is_known_by_its_addresses() {
        for own in ["127.0.0.1", "169.254.169.254", "0.0.0.0", "::1", "fe80::1", "::ffff:127.0.0.1"] {
            assert!(is_of_this_machine(own.parse().unwrap()), "{own}");
        }
        assert!(!is_of_this_machine("10.0.0.1".parse().unwrap()) && is_local_name("snap.localhost"));
    }
}
