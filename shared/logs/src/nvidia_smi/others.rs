//! Reads what the tools of other vendors print by default, and gpustat: amd-smi, rocm-smi, npu-smi and xpu-smi.
//!
//! ```text
//! | 0000:05:00.0    AMD Instinct MI300X | 0 %      40 °C   0           140/750 W |     amd-smi
//! |   0       0       0        SPX/NPS1 | 0 %        N/A          285/196592 MB |
//! |    0    2427396  rvs                    2.0 MB    2.0 GB     2.5 GB    0.0 % |
//! VRAM_MEM: 10.1 GB     below GPU, NAME and PID         amd-smi process
//! GPU[0]          : VRAM Total Used Memory (B): 91881472                               rocm-smi --showmeminfo vram
//! Device  Node  IDs  …  PwrCap  VRAM%  GPU%                                            rocm-smi
//! 0       2     0x74a1,   47056  71.0°C  …  750.0W  43%    100%
//! | 0     910B3               | OK            | 101.8       43        0    / 0     |   npu-smi info
//! | 0                         | 0000:C1:00.0  | 0           0    / 0  3318 / 65536 |
//! | 0       0                 | 1712733       | sglangschedul      | 48954         |
//! | GPU Memory Used (MiB)       | 24                                             |     xpu-smi stats
//! [0] Tesla P100-PCIE-16GB | 27'C,   0 % |   103 / 16384 MB | user(97M)                gpustat
//! ```

use super::query_text::MOST_CARDS;
use super::table::Row;
use crate::printed::OomApi;
use hashbrown::HashMap;
use shared::base::size;

#[derive(Debug, Default)]
pub(super) struct OtherTools {
    /// Tool of the boxed table that goes on, and the interface of its devices.
    tool: Option<(&'static str, OomApi)>,
    /// Number, if a row has it, and name of the device to which the next row belongs.
    named: (Option<u32>, String),
    /// Process to which the next lines belong.
    pid: Option<u32>,
    /// Total memory by device, where it comes before the memory in use.
    totals: HashMap<u32, u64>,
    /// True below the head of the short table of rocm-smi.
    has_shares: bool,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) tool: (&'static str, OomApi),
    pub(super) row: Row<'static>,
    /// Percentage of the memory in use, where the tool does not print bytes.
    pub(super) share: Option<f64>,
    pub(super) lists_none: bool,
}

impl OtherTools {
    /// Reads the next line; `None` if no tool prints such a line.
    pub(super) fn line(&mut self, line: &str) -> Option<Said> {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("GPU[") {
            return self.of_rocm(rest);
        }
        // People quote a single row.
        let bare = line.trim_matches('`');
        if bare.starts_with('[') {
            return gpustat(bare);
        }
        match line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) {
            Some(row) => self.boxed(row),
            None => self.of_process(line).or_else(|| self.shares(line)),
        }
    }

    /// Reads a line of amd-smi about a process, of which the last has its memory.
    fn of_process(&mut self, line: &str) -> Option<Said> {
        let (key, value) = line.split_once(": ")?;
        match key {
            "GPU" => self.named.0 = value.parse().ok(),
            "NAME" => value.clone_into(&mut self.named.1),
            "PID" => self.pid = value.parse().ok(),
            "VRAM_MEM" => {
                let (pid, name) = (self.pid.take()?, std::mem::take(&mut self.named.1));
                let row = Row { gpu: self.named.0, ..Row::of_process(pid, name, size::leading(value)?) };
                return Some(Said { tool: ("amd-smi", OomApi::Hip), row, ..Said::default() });
            }
            _ => {}
        }
        None
    }

    fn of_rocm(&mut self, rest: &str) -> Option<Said> {
        let (gpu, rest) = rest.split_once(']')?;
        let (gpu, (key, value)) = (gpu.parse().ok()?, rest.trim_start_matches([' ', '\t', ':']).split_once(':')?);
        let mut said = Said { tool: ("rocm-smi", OomApi::Hip), ..Said::default() };
        said.row.gpu = Some(gpu);
        match key.trim() {
            "VRAM Total Memory (B)" if self.totals.len() < MOST_CARDS => {
                self.totals.insert(gpu, value.trim().parse().ok()?);
            }
            "VRAM Total Used Memory (B)" => {
                said.row.used_bytes = Some(value.trim().parse().ok()?);
                said.row.total_bytes = self.totals.get(&gpu).copied();
            }
            "GPU Memory Allocated (VRAM%)" => said.share = Some(value.trim().parse().ok()?),
            _ => {}
        }
        Some(said)
    }

