//! Reads the XML of `nvidia-smi -q -x`, of every version of its DTD, as far as it goes.
//!
//! ```text
//! <nvidia_smi_log>
//!     <timestamp>Tue Dec 30 09:46:54 2025</timestamp>
//!     <gpu id="00000000:81:00.0">
//!         <product_name>NVIDIA RTX A5000</product_name>
//!         <fb_memory_usage> <total>24564 MiB</total> <used>22437 MiB</used> </fb_memory_usage>
//!         <processes> <process_info> <pid>17</pid> <used_memory>22428 MiB</used_memory> </process_info> </processes>
//! ```

use super::markup::{Event, Markup, attribute};
use super::record::{Field, Record};

const ROOT: &str = "nvidia_smi_log";
const ROOT_TAG: &str = "<nvidia_smi_log";

/// Most elements around a value; nvidia-smi nests seven.
const MOST_DEPTH: usize = 32;

/// Reader of the lines of any number of documents.
#[derive(Debug, Default)]
pub(super) struct QueryXml {
    document: Option<Document>,
}

/// Document that is being read.
#[derive(Debug, Default)]
struct Document {
    markup: Markup,
    record: Record,
    /// Names of the elements around the next text, from the root on.
    path: Vec<String>,
    /// Number of elements around the next text beyond [`MOST_DEPTH`].
    deeper: usize,
}

impl QueryXml {
    /// Reads a line and adds documents that have ended; returns true if the line is one of nvidia-smi.
    pub(super) fn line(&mut self, line: &str, done: &mut Vec<Record>) -> bool {
        let Some(document) = &self.document else {
            let start = line.find(ROOT_TAG);
            start.into_iter().for_each(|start| self.read(&line[start..], done));
            return start.is_some() || is_prolog(line);
        };
        // A document that broke off may have other lines behind it.
        let is_of_document = document.markup.is_in_tag() || line.contains('<');
        self.read(line, done);
        is_of_document
    }

    /// Returns the document that has not ended.
    pub(super) fn finish(self) -> Option<Record> {
        self.document.map(|document| Record { is_cut: true, ..document.record })
    }

    fn read(&mut self, mut line: &str, done: &mut Vec<Record>) {
        loop {
            let document = self.document.get_or_insert_default();
            let Some((event, rest)) = document.markup.next(line) else { return };
            line = rest;
            match event {
                Event::Start(name, _) if name == ROOT => done.extend(document.begin()),
                Event::Start(name, attributes) => document.start(name, &attributes),
                Event::End(name, _) if name == ROOT => {
                    done.extend(self.document.take().map(|document| document.record));
                    // What follows may be other lines, or the next document.
                    let Some(start) = line.find(ROOT_TAG) else { return };
                    line = &line[start..];
                }
                Event::End(name, text) => document.end(&name, &text),
            }
        }
    }
}

impl Document {
    /// Begins at the root; returns the document above it, which broke off if it has a root of its own.
    fn begin(&mut self) -> Option<Record> {
        let record = std::mem::take(&mut self.record);
        let has_root = !self.path.is_empty();
        self.path = vec![ROOT.to_owned()];
        self.deeper = 0;
        has_root.then_some(Record { is_cut: true, ..record })
    }

    fn start(&mut self, name: String, attributes: &str) {
        if self.path.len() == MOST_DEPTH {
            self.deeper += 1;
            return;
        }
        self.path.push(name);
        if self.is_at(&[ROOT, "gpu"]) {
            self.record.gpu(attribute(attributes, "id").unwrap_or_default());
        }
    }

