//! Reads lines about the whole machine: its memory, killed processes, and the steps of the training.

use super::log::{Kill, Killer, Pressure, Total, TotalSource};
use shared::base::size;

/// Returns the memory of the machine, from a line of the head of `top` or of `snapscope host`.
pub(super) fn total(line: &str) -> Option<Total> {
    let of_group = line.strip_prefix("# limit of the control group: ").and_then(|rest| rest.strip_suffix(" bytes"));
    if let Some(bytes) = of_group {
        return Some(Total { bytes: bytes.parse().ok()?, source: TotalSource::ControlGroup });
    }
    total_bytes(line).map(|bytes| Total { bytes, source: TotalSource::Stated })
}

fn total_bytes(line: &str) -> Option<u64> {
    let line = line.trim();
    if let Some(bytes) = line.strip_prefix("# memory of the machine: ").and_then(|rest| rest.strip_suffix(" bytes")) {
        return bytes.parse().ok();
    }
    // MiB Mem : 257620.4 total,  1234.5 free, …; with a comma as decimal point in some locales.
    let (unit, rest) = line.split_once(' ')?;
    let unit_bytes = size::unit_bytes(unit)?;
    let rest = rest.trim_start().strip_prefix("Mem")?.trim_start_matches([' ', ':']);
    let (total, name) = rest.split_once(' ')?;
    name.trim_start().starts_with("total").then(|| size::cell(total.trim_end_matches('+'), unit_bytes)).flatten()
}

/// Reads a message about a process that was killed because memory ran out.
///
/// ```text
/// Out of memory: Killed process 123 (python) total-vm:9kB, anon-rss:8kB, file-rss:0kB, shmem-rss:1kB, …
/// earlyoom[7]: sending SIGTERM to process 123 uid 1000 "python": badness 302, VmRSS 10 MiB
/// ```
pub(super) fn kill(line: &str) -> Option<Kill> {
    by_kernel(line).or_else(|| by_earlyoom(line)).or_else(|| by_reason(line)).or_else(|| by_reaper(line))
}

/// Reads the line before that of the kernel, which pastes have alone: `oom-kill:constraint=CONSTRAINT_MEMCG,…,task=a,pid=3`.
fn by_reason(line: &str) -> Option<Kill> {
    let (_, rest) = line.split_once("oom-kill:constraint=")?;
    let (_, task) = rest.split_once(",task=")?;
    let (name, pid) = task.split_once(",pid=")?;
    let killer = if rest.starts_with("CONSTRAINT_MEMCG") { Killer::ControlGroup } else { Killer::Kernel };
    Some(Kill { pid: leading_number(pid)? as u32, name: name.to_owned(), rss_bytes: None, killer, sample: None })
}

/// Reads the line behind it: `oom_reaper: reaped process 21877 (python), now anon-rss:0kB, …`.
fn by_reaper(line: &str) -> Option<Kill> {
    let (pid, rest) = line.split_once("oom_reaper: reaped process ")?.1.split_once(" (")?;
    let (name, _) = rest.split_once("), now")?;
    let (pid, name) = (pid.parse().ok()?, name.to_owned());
    Some(Kill { pid, name, rss_bytes: None, killer: Killer::Kernel, sample: None })
}

fn by_earlyoom(line: &str) -> Option<Kill> {
    const WORDS: [&str; 3] = ["sending SIGTERM to process ", "sending SIGKILL to process ", "Killing process "];
    let (_, line) = line.split_once("earlyoom")?;
    let rest = WORDS.iter().find_map(|words| Some(line.split_once(words)?.1))?;
    let (pid, rest) = rest.split_once(' ')?;
    let name = rest.split(['"', '(', ')']).nth(1)?.to_owned();
    let rss_bytes = size::after(rest, "VmRSS ");
    Some(Kill { pid: pid.parse().ok()?, name, rss_bytes, killer: Killer::Earlyoom, sample: None })
}

