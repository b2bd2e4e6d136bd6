//! Makes tokens that cannot be guessed.

use sha2::{Digest as _, Sha256};

use crate::hex::hex;

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
    fn tokens_have_192_bits_and_no_odd_letters() {
        let (a, b) = (Token::random().unwrap(), Token::random().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.text.len(), 39);
        assert!(a.text.bytes().all(|letter| ALPHABET.contains(&letter)));
        assert_eq!(hash_of(&a.text), a.hash);
    }

    #[test]
    fn letters_are_five_bits_each() {
        assert_eq!(encoded(&[0x00, 0x7e, 0x20]), "01z20");
        assert_eq!(encoded(&[]), "");
    }
}
