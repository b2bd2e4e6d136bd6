//! Tests the reader of logs of host memory, on logs of every tool.

use super::*;
use crate::reader::read_text;
use crate::{Log, LogReader, log_report};
use shared::base::Severity;

fn read(text: &str) -> HostLog {
    read_text(text).host
}

fn aux(pid: u32, rss_kib: u32, cpu: &str, command: &str) -> String {
    format!("ml {pid} 99.5 {:.1} 987654 {rss_kib} pts/0 Rl+ 10:12 {cpu} {command}\n", f64::from(rss_kib) / 10_486.0)
}

#[test]
fn the_loop_of_date_and_ps() {
    let mut text = String::new();
    for second in 0..3 {
        text += &format!("Mon Nov 23 15:46:5{second} UTC 2026\n");
        text += &aux(17, 100_000 + second * 1000, "0:01", "python train.py");
        text += &aux(18, 50_000, "0:01", "python train.py");
    }
    let log = read(&text);
    assert_eq!((log.clock, log.form, log.diagnostics.len()), (Clock::Dates, HostForm::Ps, 0));
    assert_eq!(log.times_ms, [1_795_448_810_000, 1_795_448_811_000, 1_795_448_812_000]);
    assert_eq!(log.processes[0].rss_kib, [100_000, 101_000, 102_000]);
    assert_eq!(log.processes[1].samples, [0, 1, 2]);
    let total = log.total.unwrap();
    let share = total.bytes as f64 / (1_048_600.0 * 1024.0);
    assert!(total.source == TotalSource::Inferred && (0.99..1.01).contains(&share), "{share}");
    for size in [1, 7, 64] {
        let mut reader = LogReader::default();
        text.as_bytes().chunks(size).for_each(|chunk| reader.push(chunk));
        assert_eq!(reader.finish().host, log);
    }
}

/// Output of a real loop over a training with three workers, which live for an epoch each.
const LOOP: &str = include_str!("../../../../tests/data/logs/procps4-ps-loop.txt");

/// Prints the samples of the loop as another one does, which `print` is given the minute and second and the rows of.
fn looped(print: impl Fn(&str, &[&str]) -> String) -> HostLog {
    let mut samples: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in LOOP.lines() {
        match line.strip_prefix("Fri Nov 27 00:").and_then(|rest| rest.strip_suffix(" UTC 2026")) {
            Some(time) => samples.push((time, Vec::new())),
            None => samples.last_mut().unwrap().1.push(line),
        }
    }
    read(&samples.iter().map(|(time, rows)| print(time, rows) + "\n").collect::<String>())
}