fn by_kernel(line: &str) -> Option<Kill> {
    let (before, rest) = line.split_once("Killed process ")?;
    let (pid, rest) = rest.split_once(' ')?;
    // The name may have brackets of its own.
    let (name, rest) =
        rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(") ").or_else(|| rest.split_once(')')))?;
    let of = |key: &str| {
        let (_, value) = rest.split_once(key)?;
        let end = value.find("kB")?;
        value[..end].replace(',', "").parse::<u64>().ok()?.checked_mul(1 << 10)
    };
    let parts = ["anon-rss:", "file-rss:", "shmem-rss:"].into_iter().filter_map(of);
    Some(Kill {
        pid: pid.trim_end_matches(',').parse().ok()?,
        name: name.to_owned(),
        rss_bytes: parts.reduce(u64::saturating_add),
        killer: if before.contains("cgroup") { Killer::ControlGroup } else { Killer::Kernel },
        sample: None,
    })
}

/// Reads a line of the kernel's report on memory that ran out; returns true if it is one.
///
/// ```text
/// python invoked oom-killer: gfp_mask=0x200da, order=0, oom_adj=0
/// Task in /kubepods/… killed as a result of limit of /kubepods/…
/// memory: usage 1048576kB, limit 1048576kB, failcnt 189
/// Free swap  = 0kB
/// ```
pub(super) fn pressure(line: &str, pressure: &mut Pressure) -> bool {
    if let Some((before, _)) = line.split_once(" invoked oom-killer") {
        before.rsplit(' ').next().unwrap_or_default().clone_into(&mut pressure.asked_by);
    } else if let Some((_, usage)) = line.split_once("memory: usage ") {
        let limit = size::after::<u64>(usage, "limit ").filter(|limit| size::leading(usage) == Some(*limit));
        pressure.is_of_cgroup |= limit.is_some();
        pressure.limit_bytes = limit.or(pressure.limit_bytes);
    } else if ["killed as a result of limit of", "Memory cgroup stats for", "Memory cgroup out of memor"]
        .iter()
        .any(|words| line.contains(words))
    {
        pressure.is_of_cgroup = true;
    } else if let Some(bytes) = line.split_once("] shmem ").and_then(|(_, bytes)| bytes.trim().parse().ok()) {
        pressure.shared_bytes = bytes;
    } else if let Some((_, free)) = line.split_once("Free swap ") {
        pressure.is_swap_used_up = free.trim_start_matches(['=', ' ']).trim_end() == "0kB";
    } else {
        return false;
    }
    true
}

