//! Tests the remedies of configs, with a scripted recorder and with the real one.

use testkit::repro::{Played, check_output};

/// Recorder that needs 2 GiB per sample, half of it with checkpointing; a loss in chunks fails.
const RECORDER: &str = r#"
job=$(echo "$job" | tr -d ' \n')
peak=$(($(echo "$job" | sed 's/.*"batch":\([0-9]*\).*/\1/') * 2147483648))
case "$job" in *'"checkpointing":{"every":1,'*) peak=$((peak / 2));; esac
case "$job" in *'"loss":{'*) exit 3;; esac
echo '{"type":"started","device":"Fake","memory_bytes":8589934592,"parameters":1234567,"steps":2}'
cp "$sample" "$output"
oom=null
case "$job" in *1048576MiB*) ;; *) [ "$peak" -le 8053063680 ] || oom='{"message":"CUDA out of memory.","step":0,"phase":"backward","module":"h.0","operation":""}';; esac
echo '{"type":"finished","steps":2,"peak_allocated_bytes":'$peak',"peak_reserved_bytes":'$peak',"oom":'$oom'}'
"#;

fn scripted(script: &str, batch: u64) -> Played {
    let played = Played::new(script);
    // Few remedies are left for it, so that the test is short.
    let config = format!(
        "model = \"gpt2\"\nbatch = {batch}\ncard = \"custom:8GiB\"\nkeep_outputs = false\nprecision = \"bf16\"\n\
         optimizer = \"sgd\"\noffload_activations = true\nallocator = \"expandable_segments:True\"\n"
    );
    std::fs::write(played.path("small.toml"), config).expect("room");
    played
}

#[test]
fn the_answer_comes_with_the_remedies_and_the_lines_or_what_is_missing() {
    let played = scripted(RECORDER, 7);
    let output = played.command().args(["fix", "small.toml"]).output().expect("the binary to start");
    let shown = [
        "It needs 14.0 GiB and custom:8GiB has 7.50 GiB: with checkpoint it fits, 7.00 GiB; largest batch 7\n",
        "moderate: a second forward pass of all layers, about ",
        "checkpointing = true\n",
        "without loss-chunks: its recording failed: the recorder ended without a result, with exit status 3",
    ];
    check_output(&output, 0, &shown, &["with checkpoint · 7.00 GiB reserved"]);
    let run = |played: &Played| played.command().args(["fix", "small.toml"]).output().expect("the binary to start");
    let expected = "nothing that was tried makes it fit; with checkpoint it takes 15.0 GiB";
    check_output(&run(&scripted(RECORDER, 15)), 0, &[expected], &[]);
    let failed = "error: the recorder ended without a result, with exit status 3";
    check_output(&run(&scripted("exit 3", 1)), 2, &[], &[failed]);
    let real = scripted(RECORDER, 1);
    std::fs::write(real.path("small.toml"), "model = \"gpt2\"\ndevice = \"cuda:0\"\n").expect("room");
    let says = "small.toml: line 2, column 1: device: remedies are tried on virtual GPUs only";
    check_output(&run(&real), 2, &[], &[says]);
}

#[cfg(target_arch = "x86_64")]
mod recorded {
    //! Tests with the real recorder on a small virtual card.

    use std::path::Path;

    use server::recording::fix::fix_config;
    use server::recording::repro::{Limits, run};
    use server::recording::sweep::{Audience, Outcome, Settings};
    use shared::job::RawJob;
    use testkit::repro::{Audience as Listener, built_recorder};

    struct Silent;

    impl Audience for Silent {
        fn finished(&self, _: &str, _: &Outcome) {}

        fn is_cancelled(&self) -> bool {
            false
        }
    }

    const MODEL: &str = "model = { preset = 'gpt2', layers = 4, hidden = 256, heads = 4, attention = 'eager' }\n\
        steps = 2\nsequence = 256\nbatch = 13\n";

    fn fits(config: &str, output: &Path) -> Option<u64> {
        let job = RawJob::from_toml(config).expect("a config").resolve().expect("a valid config");
        let recording = run(built_recorder(), &job, &Limits::default(), output, &mut Listener::default());
        let recording = recording.expect("a recording");
        recording.oom.is_none().then_some(recording.peak_reserved_bytes)
    }

    #[test]
    fn the_config_with_the_lines_fits_and_takes_what_is_said() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let settings = Settings { limits: Limits::default(), at_once: 2, keep: None, scratch: None };
        let config = format!("card = 'custom:1.3GiB'\n{MODEL}");
        let raw = RawJob::from_toml(&config).expect("a config");
        let report = fix_config(built_recorder(), &raw, &settings, &Silent).expect("a report");
        let output = folder.path().join("out.pickle");
        assert!(!report.baseline.fits && fits(&config, &output).is_none(), "{report:?}");
        let together = report.together.expect("a set");
        assert!(report.smallest_set.len() > 1, "{:?}", report.smallest_set);
        // Lines replace those of the config that have their keys.
        let key = |line: &str| line.split(" = ").next().map(str::to_owned);
        let kept = config.lines().filter(|line| !together.lines.iter().any(|added| key(added) == key(line)));
        let fixed: Vec<&str> = kept.chain(together.lines.iter().map(String::as_str)).collect();
        assert_eq!(fits(&fixed.join("\n"), &output), Some(together.figures.peak_reserved_bytes), "{fixed:?}");
        assert!(together.figures.fits && report.largest_batch >= Some(13), "{:?}", report.largest_batch);
        for remedy in &report.remedies {
            assert!(remedy.saves_bytes > 0 && !remedy.lines.is_empty(), "{remedy:?}");
            assert_eq!(remedy.figures.curve.iter().max(), Some(&remedy.figures.peak_live_bytes), "{}", remedy.name);
        }
        assert_eq!(report.at_peak.iter().map(|share| share.bytes).sum::<u64>(), report.baseline.peak_live_bytes);
    }
}