    fn end(&mut self, name: &str, text: &str) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        if let Some(field) = self.field() {
            self.record.set(field, text);
        }
        if let Some(start) = self.path.iter().rposition(|open| open == name) {
            self.path.truncate(start);
        }
    }

    fn is_at(&self, path: &[&str]) -> bool {
        self.path.iter().eq(path)
    }

    /// Returns what the element that ends is.
    ///
    /// The whole path counts, since `fb_memory_usage` of a part of a GPU and `used` of other memory have the same names.
    fn field(&self) -> Option<Field> {
        let path: Vec<&str> = self.path.iter().skip(1).map(String::as_str).collect();
        Some(match path.as_slice() {
            ["timestamp"] => Field::Stamp,
            ["attached_gpus"] => Field::Attached,
            ["gpu", "product_name" | "prod_name"] => Field::Name,
            ["gpu", "fb_memory_usage" | "memory_usage", of] => match *of {
                "total" => Field::Total,
                "reserved" => Field::Reserved,
                "used" => Field::Used,
                _ => return None,
            },
            ["gpu", "processes" | "compute_processes", "process_info", of] => match *of {
                "pid" => Field::Pid,
                "process_name" => Field::ProcessName,
                "used_memory" => Field::ProcessUsed,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Returns true for what stands above the root.
fn is_prolog(line: &str) -> bool {
    line.contains("<!DOCTYPE nvidia_smi_log") || line.trim_start().starts_with("<?xml ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published in influxdata/telegraf: two GPUs, without parts that say nothing about memory.
    const QUERY: &str = include_str!("../../../../tests/data/logs/nvidia-smi590-query.xml");

    fn read(text: &str) -> Vec<Record> {
        let (mut reader, mut done) = (QueryXml::default(), Vec::new());
        text.lines().for_each(|line| {
            reader.line(line, &mut done);
        });
        done.extend(reader.finish());
        done
    }

    /// Returns the MiB in use of each GPU of each document, and whether the document broke off.
    fn used(text: &str) -> Vec<(Vec<Option<u64>>, bool)> {
        let used = |record: Record| record.gpus.iter().map(|gpu| gpu.used_bytes.map(|bytes| bytes >> 20)).collect();
        read(text)
            .into_iter()
            .map(|record| (record.is_cut, record))
            .map(|(is_cut, record)| (used(record), is_cut))
            .collect()
    }

    #[test]
    fn gpus_have_memory_and_processes() {
        let records = read(QUERY);
        let [Record { stamp: Some(stamp), attached: Some(2), gpus, is_cut: false }] = records.as_slice() else {
            panic!("{records:?}")
        };
        assert_eq!(stamp.epoch_ms(), Some(1_767_088_014_000));
        let mib = |bytes: Option<u64>| bytes.map(|bytes| bytes >> 20);
        let sizes = gpus.iter().map(|gpu| [gpu.total_bytes, gpu.reserved_bytes, gpu.used_bytes].map(mib));
        assert!(sizes.eq([[24_564, 450, 22_437], [24_564, 450, 17_253]].map(|sizes| sizes.map(Some))), "{gpus:?}");
        let process = &gpus[1].processes[0];
        assert_eq!((gpus[1].address.as_str(), process.pid, process.bytes >> 20), ("00000000:C1:00.0", 100_477, 17_246));
        assert_eq!(process.name, "/root/src/llama.cpp/build/bin/llama-server");
    }

    #[test]
    fn documents_follow_each_other_in_lines_of_any_kind() {
        let whole = used(QUERY);
        assert_eq!(used(&(QUERY.to_owned() + "step 1\n" + QUERY)), [whole.clone(), whole.clone()].concat());
        let minified: String = QUERY.lines().map(str::trim).collect();
        assert_eq!(used(&minified), whole);
        assert_eq!(used(&(minified.clone() + &minified)), [whole.clone(), whole].concat());
    }

    #[test]
    fn a_document_is_read_as_far_as_it_goes() {
        let whole = used(QUERY).remove(0).0;
        let of_second = QUERY.rfind("<gpu ").unwrap();
        assert_eq!(used(&QUERY[..of_second]), [(whole[..1].to_vec(), true)]);
        let in_value = QUERY.find("17253").unwrap() + 2;
        assert_eq!(used(&QUERY[..in_value]), [(vec![whole[0], None], true)]);
        assert_eq!(used(&(QUERY[..of_second].to_owned() + QUERY)), [(whole[..1].to_vec(), true), (whole, false)]);
        for end in 0..QUERY.len() {
            read(&QUERY[..end]);
        }
    }

    #[test]
    fn parts_of_a_gpu_are_not_the_gpu() {
        // influxdata/telegraf: an A100 of which a quarter has 19968 MiB.
        let part = "<mig_devices><mig_device><fb_memory_usage><total>19968 MiB</total><used>12 MiB</used></fb_memory_usage>\
                    </mig_device></mig_devices>";
        let text = format!(
            "<nvidia_smi_log><gpu id=\"0\">{part}<fb_memory_usage><used>50 MiB</used></fb_memory_usage>{part}</gpu>"
        );
        assert_eq!(used(&text), [(vec![Some(50)], true)]);
    }

    #[test]
    fn lines_behind_a_broken_document_are_left_to_others() {
        let mut reader = QueryXml::default();
        let mut is_of = |line: &str| reader.line(line, &mut Vec::new());
        assert!(is_of("<?xml version=\"1.0\" ?>") && is_of("<nvidia_smi_log>") && is_of("<gpu>"));
        assert!(!is_of("torch.OutOfMemoryError: CUDA out of memory."));
        assert!(is_of("</gpu></nvidia_smi_log>") && !is_of("<gpu>"));
    }
}
