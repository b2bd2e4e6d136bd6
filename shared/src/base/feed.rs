//! Cuts a stream of chunks into tokens.

/// Result of one [`Scan::scan`] call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// Length of the complete tokens in bytes; the scanner will not see them again.
    pub consumed: usize,
    /// Minimum length of the next token in bytes, counted from its start.
    pub needed: usize,
}

/// Tokenizer that stops in front of an incomplete token.
pub trait Scan {
    type Error;

    /// Consumes the complete tokens at the start of `input`, which begins at byte `offset` of the stream.
    ///
    /// # Errors
    /// Returns an error if the tokenizer rejects the bytes.
    fn scan(&mut self, input: &[u8], offset: u64) -> Result<Scanned, Self::Error>;
}

/// Buffer for the token that the last chunk ended within.
///
/// Memory grows with the bytes that have arrived, never with a length that a token merely claims.
#[derive(Debug, Default)]
pub struct Feed {
    rest: Vec<u8>,
    offset: u64,
    needed: usize,
}

impl Feed {
    /// Returns the stream offset of the first byte that belongs to no complete token yet.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the bytes that belong to no complete token yet.
    pub fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// Passes the next bytes to the scanner.
    ///
    /// # Errors
    /// Returns the scanner's error.
    pub fn push<S: Scan>(&mut self, mut bytes: &[u8], scanner: &mut S) -> Result<(), S::Error> {
        while !bytes.is_empty() && !self.rest.is_empty() {
            bytes = self.push_to_rest(bytes, scanner)?;
        }
        if !bytes.is_empty() {
            let Scanned { consumed, needed } = scanner.scan(bytes, self.offset)?;
            self.offset += consumed as u64;
            self.needed = needed;
            self.rest.extend_from_slice(&bytes[consumed..]);
        }
        Ok(())
    }

    /// Passes the remaining bytes to the scanner once more, because no more bytes will come.
    ///
    /// # Errors
    /// Returns the scanner's error.
    pub fn finish<S: Scan>(&mut self, scanner: &mut S) -> Result<(), S::Error> {
        if !self.rest.is_empty() {
            let Scanned { consumed, .. } = scanner.scan(&self.rest, self.offset)?;
            self.offset += consumed as u64;
            self.rest.drain(..consumed);
        }
        Ok(())
    }

    /// Completes the token in `rest` with bytes of the chunk and returns the remainder of the chunk.
    fn push_to_rest<'a, S: Scan>(&mut self, bytes: &'a [u8], scanner: &mut S) -> Result<&'a [u8], S::Error> {
        const SOME: usize = 64;
        let old = self.rest.len();
        let taken = self.needed.saturating_sub(old).max(SOME).min(bytes.len());
        self.rest.extend_from_slice(&bytes[..taken]);
        if self.rest.len() < self.needed {
            return Ok(&bytes[taken..]);
        }
        let Scanned { consumed, needed } = scanner.scan(&self.rest, self.offset)?;
        self.offset += consumed as u64;
        self.needed = needed;
        if consumed >= old {
            // From here on, the chunk itself can be scanned without copying.
            self.rest.clear();
            return Ok(&bytes[consumed - old..]);
        }
        self.rest.drain(..consumed);
        Ok(&bytes[taken..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokenizer for tokens of one length byte and that many bytes of data.
    #[derive(Default)]
    struct Lengths {
        tokens: Vec<Vec<u8>>,
        offsets: Vec<u64>,
    }

    impl Scan for Lengths {
        type Error = ();

        fn scan(&mut self, input: &[u8], offset: u64) -> Result<Scanned, ()> {
            let mut consumed = 0;
            loop {
                let rest = &input[consumed..];
                let needed = rest.first().map_or(1, |&len| 1 + usize::from(len));
                if rest.len() < needed {
                    return Ok(Scanned { consumed, needed });
                }
                self.offsets.push(offset + consumed as u64);
                self.tokens.push(rest[1..needed].to_vec());
                consumed += needed;
            }
        }
    }

    #[test]
    fn chunks_of_any_size_give_the_same_tokens() {
        let lengths = [0, 200, 1, 63, 64, 65, 255, 2, 0];
        let stream: Vec<u8> = lengths.iter().flat_map(|&len| std::iter::repeat_n(len, 1 + usize::from(len))).collect();
        for size in [1, 2, 3, 7, 64, 100, 1000] {
            let (mut feed, mut scanner) = (Feed::default(), Lengths::default());
            for chunk in stream.chunks(size) {
                feed.push(chunk, &mut scanner).unwrap();
            }
            let found: Vec<u8> = scanner.tokens.iter().map(|token| token.len() as u8).collect();
            assert_eq!(found, lengths, "chunks of {size}");
            assert_eq!(feed.offset(), stream.len() as u64);
            assert!(feed.rest().is_empty());
            assert_eq!(scanner.offsets[2], 202);
        }
    }
}