/// Returns the step that a line of the training itself names: `step 120`, `Step: 120/500`, `iter=7`, ` 120/500 [`.
pub(super) fn step(line: &str) -> Option<u64> {
    let lower = line.to_ascii_lowercase();
    for word in ["step", "iter", "iteration", "batch"] {
        for (start, _) in lower.match_indices(word) {
            let is_word = !lower[..start].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let rest = lower[start + word.len()..].trim_start_matches([' ', ':', '=', '[', '#']);
            if let Some(number) = leading_number(rest).filter(|_| is_word) {
                return Some(number);
            }
        }
    }
    // The bar of tqdm: `45%|████▌     | 120/500 [00:10<00:12, 9.2it/s]`.
    let (_, bar) = line.split_once("%|")?;
    let (_, counts) = bar.rsplit_once("| ")?;
    counts.contains('/').then(|| leading_number(counts.trim_start())).flatten()
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_machine_is_told_by_top() {
        assert_eq!(total_bytes("MiB Mem :   1024.0 total,  10.5 free,  600.0 used"), Some(1 << 30));
        assert_eq!(total_bytes("KiB Mem : 26380329+total, 1 free"), None);
        assert_eq!(total_bytes("GiB of memory"), None);
        assert_eq!(total_bytes("# memory of the machine: 123 bytes"), Some(123));
        let limit = Total { bytes: 99, source: TotalSource::ControlGroup };
        assert_eq!(total("# limit of the control group: 99 bytes"), Some(limit));
    }

    #[test]
    fn the_kernel_says_whom_it_killed() {
        let line = "[ 9.1] Out of memory: Killed process 4711 (python) total-vm:90kB, anon-rss:80kB, file-rss:4kB, \
                    shmem-rss:12kB, UID:0 pgtables:1kB oom_score_adj:0";
        let expected = Kill { pid: 4711, name: "python".into(), rss_bytes: Some(96 << 10), ..Kill::default() };
        assert_eq!(kill(line), Some(expected.clone()));
        let of_cgroup = line.replace("Out of memory", "Memory cgroup out of memory");
        assert_eq!(kill(&of_cgroup), Some(Kill { killer: Killer::ControlGroup, ..expected.clone() }));
        let of_brackets = line.replace("(python)", "((resolved))");
        assert_eq!(kill(&of_brackets).map(|kill| kill.name), Some("(resolved)".to_owned()));
        let early = "earlyoom[7]: sending SIGTERM to process 4711 uid 1000 \"python\": badness 302, VmRSS 10 MiB";
        let expected_early = Kill { rss_bytes: Some(10 << 20), killer: Killer::Earlyoom, ..expected.clone() };
        assert_eq!(kill(early), Some(expected_early.clone()));
        let victim = line.replace("(python)", "(earlyoom)");
        assert_eq!(kill(&victim).map(|kill| kill.killer), Some(Killer::Kernel));
        let older = "earlyoom[699]: Killing process 4711 (python)";
        assert_eq!(kill(older), Some(Kill { rss_bytes: None, ..expected_early }));
        let with_commas = line.replace("80kB", "80,000kB");
        assert_eq!(kill(&with_commas).and_then(|kill| kill.rss_bytes), Some((80_000 + 16) << 10));
        let cut = line.split_once(" total").unwrap().0;
        assert_eq!(kill(cut), Some(Kill { rss_bytes: None, ..expected }));
        assert_eq!(kill("Killed process x"), None);
        let reason =
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/a,task=pt_main_thread,pid=463120,uid=0";
        let killed = kill(reason).unwrap();
        assert_eq!(
            (killed.pid, killed.name.as_str(), killed.killer),
            (463_120, "pt_main_thread", Killer::ControlGroup)
        );
        let reaped = kill("oom_reaper: reaped process 21877 (python), now anon-rss:0kB, file-rss:0kB").unwrap();
        assert_eq!((reaped.pid, reaped.rss_bytes, reaped.killer), (21_877, None, Killer::Kernel));
    }

    #[test]
    fn the_kernel_says_what_is_full() {
        let told = |lines: &[&str]| {
            let mut told = Pressure::default();
            lines.iter().for_each(|line| assert!(pressure(line, &mut told), "{line}"));
            told
        };
        let of_group = told(&["kernel: memory: usage 2048kB, limit 2048kB, failcnt 189"]);
        assert_eq!((of_group.is_of_cgroup, of_group.limit_bytes), (true, Some(2 << 20)));
        assert!(told(&["[9.1] memory: usage 2048kB, limit 9007199254740988kB, failcnt 0"]).is_empty());
        let of_machine = told(&["kernel: [1.2] python invoked oom-killer: gfp_mask=0x2", "Free swap  = 0kB"]);
        assert_eq!((of_machine.asked_by.as_str(), of_machine.is_swap_used_up), ("python", true));
        assert!(told(&["Task in /a/b killed as a result of limit of /a"]).is_of_cgroup);
        assert!(!pressure("memory is used", &mut Pressure::default()));
    }

    #[test]
    fn a_training_names_its_steps() {
        for line in ["step 120 loss 0.3", "Epoch 1 | Step: 120/500", "[iter=120]", " 24%|██▍  | 120/500 [00:10<00:30]"]
        {
            assert_eq!(step(line), Some(120), "{line}");
        }
        for line in ["stepping 3", "timestep 4", "loss 0.3", "100%|███|", "batch_size 32"] {
            assert_eq!(step(line), None, "{line}");
        }
    }
}
