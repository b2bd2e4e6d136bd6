//! Tests uploads that are not snapshots, or that expand far beyond their size.

use flate2::read::GzDecoder;
use flate2::{Compress, Compression, FlushCompress};
use shared::api::ErrorCode;
use testkit::http::{Form, Reply, check_refusal};
use testkit::padded::gzip;

use crate::injected::place::{Place, snapshot};

/// Returns a gzip file of `start` and many repetitions of `piece`, made of identical compressed blocks.
fn repeated(start: &[u8], piece: &[u8], times: usize) -> Vec<u8> {
    const BLOCK: usize = 1 << 16;
    let mut deflate = Compress::new(Compression::best(), false);
    let mut block = |bytes: &[u8]| {
        let mut compressed = Vec::with_capacity(2 * bytes.len() + 64);
        // After a full flush, no block refers to earlier data.
        deflate.compress_vec(bytes, &mut compressed, FlushCompress::Full).expect("room for it");
        compressed
    };
    let header = b"\x1f\x8b\x08\0\0\0\0\0\0\xff";
    let start = block(start);
    let pieces = block(&piece.repeat(BLOCK / piece.len()));
    [header.as_slice(), &start, &pieces.repeat(times / BLOCK)].concat()
}

fn share(place: &Place, snapshot: &[u8]) -> Reply {
    place.share(Form::share(snapshot))
}

#[test]
fn what_is_cut_anywhere_or_something_else_is_no_snapshot() {
    let place = Place::new();
    let whole = snapshot();
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut GzDecoder::new(&whole[..]), &mut plain).unwrap();
    for share_of in [0.001, 0.1, 0.5, 0.9, 0.999] {
        let cut = |bytes: &[u8]| bytes[..(bytes.len() as f64 * share_of) as usize].to_vec();
        check_refusal(&share(&place, &cut(&whole)), ErrorCode::InvalidSnapshot, "");
        // Cut before compression.
        check_refusal(&share(&place, &gzip(&cut(&plain), Compression::fast())), ErrorCode::InvalidSnapshot, "");
    }
    // The checksum at the end is wrong.
    let mut wrong = whole.clone();
    let last = wrong.len() - 6;
    wrong[last] ^= 1;
    check_refusal(&share(&place, &wrong), ErrorCode::InvalidSnapshot, "");
    let pickled_object = b"cposix\nsystem\n(S'touch /tmp/evil'\ntR.";
    for content in [b"".as_slice(), b"\x80\x04}.", b"\x80\x04N.", b"PK\x03\x04", b"{}", b"[1, 2]", pickled_object] {
        let reply = share(&place, &gzip(content, Compression::fast()));
        check_refusal(&reply, ErrorCode::InvalidSnapshot, "");
    }
    for bytes in [b"".as_slice(), b"plain text", &snapshot()[1..]] {
        check_refusal(&share(&place, bytes), ErrorCode::InvalidSnapshot, "gzip");
    }
    place.check_untouched();
}

#[test]
fn depth_and_memo_are_bounded() {
    let place = Place::new();
    // A huge number of marks, of nested lists, and of memo entries.
    let deep = repeated(b"\x80\x04", b"(", 40_000_000);
    let lists = repeated(b"\x80\x04", b"](", 40_000_000);
    let memo = repeated(b"\x80\x04N", b"\x94", 40_000_000);
    // One memo entry with a huge number, and one text with a huge length.
    let far = gzip(b"\x80\x04Nr\xff\xff\xff\xff.", Compression::fast());
    let long = gzip(b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fabc.", Compression::fast());
    for (name, bomb) in [("deep", deep), ("lists", lists), ("memo", memo), ("far", far), ("long", long)] {
        assert!(bomb.len() < 4 << 20, "{name} is small");
        let reply = share(&place, &bomb);
        assert!(matches!(reply.status, 413 | 422), "{name}: {} {}", reply.status, reply.text());
        let code = if reply.status == 413 { ErrorCode::TooLarge } else { ErrorCode::InvalidSnapshot };
        check_refusal(&reply, code, "");
    }
    place.check_untouched();
}
