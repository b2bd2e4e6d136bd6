//! Reads the messages of NCCL about memory and communicators.
//!
//! They are in `src/include/alloc.h`, `src/transport/p2p.cc`, `src/enqueue.cc`, `src/init.cc` and the code for shared
//! memory. NCCL 2.3 to 2.8 print none about memory; 2.30 has a function and a type more. RCCL, of AMD, prints the same.
//!
//! ```text
//! 2.9    Cuda Alloc Size 33554432 pointer 0x7fbe9c000000
//! 2.12   transport/net.cc:377 Cuda Alloc Size 33554432 pointer 0x7fbe9c000000
//! 2.18   Allocated shareable buffer 0x7fbe9c000000 size 10485760 ipcDesc 0x7fd0
//! 2.30   src/transport/net.cc:377 (sharedNetBuffersInit) Cuda Calloc Size 33554432 pointer 0x7fbe9c000000 memType 1
//! ```

/// What a message says; sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    /// Memory on the GPU, with the place in NCCL's source or the empty text.
    Device { place: &'a str, pointer: u64, bytes: u64 },
    /// Memory of the host that GPUs reach.
    Pinned { pointer: u64, bytes: u64 },
    /// Shared memory of the host.
    Shared { bytes: u64 },
    /// Memory on the GPU or of the host that is free now; only builds for tracing say so.
    Free { pointer: u64 },
    /// A communicator is ready.
    Communicator { rank: u32, ranks: u32, gpu: Option<u32> },
    /// Memory of the host that can be swapped out.
    Other,
}

/// Makes a message of a place, a pointer and a number of bytes.
type Make = for<'a> fn(&'a str, u64, u64) -> Message<'a>;

const DEVICE: Make = |place, pointer, bytes| Message::Device { place, pointer, bytes };
const PINNED: Make = |_, pointer, bytes| Message::Pinned { pointer, bytes };
const FREE: Make = |_, pointer, _| Message::Free { pointer };
const OTHER: Make = |_, _, _| Message::Other;

/// Words in front of a size and `pointer`, and what they say.
const SIZES: [(&str, Make); 11] = [
    ("Cuda Alloc Size ", DEVICE),
    ("Cuda Calloc Size ", DEVICE),
    ("Cuda CallocAsync Size ", DEVICE),
    ("CuMem Alloc Size ", DEVICE),
    ("Persistent cudaMallocAsync work buf Size ", DEVICE),
    ("Cuda Host Alloc Size ", PINNED),
    ("CUMEM Host Alloc Size ", PINNED),
    ("CuMem Free Size ", FREE),
    ("CUMEM Host Free Size ", FREE),
    ("Mem Alloc Size ", OTHER),
    ("Ib Alloc Size ", OTHER),
];

impl<'a> Message<'a> {
    /// Reads a message; `None` if it is about anything else.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        if let Some((place, make, rest)) = sized(text) {
            let (bytes, pointer) = (number(rest)?, pointer_after(rest, "pointer ")?);
            return Some(make(place, pointer, bytes));
        }
        if let Some((before, rest)) = text.split_once("Allocated shareable buffer ") {
            let bytes = number(rest.split_once(" size ")?.1)?;
            return Some(Self::Device { place: place(before), pointer: pointer(rest)?, bytes });
        }
        if text.contains("Cuda Free pointer ") {
            return pointer_after(text, "Cuda Free pointer ").map(|pointer| Self::Free { pointer });
        }
        if text.contains(" bytes of shared memory in ") {
            return number(text.split_once("Allocated ")?.1).map(|bytes| Self::Shared { bytes });
        }
        communicator(text)
    }
}

fn sized(text: &str) -> Option<(&str, Make, &str)> {
    // Almost all lines of NCCL are about other things.
    text.contains(" Size ").then_some(())?;
    SIZES.iter().find_map(|&(words, make)| {
        let (before, rest) = text.split_once(words)?;
        Some((place(before), make, rest))
    })
}

