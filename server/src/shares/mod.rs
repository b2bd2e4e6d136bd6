//! Handles links: uploaded snapshots with a view and a preview.
//!
//! Invariant: space for an upload is reserved in the quota and on the disk before its body is read, and the unpacked
//! size of a file is limited while it is unpacked.

mod digest;
mod room;
mod upload;

pub use digest::{DIGEST_COMMAND, DigestError, Digester, FINDINGS_COMMAND, print_digest, print_findings};
pub use room::{Holding, Place, Room, free_bytes};
pub use upload::{Upload, UploadError};

use std::time::Duration;

use sha2::{Digest as _, Sha256};
use shared::api::SnapshotDigest;

use crate::database::{ShareRow, now_ms};
use crate::hex::hex;

/// Returns the figures of a link's snapshot.
pub fn digest_of(row: &ShareRow) -> SnapshotDigest {
    // Figures of an older version that can no longer be parsed are shown as unknown.
    serde_json::from_str(&row.digest).unwrap_or_default()
}

/// Lifetimes offered to users, in days.
const CHOICES: [u32; 3] = [1, 7, 30];

const DAY: Duration = Duration::from_secs(86_400);

/// Returns the lifetimes that a server allows, in days.
pub fn days_of(longest: Option<Duration>) -> Vec<u32> {
    let allowed = |days: &u32| longest.is_none_or(|longest| DAY * *days <= longest);
    let days: Vec<u32> = CHOICES.into_iter().filter(allowed).collect();
    // A server that allows less than a day offers its limit as the only choice, shown as one day.
    if days.is_empty() { vec![CHOICES[0]] } else { days }
}

/// Returns the expiry time of a link, in milliseconds since 1970; `None` for no expiry.
///
/// # Errors
///
/// Returns the longest allowed lifetime, in whole days, if the server does not allow the requested one.
pub fn expires_ms(days: Option<u32>, longest: Option<Duration>) -> Result<Option<i64>, u64> {
    let wanted = match (days, longest) {
        (None, None) => return Ok(None),
        (None, Some(longest)) => return Err(longest.as_secs() / DAY.as_secs()),
        // A link that has expired when it is made would be of no use.
        (Some(days), _) => DAY * days.max(1),
    };
    let is_only_choice = longest.is_some_and(|longest| longest < DAY) && days == Some(CHOICES[0]);
    match longest {
        Some(longest) if is_only_choice => Ok(Some(after(longest))),
        Some(longest) if wanted > longest => Err(longest.as_secs() / DAY.as_secs()),
        _ => Ok(Some(after(wanted))),
    }
}

fn after(time: Duration) -> i64 {
    now_ms().saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

/// Random bytes per token: 192 bits.
const BYTES: usize = 24;

/// Crockford's base32 alphabet in lower case, which omits easily confused letters.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A token and the hash that the database stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Text that the user receives.
    pub text: String,
    /// SHA-256 of the text, in hexadecimal.
    pub hash: String,
}

impl Token {
    /// Makes a new token from the system's random numbers.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(std::io::Error::from)?;
        let text = encoded(&bytes);
        Ok(Self { hash: hash_of(&text), text })
    }
}

/// Returns the SHA-256 of a token, in hexadecimal.
pub fn hash_of(token: &str) -> String {
    hex(Sha256::digest(token))
}

/// Encodes bytes in base32, five bits per letter.
fn encoded(bytes: &[u8]) -> String {
    let bit = |index: usize| bytes.get(index / 8).map_or(0, |byte| usize::from(byte >> (7 - index % 8)) & 1);
    let letters = (bytes.len() * 8).div_ceil(5);
    let letter = |letter: usize| (0..5).fold(0, |value, offset| value << 1 | bit(5 * letter + offset));
    (0..letters).map(|index| char::from(ALPHABET[letter(index)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_within_the_limit() {
        assert_eq!(days_of(None), [1, 7, 30]);
        assert_eq!(days_of(Some(DAY * 7)), [1, 7]);
        assert_eq!(days_of(Some(DAY / 2)), [1]);
        assert_eq!(expires_ms(None, None), Ok(None));
        assert_eq!(expires_ms(None, Some(DAY * 30)), Err(30));
        assert_eq!(expires_ms(Some(31), Some(DAY * 30)), Err(30));
        let in_days = |days: u32| now_ms() + i64::from(days) * 86_400_000;
        let near = |end: i64, expected: i64| (end - expected).abs() < 60_000;
        assert!(near(expires_ms(Some(7), Some(DAY * 30)).unwrap().unwrap(), in_days(7)));
        assert!(near(expires_ms(Some(365), None).unwrap().unwrap(), in_days(365)));
        assert!(near(expires_ms(Some(0), None).unwrap().unwrap(), in_days(1)));
        assert!(near(expires_ms(Some(1), Some(DAY / 2)).unwrap().unwrap(), now_ms() + 43_200_000));
    }

    #[test]
    fn tokens_have_192_bits_and_no_odd_letters() {
        let (a, b) = (Token::random().unwrap(), Token::random().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.text.len(), 39);
        assert!(a.text.bytes().all(|letter| ALPHABET.contains(&letter)));
        assert_eq!(hash_of(&a.text), a.hash);
        assert_eq!([encoded(&[0x00, 0x7e, 0x20]), encoded(&[])], ["01z20", ""], "letters are five bits each");
    }
}