    /// Reads the short table of rocm-smi, whose last columns but one are shares of the memory.
    fn shares(&mut self, line: &str) -> Option<Said> {
        let mut said = Said { tool: ("rocm-smi", OomApi::Hip), ..Said::default() };
        if line.contains("VRAM%") && line.contains("GPU%") {
            self.has_shares = true;
            return Some(said);
        }
        // Nearly all lines of a log end here.
        if !self.has_shares || !line.ends_with('%') {
            return None;
        }
        let cells: Vec<&str> = line.split_ascii_whitespace().collect();
        let [gpu, .., share, _] = cells.as_slice() else { return None };
        (said.row.gpu, said.share) = (Some(gpu.parse().ok()?), Some(share.strip_suffix('%')?.parse().ok()?));
        Some(said)
    }

    fn boxed(&mut self, row: &str) -> Option<Said> {
        const TOOLS: [(&str, &str, OomApi); 4] = [
            ("AMD-SMI ", "amd-smi", OomApi::Hip),
            ("npu-smi ", "npu-smi", OomApi::Npu),
            ("XPU-SMI ", "xpu-smi", OomApi::Xpu),
            ("Device ID ", "xpu-smi", OomApi::Xpu),
        ];
        if let Some((_, name, api)) = TOOLS.iter().find(|(title, ..)| row.contains(title)) {
            self.tool = Some((name, *api));
        } else if row.contains("NVIDIA-SMI") {
            self.tool = None;
        }
        let tool = self.tool?;
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let mut said = Said { tool, lists_none: row.contains("No running processes"), ..Said::default() };
        match tool.1 {
            OomApi::Hip => _ = self.of_amd(&cells, &mut said.row),
            OomApi::Npu => _ = self.of_npu(&cells, &mut said.row),
            // The table of newer versions is that of nvidia-smi.
            _ => self.of_xpu(&cells, &mut said.row)?,
        }
        Some(said)
    }

    fn of_amd(&mut self, cells: &[&str], row: &mut Row<'static>) -> Option<()> {
        let words: Vec<&str> = cells[0].split_ascii_whitespace().collect();
        let first = *words.first()?;
        if first.len() == 12 && first.contains(':') {
            self.named = (None, words[1..].join(" "));
        } else if let Some((used, total)) = cells.last()?.strip_suffix(" MB").and_then(last_pair) {
            (row.gpu, row.name) = (Some(first.parse().ok()?), std::mem::take(&mut self.named.1).into());
            (row.used_bytes, row.total_bytes) = (Some(used << 20), Some(total << 20));
        } else {
            let (gpu, pid) = (first.parse().ok()?, words.get(1)?.parse().ok()?);
            let sized = |place: usize| {
                let unit = words.get(place + 1).filter(|unit| size::unit_bytes(unit).is_some())?;
                Some((place, size::cell(&format!("{}{unit}", words[place]), 1)?))
            };
            // GTT, which is memory of the host, VRAM, and both.
            let mut sizes = (2..words.len()).filter_map(sized);
            let ((start, _), (_, vram_bytes)) = (sizes.next()?, sizes.next()?);
            *row = Row { gpu: Some(gpu), ..Row::of_process(pid, words[2..start].join(" "), vram_bytes) };
        }
        Some(())
    }

    fn of_npu(&mut self, cells: &[&str], row: &mut Row<'static>) -> Option<()> {
        let (first, rest) = cells[0].split_once(' ').unwrap_or((cells[0], ""));
        let number: u32 = first.parse().ok()?;
        match cells {
            [_, pid, name, bytes, ..] => {
                let (pid, bytes) = (pid.parse().ok()?, bytes.parse::<u64>().ok()? << 20);
                *row = Row { gpu: Some(number), ..Row::of_process(pid, (*name).to_owned(), bytes) };
            }
            [_, _, last] if rest.trim().parse::<u32>().is_ok() || rest.is_empty() => {
                let (used, total) = last_pair(last).filter(|(_, total)| *total > 0)?;
                let (npu, name) = std::mem::take(&mut self.named);
                // An NPU with two chips has a device for each, by its physical number.
                (row.gpu, row.name) = (rest.trim().parse().ok().or(npu), name.into());
                (row.used_bytes, row.total_bytes) = (Some(used << 20), Some(total << 20));
            }
            [..] => self.named = (Some(number), rest.trim().to_owned()),
        }
        Some(())
    }

    fn of_xpu(&mut self, cells: &[&str], row: &mut Row<'static>) -> Option<()> {
        let [key, value] = cells else { return None };
        match *key {
            "Device ID" => self.named.0 = value.parse().ok(),
            "GPU Memory Used (MiB)" => {
                let used_bytes = value.parse::<f64>().ok()? * (1 << 20) as f64;
                (row.gpu, row.used_bytes) = (self.named.0, Some(used_bytes as u64));
            }
            _ => {}
        }
        Some(())
    }
}