fn single_spaced(row: &str) -> String {
    row.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn joined(rows: &[&str]) -> String {
    rows.iter().map(|row| single_spaced(row)).collect::<Vec<_>>().join(" ")
}

/// Returns the processes of more than a few samples with their sizes.
fn lasting(log: &HostLog) -> Vec<(u32, &[u32])> {
    let lasting = log.processes.iter().filter(|process| process.samples.len() > 8);
    lasting.map(|process| (process.pid, &process.rss_kib[..])).collect()
}

type Print<'a> = &'a dyn Fn(&str, &[&str]) -> String;

const AUX_HEAD: &str = "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND";

#[test]
fn loops_that_print_the_time_before_rows_are_read_like_those_that_print_it_above() {
    let expected = read(LOOP);
    assert_eq!((expected.clock, expected.diagnostics.len(), expected.times_ms.len()), (Clock::Dates, 0, 30));
    let dates: [&dyn Fn(&str) -> String; 15] = [
        &|time| format!("27/11/2026 00:{time}"),
        &|time| format!("11/27/26-00:{time}"),
        &|time| format!("20261127-00{}", time.replace(':', "")),
        &|time| format!("Fri Nov 27 00:{time} UTC 2026"),
        &|time| format!("Fri Nov 27 12:{time} AM UTC 2026"),
        &|time| format!("Fri 27 Nov 00:{time} UTC 2026"),
        &|time| format!("Fr 27. Nov 00:{time} UTC 2026"),
        &|time| format!("ven. 27 nov. 2026 00:{time} UTC"),
        &|time| format!("Пт 27 ноя 2026 00:{time} UTC"),
        &|time| format!("2026年 11月 27日 金曜日 00:{time} UTC"),
        &|time| format!("2026-11-27T00:{time}+00:00"),
        &|time| format!("2026-11-27 00:{time}"),
        &|time| format!("[2026-11-27 00:{time}]"),
        &|time| format!("2026-11-27 00:{time}:"),
        &|time| {
            let (minute, second) = time.split_once(':').unwrap();
            let of = |text: &str| text.parse::<u64>().unwrap();
            (1_795_737_600 + of(minute) * 60 + of(second)).to_string()
        },
    ];
    for date in dates {
        let each = |time: &str, row: &str| format!("{} {row}", date(time));
        let loops: [(&str, Print<'_>); 6] = [
            ("all in one line", &|time, rows| format!("{} {}", date(time), joined(rows))),
            ("the first", &|time, rows| format!("{} {}", date(time), rows.join("\n"))),
            ("each row", &|time, rows| rows.iter().map(|row| each(time, row)).collect::<Vec<_>>().join("\n")),
            ("above", &|time, rows| format!("{}\n{}", date(time), joined(rows))),
            ("below a head", &|time, rows| format!("{} {AUX_HEAD}\n{}", date(time), rows.join("\n"))),
            ("behind a head", &|time, rows| format!("{} {} {}", date(time), single_spaced(AUX_HEAD), joined(rows))),
        ];
        for (place, print) in loops {
            assert_eq!(looped(print), expected, "{place}: {}", date("43:21"));
        }
    }
}

#[test]
fn what_stands_before_rows_may_be_a_time_of_day_or_none() {
    let expected = read(LOOP);
    let timed = looped(|time, rows| format!("00:{time} {}", joined(rows)));
    assert_eq!((timed.clock, &timed.processes), (Clock::TimeOfDay, &expected.processes));
    let untimed = looped(|_, rows| joined(rows));
    assert_eq!((untimed.clock, lasting(&untimed)), (Clock::Samples, lasting(&expected)));
    for before in ["trainer-1  | ", "00h43 | ", "[pod/train-0/main] ", "27 de noviembre, 43m: ", "{\"log\":\""] {
        let each = |_: &str, rows: &[&str]| rows.iter().map(|row| format!("{before}{row}\n")).collect::<String>();
        let found = looped(each);
        assert_eq!((found.clock, lasting(&found)), (Clock::Samples, lasting(&expected)), "{before}");
    }
}

/// The clock ticks while a loop prints a time before each row.
#[test]
fn rows_of_one_sample_may_have_two_times() {
    let expected = read(LOOP);
    let ticking = looped(|time, rows| {
        let (minute, second) = time.split_once(':').unwrap();
        let second = second.parse::<u32>().unwrap() * 3 % 60;
        let at = |row: usize| second + u32::from(row >= rows.len() / 2);
        let minute = minute.parse::<u32>().unwrap() * 3 + time[3..].parse::<u32>().unwrap() * 3 / 60;
        let line = |(row, text): (usize, &&str)| {
            format!("[2026-11-27 {:02}:{:02}:{:02}] {text}", minute / 60, minute % 60, at(row))
        };
        rows.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    });
    assert_eq!(lasting(&ticking), lasting(&expected));
    assert!(ticking.times_ms.len() <= expected.times_ms.len() + 4, "{:?}", ticking.times_ms);
}

#[test]
fn columns_of_ones_own_may_be_joined_behind_their_head() {
    let expected = read(LOOP);
    let figures = |log: &HostLog| {
        let of = |one: &Process| (one.pid, one.command.clone(), one.samples.clone(), one.rss_kib.clone());
        log.processes.iter().map(of).collect::<Vec<_>>()
    };
    for (head, columns) in [
        ("PID PPID RSS CMD", "{pid} 1 {rss} "),
        ("USER PID PPID %MEM RSS ELAPSED COMMAND", "{user} {pid} 1 0.1 {rss} 00:11 "),
    ] {
        let own = |row: &&str| {
            let cells: Vec<&str> = row.split_ascii_whitespace().collect();
            let columns = columns.replace("{user}", cells[0]).replace("{pid}", cells[1]).replace("{rss}", cells[5]);
            columns + &cells[10..].join(" ")
        };
        let log = looped(|time, rows| {
            let rows: Vec<String> = rows.iter().map(own).collect();
            format!("Fri Nov 27 00:{time} UTC 2026 {head} {}", rows.join(" "))
        });
        assert_eq!((log.clock, figures(&log)), (Clock::Dates, figures(&expected)), "{head}");
    }
}

#[test]
fn workers_climb_in_a_loop_that_joins_all_processes() {
    let log = looped(|time, rows| format!("Fri Nov 27 00:{time} UTC 2026 {}", joined(rows)));
    let climb = climb_of(&log).unwrap();
    assert_eq!((climb.family.name.as_str(), climb.falls, climb.rises.len()), ("python train.py", true, 3));
    assert_eq!((climb.climbers.len(), climb.at_once), (9, 3), "three workers in each of three epochs");
    assert!(climb.climbers.iter().all(|climber| climber.process != 0 && climber.rises == 1), "{:?}", climb.climbers);
}

#[test]
fn a_sample_begins_at_a_time_or_where_a_process_comes_again() {
    let block = aux(17, 1000, "0:01", "python a.py") + &aux(18, 2000, "0:01", "python a.py");
    let log = read(&block.repeat(3));
    assert_eq!((log.clock, log.times_ms.len()), (Clock::Samples, 3));
    assert_eq!(log.processes.iter().map(|process| process.samples.len()).collect::<Vec<_>>(), [3, 3]);
    let at = |second: u32| aux(17, 1000, "0:01", "python a.py") + &format!("2026-11-23 15:46:5{second}\n");
    let log = read(&(0..3).map(at).collect::<String>());
    assert_eq!((log.clock, log.times_ms.len()), (Clock::Dates, 3));
    // The rows count for the time before them; the first two share the first time.
    assert_eq!(log.processes[0].samples, [0, 1]);
}

#[test]
fn process_ids_are_used_again_and_clocks_jump() {
    let at = |time: &str, cpu: &str| format!("10:00:{time}\n{}", aux(17, 1000, cpu, "python a.py"));
    let log = read(&(at("01", "5:00") + &at("02", "5:01") + &at("03", "0:00")));
    assert_eq!(log.processes.len(), 2);
    assert_eq!(log.diagnostics[0].code, "host-process-id-reused");
    let at = |time: &str| format!("{time}\n{}", aux(17, 1000, "0:01", "python a.py"));
    let log = read(&(at("23:59:59") + &at("00:00:01")));
    assert_eq!(log.times_ms, [86_399_000, 86_401_000]);
    let back = read(&(at("10:00:05") + &at("10:00:01") + &at("10:00:02")));
    assert_eq!(back.times_ms, [36_005_000, 36_005_000, 36_006_000]);
    assert_eq!(back.diagnostics[0].code, "host-clock-set-back");
    let at = |second: u32| format!("2026-11-23 10:00:0{second},17,5000,a\n2026-11-23 10:00:0{second},18,5000,a\n");
    let log = read(&("time,pid,rss,cmd\n".to_owned() + &at(5) + &at(1) + &at(2)));
    assert_eq!(log.times_ms.len(), 3);
    assert_eq!(log.processes.iter().map(|process| &process.samples[..]).collect::<Vec<_>>(), [[0, 1, 2], [0, 1, 2]]);
}

#[test]
fn a_file_of_mprof_counts_mebibytes() {
    let text = "CMDLINE python train.py\nMEM 100.0 1795448810.0000\nCHLD 0 50.0 1795448810.0000\n\
                MEM 101.5 1795448810.1000\n";
    let log = read(text);
    assert_eq!((log.form, log.processes.len()), (HostForm::Mprof, 2));
    assert_eq!(log.processes[0].rss_kib, [102_400, 103_936]);
}

#[test]
fn what_is_not_understood_is_counted() {
    let text = aux(17, 1000, "0:01", "python a.py") + "grep: warning: stray \\\nbash: fork: retry\nstep 3\n";
    let log = read(&text);
    assert_eq!(log.diagnostics[0].count, 2);
    assert!(log.diagnostics[0].message.contains("grep: warning"), "{}", log.diagnostics[0].message);
    assert_eq!(log.steps, [(0, 3)]);
}

#[test]
fn dumps_of_proc_are_processes() {
    let log = read(include_str!("../../../../tests/data/logs/linux6.18-smaps_rollup.txt"));
    assert_eq!((log.form, log.clock, log.times_ms.len()), (HostForm::Proc, Clock::Dates, 2));
    let figures: Vec<_> = { log.processes.iter() }
        .map(|process| (process.pid, process.rss_kib[1], process.pss_kib[1], process.parts.as_deref().copied()))
        .map(|(pid, rss, pss, parts)| (pid, rss, pss, parts.and_then(|parts| parts.uss_bytes)))
        .collect();
    let unique = |clean: u64, dirty: u64| Some((clean + dirty) << 10);
    assert_eq!(figures[0], (29_500, 340_544, 324_807, unique(252, 317_444)));
    assert_eq!(figures[1], (29_544, 336_244, 321_860, unique(0, 314_900)));
    assert_eq!(figures[2], (29_545, 336_244, 321_846, unique(0, 314_872)));
    assert_eq!(log.diagnostics, []);
}

#[test]
fn locked_and_pinned_memory_is_told_where_there_is_some() {
    let status = |locked: u32, pinned: u32| {
        format!(
            "Name:\tpython\nPid:\t7\nPPid:\t1\nVmLck:\t{locked} kB\nVmPin:\t{pinned} kB\nVmRSS:\t900 kB\nRssAnon:\t800 kB\n"
        )
    };
    let pinned = |text: &str| read(text).processes[0].parts.as_deref().and_then(|parts| parts.pinned_bytes);
    assert_eq!(pinned(&status(3, 4)), Some(7 << 10));
    let sampled =
        "time,pid,ppid,rss,pss,uss,shmem,file,pinned,command\n1700000000,7,1,9000,9000,9,0,0,4096,python a b\n";
    assert_eq!(pinned(sampled), Some(4096));
}

/// Returns a rollup as the kernel prints it.
fn rollup(rss_kib: u32) -> String {
    format!(
        "55d0c1a00000-7ffd2a5f5000 ---p 00000000 00:00 0                          [rollup]\n\
         Rss:            {rss_kib} kB\nPss:            {rss_kib} kB\nPss_Dirty:            8 kB\n"
    )
}

#[test]
fn loops_name_processes_in_many_ways() {
    let by = |name: &dyn Fn(u32) -> String| -> String {
        (0..6).map(|line| format!("{}{}", name(17 + line % 2), rollup(1000 + line))).collect()
    };
    let names: [&dyn Fn(u32) -> String; 5] = [
        &|pid| format!("==> /proc/{pid}/smaps_rollup <==\n"),
        &|pid| format!("{pid}\n"),
        &|pid| format!("PID {pid}\n"),
        &|pid| format!("=== {pid} ===\n"),
        &|pid| format!("{pid}: python train.py\n"),
    ];
    for name in names {
        let log = read(&by(name));
        let found: Vec<_> = log.processes.iter().map(|process| (process.pid, &process.pss_kib[..])).collect();
        assert_eq!(found, [(17, &[1000, 1002, 1004][..]), (18, &[1001, 1003, 1005])], "{}", name(17));
        assert_eq!(log.diagnostics, [], "{}", name(17));
    }
    let of_grep =
        |pid: u32| format!("/proc/{pid}/status:VmRSS:\t    1234 kB\n/proc/{pid}/status:RssAnon:\t    999 kB\n");
    let log = read(&(of_grep(17) + &of_grep(18) + &of_grep(17)));
    let found: Vec<_> = log.processes.iter().map(|process| (process.pid, process.rss_kib.len())).collect();
    assert_eq!((found, log.times_ms.len()), (vec![(17, 2), (18, 1)], 2));
}

#[test]
fn processes_without_names_are_told_apart_by_their_addresses() {
    let date = |second: u32| format!("2026-11-23 15:46:5{second}\n");
    let one = read(&(date(0) + &rollup(1000) + &date(1) + &rollup(1001)));
    assert_eq!((one.processes[0].rss_kib.as_slice(), one.diagnostics.len()), (&[1000, 1001][..], 0));
    let forked = read(&(date(0) + &rollup(1000) + &rollup(2000) + &date(1) + &rollup(1001) + &rollup(2001)));
    let found: Vec<_> = forked.processes.iter().map(|process| &process.rss_kib[..]).collect();
    assert_eq!(found, [[1000, 1001], [2000, 2001]]);
    assert_eq!((forked.diagnostics[0].code, forked.diagnostics[0].count), ("host-process-unnamed", 4));
}

#[test]
fn mappings_add_up() {
    let mapping = |start: u32, name: &str| {
        format!("{start:08x}-7ffd2a5f5000 rw-p 00000000 fe:00 247749    {name}\nSize: 12 kB\nRss: 12 kB\nPss: 6 kB\n")
    };
    let one = mapping(1, "/dev/shm/torch_1_2") + &mapping(2, "") + &mapping(3, "/dev/shm/torch_3_4 (deleted)");
    let log = read(&format!("/proc/17/smaps\n{one}/proc/18/smaps\n{one}"));
    assert_eq!(log.processes.iter().map(|process| process.rss_kib[0]).collect::<Vec<_>>(), [36, 36]);
    let found: Vec<_> =
        log.mappings.iter().map(|one| (one.name.as_str(), one.rss_bytes >> 10, one.pss_bytes >> 10)).collect();
    assert_eq!(found, [("/dev/shm", 48, 24), ("anonymous", 24, 12)]);
    let unnamed = read(&one.repeat(2));
    assert_eq!(unnamed.processes[0].rss_kib, [36, 36], "a lower address begins another dump");
}

/// The figures of `free` in pytorch/pytorch#5902, whose loop has no times.
#[test]
fn free_has_the_memory_of_the_machine() {
    let head = "              total        used        free      shared  buff/cache   available\n";
    let rows = [[5_909_424, 56_381_080], [9_803_196, 52_479_628], [12_532_152, 49_751_232]];
    let text: String = rows
        .map(|[used, available]| {
            format!("{head}Mem:  62880028 {used} 55600892 95508 1369712 {available}\nSwap: 0 0 0\n")
        })
        .concat();
    let log = read(&text);
    assert_eq!((log.form, log.times_ms.len(), log.machine.total_bytes), (HostForm::Free, 3, Some(62_880_028 << 10)));
    assert_eq!(log.machine.available_bytes, rows.map(|[_, available]| available << 10));
    assert_eq!(log.diagnostics, []);
    let rounded =
        read(&format!("{head}Mem:           1.0Ti        41Gi       961Gi       280Mi       4.0Gi       961Gi\n"));
    assert_eq!(rounded.machine.used_bytes(), [45 << 30]);
}

/// One moment of one machine with 24,684,092 KiB, printed by procps 4.0 with several options.
#[test]
fn units_of_free_are_found() {
    let total = |row: &str| {
        let log = read(&format!("{row}\nSwap:  0  0  0\n{row}\n"));
        let code = log.diagnostics.first().map(|one| one.code);
        (log.machine.total_bytes.unwrap() >> 10, log.machine.available_bytes[0] >> 10, code)
    };
    let kib = "Mem:        24684092     2376876    17086280       20088     5756844    22307216";
    assert_eq!(total(kib), (24_684_092, 22_307_216, None));
    let bytes = "Mem:     25276510208  2433921024 17496350720    20570112  5895008256 22842589184";
    assert_eq!(total(bytes), (24_684_092, 22_307_216, None));
    let mib = "Mem:           24105        2321       16685          19        5621       21784";
    assert_eq!(total(mib), (24_105 << 10, 21_784 << 10, Some("host-unit-assumed")));
    let small = "Mem:            4045        3761         284         145         220        1991";
    assert_eq!(total(small), (4045 << 10, 1991 << 10, Some("host-unit-assumed")));
    for (command, unit_kib) in
        [("$ free -m", 1 << 10), ("~# free", 1), ("while true; do free -g; sleep 5; done", 1 << 20)]
    {
        assert_eq!(total(&format!("{command}\n{small}")), (4045 * unit_kib, 1991 * unit_kib, None));
    }
    assert_eq!(total(&format!("memory is free - but\n{small}")).2, Some("host-unit-assumed"));
    let gib = "Mem:              23           2          16           0           5          21";
    assert_eq!(total(gib), (23 << 20, 21 << 20, Some("host-unit-assumed")));
    let human = "Mem:            23Gi       2.3Gi        16Gi        19Mi       5.5Gi        21Gi";
    assert_eq!(total(human), (23 << 20, 21 << 20, None));
    let wide = "Mem:        24684092     2377024    17086280       20088       93952     5662892    22307068";
    assert_eq!(total(wide), (24_684_092, 22_307_068, None));
}

#[test]
fn old_versions_of_free_meminfo_and_top_have_what_is_available() {
    let log = read(
        "             total       used       free     shared    buffers     cached\nMem:      16333852   15963856     \
         369996     100000     247520    9163320\n-/+ buffers/cache:    6553016    9780836\nSwap:      2047996        \
         400    2047596\n",
    );
    let available = 369_996 + 247_520 + 9_163_320 - 100_000;
    assert_eq!((log.machine.available_bytes[0], log.machine.swap_bytes[0]), (available << 10, 400 << 10));
    assert_eq!(log.diagnostics, []);
    let meminfo = read(
        "1795448812\nMemTotal: 100 kB\nMemFree: 8 kB\nMemAvailable: 60 kB\nActive(anon): 5 kB\nHugePages_Total: 0\n\
         1795448813\nMemTotal: 100 kB\nMemFree: 8 kB\nMemAvailable: 50 kB\nSwapTotal: 9 kB\nSwapFree: 2 kB\n",
    );
    assert_eq!(meminfo.machine.available_bytes, [60 << 10, 50 << 10]);
    assert_eq!((meminfo.machine.swap_bytes[1], meminfo.diagnostics.len()), (7 << 10, 0));
    let top = read(
        "top - 10:12:01 up 1 day\nMiB Mem :  24105.5 total,  16685.0 free\n\
         MiB Swap:   2048.0 total,   2000.0 free,     48.0 used.  22680.5 avail Mem\n",
    );
    assert_eq!((top.machine.available_bytes[0], top.machine.swap_bytes[0]), (45_361 << 19, 48 << 20));
}

#[test]
fn the_table_of_memory_monitor_has_pss() {
    let log = read(include_str!("../../../../tests/data/logs/psutil7-memory-maps.txt"));
    assert_eq!((log.form, log.clock, log.processes.len()), (HostForm::Psutil, Clock::Elapsed, 3));
    assert_eq!((log.times_ms.len(), log.diagnostics.len()), (22, 0));
    // psutil has 332,563,456 bytes in the last sample, which the table rounds to a tenth of a MiB.
    let last_bytes = u64::from(log.processes[0].pss_kib[21]) << 10;
    assert!(last_bytes.abs_diff(332_563_456) < 1 << 17, "{last_bytes}");
    let climb = climb_of(&log).unwrap();
    assert!(!climb.falls && climb.has_pss && climb.climbers.len() == 3);
}

#[test]
fn tables_of_programs_have_columns_of_many_names() {
    let rss = |text: &str| {
        let log = read(text);
        let codes: Vec<&str> = log.diagnostics.iter().map(|one| one.code).collect();
        (log.clock, log.processes[0].rss_kib.clone(), codes)
    };
    let decimal = rss("time,rss_mb\n0.0,512\n1.5,513.5\n");
    assert_eq!(decimal, (Clock::Elapsed, vec![524_288, 525_824], vec!["host-unit-decimal"]));
    assert_eq!(rss("step,RSS (MiB)\n1,512\n2,513\n"), (Clock::Samples, vec![524_288, 525_312], vec![]));
    let german = "Zeit;PID;rss_kib\n2026-11-23 10:00:00;17;1048576,0\n";
    assert_eq!(rss(german), (Clock::Samples, vec![1 << 20], vec![]));
    let bytes = "timestamp,pid,name,rss\n2026-11-23 10:00:00,17,python,1073741824\n2026-11-23 10:00:01,17,python,nan\n";
    assert_eq!(rss(bytes), (Clock::Dates, vec![1 << 20], vec![]));
    let unlikely = rss("time,rss\n1795448812,512.5\n1795448813,513.5\n");
    assert_eq!(unlikely.2, ["host-unit-unlikely"]);
}

/// In the form of `run.history(stream="system").to_csv()`, and of the export of a chart.
#[test]
fn weights_and_biases_exports_system_metrics() {
    let log = read(
        ",_runtime,_timestamp,system.memory_percent,system.proc.memory.availableMB,system.proc.memory.rssMB\n\
         0,15.0,1795448812.1,20.0,412345.6,2577.5\n1,30.0,1795448827.1,25.0,386574.0,\n",
    );
    assert_eq!((log.form, log.clock), (HostForm::Wandb, Clock::Dates));
    assert_eq!(log.times_ms, [1_795_448_812_100, 1_795_448_827_100]);
    assert_eq!(log.processes[0].rss_kib, [2_639_360], "an empty cell is no sample");
    let total = log.total.unwrap();
    assert!((total.bytes >> 20).abs_diff(515_432) <= 1 && total.source == TotalSource::Inferred, "{total:?}");
    assert_eq!(log.machine.available_bytes[1], 386_574 << 20);
    let chart = read(
        "\"Relative Time (Process)\",\"a - system/proc.memory.rssMB\",\"a - system/proc.memory.rssMB__MIN\",\
         \"b - system/proc.memory.rssMB\"\n\"15\",\"2048.5\",\"1\",\"\"\n\"30\",\"2049\",\"1\",\"7\"\n",
    );
    assert_eq!((chart.clock, chart.times_ms.as_slice()), (Clock::Elapsed, &[15_000, 30_000][..]));
    let found: Vec<_> =
        chart.processes.iter().map(|process| (process.command.as_str(), process.rss_kib.len())).collect();
    assert_eq!(found, [("a", 2), ("b", 1)]);
}

#[test]
fn a_gap_is_said() {
    let at = |second: i64| format!("{}\n{}", 1_795_448_812 + second, aux(17, 1000, "0:01", "python a.py"));
    let text: String = (0..10).chain(7200..7210).map(at).collect();
    let [gap] = &read(&text).diagnostics[..] else { panic!() };
    assert_eq!((gap.code, gap.count), ("host-log-gap", 1));
    assert!(gap.message.starts_with("2 h 0 min without samples begins 9.00 s after the start"), "{}", gap.message);
    assert_eq!(read(&(0..200).map(|sample| at(sample * 60)).collect::<String>()).diagnostics, []);
}

#[test]
fn snapscope_host_samples_shared_memory() {
    let log = read(include_str!("../../../../tests/data/logs/snapscope-host-shared.csv"));
    assert_eq!(log.diagnostics, []);
    assert!(log.processes.iter().all(Process::has_kinds));
    let shared = &log.shared;
    let last = shared.samples.last().unwrap();
    assert_eq!((shared.size_bytes, shared.files_so_far, last.new_files), (Some(25_276_510_208), 60, 60));
    assert_eq!((last.new_bytes, &shared.left), (240 << 20, &None));
    assert_eq!(unmapped(&log).unwrap().last(), Some(&(240 << 20)));
    let found = shared_climb(&log).unwrap();
    assert_eq!((found.climb.family.name.as_str(), found.unmapped_bytes), ("python shared_batches.py", 240 << 20));
    assert_eq!((climb_of(&log), shared_peak(&log)), (None, None));
}

/// A program that reads a file in chunks, by mprof.
#[test]
fn chunks_that_are_freed_accuse_nobody() {
    let rows = |grows: u32| -> String {
        let mib = |at: u32| 200 + at % 40 * 2 + at / 40 * grows;
        (0..400).map(|at| format!("MEM {}.5 {}\n", mib(at), 1_754_559_256 + at)).collect()
    };
    let titles = |grows: u32| -> Vec<(Severity, String)> {
        let found = log_report(&read_text(&rows(grows))).diagnosis.findings;
        assert!(found.iter().all(|one| !one.evidence.shows.contains("Process 0")), "{found:?}");
        found.into_iter().map(|one| (one.severity, one.title)).collect()
    };
    assert_eq!(titles(0), [(Severity::Info, "Host memory of main goes up and down by 72.0 MiB".to_owned())]);
    assert!(titles(40).iter().all(|(severity, _)| *severity == Severity::Warning));
}

#[test]
fn containers_have_limits() {
    let log = read(
        "CONTAINER ID   NAME     CPU %   MEM USAGE / LIMIT     MEM %   NET I/O\n88f32688b78c   ollama   0.00%   2.5GiB \
         / 15.5GiB      16.1%   1.92GB / 16.2MB\n22030b705436   train    0.00%   7.75GiB / 8GiB        96.9%   1.92GB \
         / 16.2MB\nCONTAINER           CPU %               MEM USAGE/LIMIT     MEM %               NET I/O\n\
         ollama              0.00%               3 GiB/15.5 GiB      19.3%               2.9 MiB/7 KiB\n",
    );
    let found: Vec<_> = log.containers.iter().map(|one| (one.name.as_str(), one.used_bytes >> 20)).collect();
    assert_eq!(found, [("Container train", 7936), ("Container ollama", 3072)]);
    let findings = crate::source::Source::part(&log).findings;
    assert_eq!(findings[0].title, "Container train uses 7.75 GiB of the 8.00 GiB that it may");
    assert_eq!(read("ollama 0.00% 3 GiB/15.5 GiB 19.3%\n").containers, []);
    let job =
        "Job ID: 42\nState: COMPLETED (exit code 0)\nMemory Utilized: 31.5 GB\nMemory Efficiency: 98.4% of 32.0 GB\n";
    let findings = crate::source::Source::part(&read(job)).findings;
    assert_eq!(findings[0].title, "Job 42 uses 31.5 GiB of the 32.0 GiB that it may");
}

#[test]
fn rows_of_df_are_samples_of_shared_memory() {
    let row = |used: &str, share: u32| format!("tmpfs                 16G  {used}   14G  {share}% /dev/shm\n");
    let log = read_text(&(row("31M", 1) + &row("2.1G", 14) + &row("16G", 97)));
    assert!(log.has_host());
    let found = log_report(&log).diagnosis.findings;
    assert_eq!(found[0].title, "/dev/shm is almost full: 16.0 GiB of 16.0 GiB are in use");
    assert!(found[0].evidence.shows.contains("It rose from 31.0 MiB in 3 samples"), "{:?}", found[0]);
    assert!(!read_text(&row("31M", 1)).has_host());
}

#[test]
fn three_lines_about_one_process_are_one_kill() {
    let log = read_text(
        "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=python,pid=6120,uid=0\n\
         Out of memory: Killed process 6120 (python) total-vm:9kB, anon-rss:11840236kB, file-rss:0kB, shmem-rss:0kB\n\
         oom_reaper: reaped process 6120 (python), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB\nKilled\n",
    );
    let titles: Vec<String> = log_report(&log).diagnosis.findings.into_iter().map(|one| one.title).collect();
    assert_eq!(titles, ["The kernel killed process 6120 (python) at 11.3 GiB: the machine is full"]);
}

#[test]
fn few_samples_that_rise_far_are_told() {
    let log = |last: u32| {
        let row = |minute: u32, kib: u32| {
            let share = f64::from(kib) / 656_000.0;
            format!("10:{minute:02}:00\nml 40211 101 {share:.1} 64590776 {kib} pts/1 Rl+ 10:00 5:10 python eval.py\n")
        };
        read_text(&(row(5, 9_838_412) + &row(10, 9_838_412 / 2 + last / 2) + &row(15, last)))
    };
    let titles = |log: &Log| log_report(log).diagnosis.findings.into_iter().map(|one| one.title).collect::<Vec<_>>();
    assert_eq!(titles(&log(42_460_112)), ["A process rises from 9.38 GiB to 40.5 GiB in 3 samples: process 40211"]);
    assert!(titles(&log(9_900_000)).is_empty());
    let worker = |pid: u32, kib: u32| {
        format!("ml {pid} 40.2 {:.1} 14110220 {kib} pts/2 Sl+ 13:59 0:41 python t.py\n", f64::from(kib) / 656_000.0)
    };
    let at =
        |hour: u32, kib: u32| format!("{hour}:00:00\n{}", (1..5).map(|pid| worker(pid, kib + pid)).collect::<String>());
    let row = |minute: u32, kib: u32| {
        format!(
            "09:{minute}\nsvc 2210 88.1 {:.1} 21455312 {kib} ? Sl 08:51 8:12 python serve.py\n",
            f64::from(kib) / 656_000.0
        )
    };
    let alone =
        read_text(&(10..15).map(|minute| row(minute, 4_182_344 + (minute - 10) * 1_300_000)).collect::<String>());
    assert_eq!((titles(&alone).len(), alone.host.times_ms[1] - alone.host.times_ms[0]), (1, 60_000));
    let rows = (0..6).map(|half: u32| {
        format!("{:02}:00:01\n  30412 {} 28441120 python serve.py\n", 8 + half, 6_120_448 + half * 1_224_192)
    });
    let cut = read_text(
        &("free: 32 GB\n$ ps -o pid,rss,vsz,cmd -p 30412 | tail -1\n".to_owned() + &rows.collect::<String>()),
    );
    assert_eq!((cut.host.processes.len(), cut.host.processes[0].rss_kib.len()), (1, 6));
    let workers = read_text(&(at(10, 1_153_440) + &at(11, 2_400_000) + &at(12, 3_489_016)));
    assert_eq!(titles(&workers), ["4 processes alike rise together from 4.40 GiB to 13.3 GiB in 3 samples"]);
}
