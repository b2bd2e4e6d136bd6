//! Checks the division of GPUs by arithmetic.

use super::*;
use crate::reader::read_text;

const GIB: u64 = 1 << 30;

/// Reserves 10 GiB from second 100 on and `end` GiB from second 200 on.
fn snapshot(name: &str, end: u64) -> CardSnapshot {
    CardSnapshot {
        name: name.to_owned(),
        device: 0,
        end_bytes: end * GIB,
        changes: vec![(100_000_000, 10 * GIB), (200_000_000, end * GIB)],
        end_us: Some(200_000_000),
    }
}

fn log(text: &str) -> (String, Log) {
    ("smi.log".to_owned(), read_text(text))
}

const SMI: &str = "\
==============NVSMI LOG==============
Timestamp : Thu Jan  1 00:03:20 1970
Attached GPUs : 1
GPU 00000000:07:00.0
    FB Memory Usage
        Total : 81920 MiB
        Reserved : 1024 MiB
        Used : 79872 MiB
";

const PROCESSES: &str = "    Processes
        Process ID : 17
            Used GPU Memory : 43008 MiB
        Process ID : 18
            Used GPU Memory : 32768 MiB
        Process ID : 19
            Used GPU Memory : 2048 MiB
";

const NCCL: &str = "node:17:9 [0] NCCL INFO transport/net.cc:656 Cuda Alloc Size 1073741824 pointer 0x7d0000000000\n";

/// Returns the owners in GiB.
fn parts(shares: &CardShares) -> Vec<(&str, u64)> {
    let owners = shares.owners.as_ref().expect(&shares.text);
    assert_eq!(owners.parts.iter().map(|part| part.bytes).sum::<u64>(), owners.capacity_bytes, "{owners:?}");
    owners.parts.iter().map(|part| (part.name.as_str(), part.bytes / GIB)).collect()
}

#[test]
fn snapshots_nccl_and_processes_share_a_gpu() {
    let snapshots = [snapshot("a.pickle", 40), snapshot("b.pickle", 30)];
    let [shares] = &card_shares(&snapshots, &[log(&format!("{SMI}{PROCESSES}{NCCL}"))])[..] else { panic!() };
    let expected = [
        ("a.pickle", 40),
        ("b.pickle", 30),
        ("NCCL", 1),
        ("CUDA contexts and libraries of these processes", 3),
        ("other processes", 2),
        ("the driver and what it does not list", 2),
        ("the driver, reserved", 1),
        ("free", 1),
    ];
    assert_eq!(parts(shares), expected);
    let text = "GPU 0, 78.0 GiB of 80.0 GiB in use: a.pickle 40.0 GiB, b.pickle 30.0 GiB, outside PyTorch 8.00 GiB: NCCL \
                1.00 GiB, CUDA contexts and libraries of these processes 3.00 GiB, other processes 2.00 GiB, the driver and \
                what it does not list 2.00 GiB. nvidia-smi in smi.log measured what was in use, the snapshots what PyTorch had \
                reserved at that moment, NCCL's log what it allocated; the last part is the remainder.";
    assert_eq!(shares.text, text);
}

#[test]
fn without_processes_there_is_one_remainder() {
    let [shares] = &card_shares(&[snapshot("a.pickle", 40)], &[log(SMI)])[..] else { panic!() };
    let expected = [
        ("a.pickle", 40),
        ("CUDA contexts, libraries and other processes", 38),
        ("the driver, reserved", 1),
        ("free", 1),
    ];
    assert_eq!(parts(shares), expected);
    // The processes are those of others if none has as much as the snapshot.
    let few = PROCESSES.replace("43008", "1024").replace("32768", "1024");
    let shares = &card_shares(&[snapshot("a.pickle", 40)], &[log(&format!("{SMI}{few}"))])[0];
    assert_eq!(parts(shares), expected);
}

#[test]
fn the_moment_is_that_of_the_first_end() {
    let text = SMI.replace("00:03:20", "00:01:50").replace("79872", "20480") + SMI;
    let mut early = snapshot("a.pickle", 40);
    early.end_us = Some(110_000_000);
    let late = snapshot("b.pickle", 40);
    let shares = &card_shares(&[early.clone(), late.clone()], &[log(&text)])[0];
    assert_eq!(parts(shares)[..2], [("a.pickle", 10), ("b.pickle", 10)], "20 GiB were in use then");
    // A clock of another time zone is not trusted.
    let shares = &card_shares(&[late], &[log(&SMI.replace("Thu Jan  1 00", "Thu Jan  1 08"))])[0];
    assert!(shares.text.contains("at their ends"), "{}", shares.text);
    assert_eq!(parts(shares)[0], ("b.pickle", 40));
}

#[test]
fn more_than_is_in_use_is_not_of_this_gpu() {
    let snapshots = [snapshot("a.pickle", 40), snapshot("b.pickle", 39)];
    let [shares] = &card_shares(&snapshots, &[log(SMI)])[..] else { panic!() };
    assert!(shares.owners.is_none() && shares.text.contains("reserved 79.0 GiB in the snapshots"), "{}", shares.text);
}

#[test]
fn an_error_states_the_gpu_as_well() {
    let error = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 80.00 \
                 GiB of which 1.00 GiB is free.\n";
    let [shares] = &card_shares(&[snapshot("a.pickle", 40)], &[log(error)])[..] else { panic!() };
    assert_eq!(parts(shares)[1..], [("CUDA contexts, libraries and other processes", 39), ("free", 1)]);
    assert!(shares.text.contains("The last out-of-memory error of smi.log measured"), "{}", shares.text);
    let other = error.replace("GPU 0", "GPU 1");
    assert_eq!(card_shares(&[snapshot("a.pickle", 40)], &[log(&other)]), []);
}

#[test]
fn the_only_gpu_of_both_is_the_same() {
    let row = |gpu: u32| format!("index, memory.used [MiB], memory.total [MiB]\n{gpu}, 79872 MiB, 81920 MiB\n");
    let shares = card_shares(&[snapshot("a.pickle", 40)], &[log(&row(3))]);
    assert_eq!(shares.len(), 1, "CUDA_VISIBLE_DEVICES=3");
    let two = row(3) + "4, 79872 MiB, 81920 MiB\n";
    assert_eq!(card_shares(&[snapshot("a.pickle", 40)], &[log(&two)]), []);
}

#[test]
fn nccl_of_several_machines_is_left_out() {
    let two = format!("{SMI}{NCCL}{}", NCCL.replace("node:", "other:"));
    let shares = &card_shares(&[snapshot("a.pickle", 40)], &[log(&two)])[0];
    assert!(!shares.text.contains("NCCL"), "{}", shares.text);
}