/// Returns the last `A / B` or `A/B` of a text.
fn last_pair(text: &str) -> Option<(u64, u64)> {
    let (before, total) = text.rsplit_once('/')?;
    let used = before.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?;
    Some((used.parse().ok()?, total.trim().parse().ok()?))
}

/// Reads `[0] NAME | 27'C, 0 % | 103 / 16384 MB | …`.
fn gpustat(line: &str) -> Option<Said> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [named, _, memory, ..] = cells.as_slice() else { return None };
    let (used, total) = last_pair(memory.strip_suffix("MB")?.trim_end())?;
    let (gpu, name) = named.strip_prefix('[')?.split_once(']')?;
    let row = Row {
        gpu: Some(gpu.trim().parse().ok()?),
        name: name.trim().to_owned().into(),
        used_bytes: Some(used << 20),
        total_bytes: Some(total << 20),
        ..Row::default()
    };
    Some(Said { tool: ("gpustat", OomApi::Cuda), row, ..Said::default() })
}

#[cfg(test)]
mod tests {
    use crate::nvidia_smi::{CardLog, CardReader};
    use crate::source::{LineReader as _, Source as _, read_lines};

    fn read(text: &str) -> CardLog {
        let mut reader = CardReader::default();
        text.lines().filter(|line| !line.starts_with('+')).for_each(|line| assert!(reader.line(line), "{line}"));
        reader.finish()
    }

    /// Describes a GPU in a line; sizes are in MiB.
    fn card(log: &CardLog, index: u32) -> String {
        let card = log.cards.iter().find(|card| card.index == index).unwrap();
        let mut text = format!("{}: {}", card.name, card.peak_bytes() >> 20);
        card.total_bytes.into_iter().for_each(|bytes| text += &format!(" of {}", bytes >> 20));
        for process in &card.processes {
            text += &format!(", {} {} {}", process.pid, process.name, process.bytes >> 20);
        }
        text
    }

    #[test]
    fn amd_smi_lists_processes() {
        let text = "GPU: 0\n    PROCESS_INFO:\n        NAME: N/A\n        PID: 1693982\n        MEMORY_USAGE:\n            VRAM_MEM: 10.1 GB\n";
        assert_eq!(card(&read_lines::<CardReader>(text), 0), ": 10342, 1693982 N/A 10342");
    }

    #[test]
    fn amd_smi() {
        let log = read(
            "+------------------------------------------------------------------------------+\n\
             | AMD-SMI 26.2.0+021c61fc      amdgpu version: 6.14.14  ROCm version: 7.1.0    |\n\
             | Platform: Linux Baremetal                                                    |\n\
             |-------------------------------------+----------------------------------------|\n\
             | BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |\n\
             | GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |\n\
             |=====================================+========================================|\n\
             | 0000:03:00.0 AMD Radeon RX 7900 XTX | 29 %     93 °C   0           280/327 W |\n\
             |   0       0     N/A             N/A | 100 %   51.76            7608/24560 MB |\n\
             |-------------------------------------+----------------------------------------|\n\
             | 0000:0c:00.0 AMD Radeon RX 7900 XTX | 0 %      43 °C   0            20/327 W |\n\
             |   1       1     N/A             N/A | 0 %      0.0 %             30/24560 MB |\n\
             +-------------------------------------+----------------------------------------+\n\
             +------------------------------------------------------------------------------+\n\
             | Processes:                                                                   |\n\
             |  GPU        PID  Process Name          GTT_MEM  VRAM_MEM  MEM_USAGE     CU % |\n\
             |==============================================================================|\n\
             |    0     250235  python3.12             7.9 MB    3.8 GB     4.1 GB  N/A     |\n\
             |    0     250236  python3.12             7.9 MB    2.6 GB     2.8 GB  N/A     |\n\
             +------------------------------------------------------------------------------+\n",
        );
        let shared = "AMD Radeon RX 7900 XTX: 7608 of 24560, 250235 python3.12 3891, 250236 python3.12 2662";
        assert_eq!([card(&log, 0), card(&log, 1)], [shared, "AMD Radeon RX 7900 XTX: 30 of 24560"]);
        let part = log.part();
        assert_eq!(part.title, "amd-smi: 2 GPUs, 1 sample");
        assert!(part.findings[0].advice.contains("`HIP_VISIBLE_DEVICES`"), "{:?}", part.findings);
    }