/// Returns `transport/net.cc:377` out of `src/transport/net.cc:377 (sharedNetBuffersInit) `.
fn place(before: &str) -> &str {
    let place = before.split_ascii_whitespace().find(|word| word.contains(".cc:") || word.contains(".h:"));
    let place = place.unwrap_or_default();
    place.rsplit_once("src/").map_or(place, |(_, place)| place)
}

fn communicator(text: &str) -> Option<Message<'static>> {
    text.ends_with("Init COMPLETE").then_some(())?;
    let value = |name: &str| number(text.split_once(name)?.1).and_then(|number| u32::try_from(number).ok());
    Some(Message::Communicator { rank: value(" rank ")?, ranks: value(" nranks ")?, gpu: value(" nvmlDev ") })
}

/// Reads the digits with which a text begins.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

fn pointer_after(text: &str, words: &str) -> Option<u64> {
    pointer(text.split_once(words)?.1)
}

/// Reads `0x7fbe9c000000`; `(nil)` is no pointer.
fn pointer(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_its_form() {
        const POINTER: u64 = 0x7fbe_9c00_0000;
        let device = |place, bytes| Some(Message::Device { place, pointer: POINTER, bytes });
        let cases = [
            ("Cuda Alloc Size 33554432 pointer 0x7fbe9c000000", device("", 33_554_432)),
            ("transport/net.cc:377 Cuda Alloc Size 7 pointer 0x7fbe9c000000", device("transport/net.cc:377", 7)),
            ("Allocated shareable buffer 0x7fbe9c000000 size 10485760 ipcDesc 0x7fd0", device("", 10_485_760)),
            (
                "src/channel.cc:23 (initChannel) Cuda CallocAsync Size 768 pointer 0x7fbe9c000000 memType 0",
                device("channel.cc:23", 768),
            ),
            ("CuMem Alloc Size 2097152 pointer 0x7fbe9c000000 handle 7f", device("", 2_097_152)),
            ("a.cc:9 Cuda Alloc Size 8 pointer 0x7fbe9c000000 flags 3", device("a.cc:9", 8)),
            (
                "init.cc:1 Cuda Host Alloc Size 9 pointer 0x7fbe9c000000",
                Some(Message::Pinned { pointer: POINTER, bytes: 9 }),
            ),
            (
                "CUMEM Host Alloc Size 9 pointer 0x7fbe9c000000 handle 7f numa 0 dev 0 granularity 2",
                Some(Message::Pinned { pointer: POINTER, bytes: 9 }),
            ),
            (
                "Allocated 9637892 bytes of shared memory in /dev/shm/nccl-Ab",
                Some(Message::Shared { bytes: 9_637_892 }),
            ),
            ("Cuda Free pointer 0x7fbe9c000000", Some(Message::Free { pointer: POINTER })),
            ("CuMem Free Size 2 pointer 0x7fbe9c000000 handle 0x7f", Some(Message::Free { pointer: POINTER })),
            ("init.cc:310 Mem Alloc Size 32 pointer 0x7f081805a050", Some(Message::Other)),
            ("transport/net_ib.cc:657 Ib Alloc Size 21688 pointer 0x7f15f8268000", Some(Message::Other)),
            (
                "ncclCommInitRank comm 0x1 rank 3 nranks 8 cudaDev 3 nvmlDev 5 busId 1d0 commId 0x2 - Init COMPLETE",
                Some(Message::Communicator { rank: 3, ranks: 8, gpu: Some(5) }),
            ),
            (
                "comm 0x1 rank 3 nranks 8 cudaDev 3 busId 1d000 - Init COMPLETE",
                Some(Message::Communicator { rank: 3, ranks: 8, gpu: None }),
            ),
            ("net.cc:1 Cuda Alloc Size 536870912 pointer (nil)", None),
            ("comm 0x1 rank 3 nranks 8 cudaDev 3 nvmlDev 5 busId 1d0 commId 0x2 - Init START", None),
            ("Channel 00/1 : 0[0] -> 2[2] via P2P/CUMEM", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Message::of(text), expected, "{text}");
        }
    }
}