    #[test]
    fn npu_smi() {
        let log = read(
            "+------------------------------------------------------------------------------------------------+\n\
             | npu-smi 24.1.rc1                 Version: 24.1.rc1                                             |\n\
             | NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n\
             | Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n\
             +===========================+===============+====================================================+\n\
             | 0     910B2C              | OK            | 86.8        35                0    / 0             |\n\
             | 0                         | 0000:66:00.0  | 0           0    / 0          59356/ 65536         |\n\
             +===========================+===============+====================================================+\n\
             | 6     910B2C              | OK            | 103.1       37                0    / 0             |\n\
             | 0                         | 0000:19:00.0  | 0           0    / 0          3351 / 65536         |\n\
             | NPU     Chip              | Process id    | Process name             | Process memory(MB)      |\n\
             | 0       0                 | 1712733       | sglangschedul            | 56954                   |\n\
             | No running processes found in NPU 6                                                            |\n",
        );
        assert_eq!(card(&log, 0), "910B2C: 59356 of 65536, 1712733 sglangschedul 56954");
        assert_eq!(card(&log, 6), "910B2C: 3351 of 65536");
        assert_eq!(log.part().title, "npu-smi: 2 NPUs, 1 sample");
        let log = read(
            "| npu-smi 26.0.rc2                 Version: 26.0.rc2                                             |\n\
             | Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n\
             | 0     Ascend910           | OK            | 162.6       34                0    / 0             |\n\
             | 0     0                   | 0000:9D:00.0  | 0           0    / 0          3419 / 65536         |\n\
             | 0     Ascend910           | OK            | -           34                0    / 0             |\n\
             | 1     1                   | 0000:9F:00.0  | 0           0    / 0          2874 / 65536         |\n",
        );
        assert_eq!([card(&log, 0), card(&log, 1)], ["Ascend910: 3419 of 65536", "Ascend910: 2874 of 65536"]);
    }

    #[test]
    fn rocm_smi() {
        let log = read(
            "GPU[0]\t\t: VRAM Total Memory (B): 17163091968\nGPU[0]\t\t: VRAM Total Used Memory (B): 8589934592\n\
             GPU[0]\t\t: Card Series: \t\tAMD Radeon RX 6800\n",
        );
        assert_eq!(card(&log, 0), ": 8192 of 16368");
        let rows = "device,GPU use (%),VRAM Total Memory (B),VRAM Total Used Memory (B),Card Series,Card Model\n\
                    card0,0,21458059264,27856896,Radeon RX 7900 XT,0x744c\ncard1,0,21458059264,57856896,Raphael,0x744c\n";
        let log = read(rows);
        assert_eq!(card(&log, 1), "Raphael: 55 of 20464");
    }

    #[test]
    fn shares_without_bytes_are_told() {
        let log = read(
            "Device  Node  IDs              Temp        Power     Partitions    SCLK     Fan  Perf  PwrCap  VRAM%  GPU%  \n\
             0       2     0x74a1,   47056  71.0°C      682.0W    NPS1, SPX, 0  1653Mhz  0%   auto  750.0W  43%    100%   \n\
             1       3     0x74a1,   47057  71.0°C      682.0W    NPS1, SPX, 0  1653Mhz  0%   auto  750.0W  97%    100%   \n",
        );
        let part = log.part();
        assert_eq!(part.title, "rocm-smi: 2 GPUs, 43 % and 97 % of their memory in use");
        assert!(!log.is_empty() && part.notices[0].message.contains("rocm-smi --showmeminfo vram"), "{part:?}");
    }

    #[test]
    fn xpu_smi() {
        let log = read(
            "Timestamp, DeviceId, GPU Utilization (%), GPU Memory Utilization (%), GPU Memory Used (MiB)\n\
             14:15:20.490,    0,  N/A, 0.10, 1717.52\n14:15:20.490,    1,  N/A, 0.30, 49.21\n\
             14:15:21.490,    0,  N/A, 0.10, 2717.52\n",
        );
        assert_eq!(
            ([card(&log, 0), card(&log, 1)], log.cards[0].samples.len()),
            ([": 2717", ": 49"].map(str::to_owned), 2)
        );
        let log = read("| Device ID                   | 1      |\n| GPU Memory Used (MiB)       | 24     |\n");
        assert_eq!([card(&log, 1), log.part().title], [": 24", "xpu-smi: 1 GPU, 1 sample"]);
        let log = read(
            "|            Intel XPU-SMI v2.0    Driver: 96E1802BAF7F7118043A89B    Level Zero: 1.32.0     |\n\
             |   0  Intel(R) Arc(TM) A770   Off   | 0000:03:00.0      Off    |               Disabled    |\n\
             | N/A               N/A  45W / 190W  | 3642MiB / 16288MiB       |      N/A       Default    |\n",
        );
        assert_eq!(card(&log, 0), "Intel(R) Arc(TM) A770: 3642 of 16288");
    }

    #[test]
    fn gpustat() {
        let log = read("`[0] Tesla P100-PCIE-16GB | 27'C,   0 % |   103 / 16384 MB | user(97M)`\n");
        assert_eq!(card(&log, 0), "Tesla P100-PCIE-16GB: 103 of 16384");
        assert_eq!(log.part().title, "gpustat: 1 GPU, 1 sample");
    }
}
