//! Starts some ranks of a world, each as torchrun would start it; the hook answers for the others.

use std::ffi::OsString;

use shared::base::format::counted;
use shared::job::Cards;

use super::launch::Variables;
use super::options::RunArgs;
use super::torchrun::{self, Single};
use crate::Failure;
use crate::config::ScriptConfig;

/// Ranks of a machine if nothing says how many.
const USUAL_PER_NODE: u64 = 8;

/// The ranks of a run.
#[derive(Debug)]
pub(super) struct World {
    size: u64,
    ranks: Vec<u64>,
    single: Single,
    /// True if the user says how many threads each rank has.
    has_threads: bool,
}

impl World {
    /// Returns the world that the options ask for, if they do.
    ///
    /// # Errors
    ///
    /// Returns an error if a rank is outside of the world, or if the command cannot be started rank by rank.
    pub(super) fn of(args: &RunArgs, config: &ScriptConfig) -> Result<Option<Self>, Failure> {
        let Some(size) = args.world else { return Ok(None) };
        let mut ranks = if args.ranks.is_empty() { vec![0] } else { args.ranks.clone() };
        ranks.sort_unstable();
        ranks.dedup();
        if let Some(rank) = ranks.iter().find(|rank| **rank >= size) {
            let message = format!("rank {rank} is outside of a world of {}", counted(size, "rank"));
            return Err(Failure::new(message, format!("name ranks from 0 to {}", size - 1)));
        }
        let has_threads = config.own("OMP_NUM_THREADS").is_some();
        Ok(Some(Self { size, ranks, single: torchrun::single(&args.command, config.own("PATH"))?, has_threads }))
    }

    pub(super) fn command(&self) -> &[OsString] {
        &self.single.command
    }

    /// Returns the cards of one machine: one card stands for as many as the machine has ranks.
    ///
    /// # Errors
    ///
    /// Returns an error if there are fewer cards than ranks on a machine.
    pub(super) fn cards(&self, cards: &Cards) -> Result<Cards, Failure> {
        let wanted = self.per_node(cards);
        match &cards.0[..] {
            [card] => Ok(Cards(vec![card.clone(); usize::try_from(wanted).unwrap_or(usize::MAX)])),
            several if several.len() as u64 >= wanted => Ok(cards.clone()),
            several => {
                let message = format!("a machine has {wanted} ranks and {}", counted(several.len() as u64, "card"));
                Err(Failure::new(message, "name one card for all ranks, or as many as torchrun's --nproc-per-node"))
            }
        }
    }

    /// Returns the number of ranks on a machine.
    fn per_node(&self, cards: &Cards) -> u64 {
        let of_cards = if cards.0.len() > 1 { cards.0.len() as u64 } else { USUAL_PER_NODE };
        self.single.per_node.unwrap_or(of_cards).clamp(1, self.size.min(64))
    }

    /// Returns the variables of each rank that runs, as torchrun sets them.
    pub(super) fn variables(&self, cards: &Cards) -> Vec<Variables> {
        let local = self.per_node(cards);
        self.ranks.iter().map(|rank| self.of_rank(*rank, local)).collect()
    }

    fn of_rank(&self, rank: u64, local: u64) -> Variables {
        let numbers = [
            ("RANK", rank),
            ("LOCAL_RANK", rank % local),
            ("WORLD_SIZE", self.size),
            ("LOCAL_WORLD_SIZE", local),
            ("GROUP_RANK", rank / local),
            ("GROUP_WORLD_SIZE", self.size.div_ceil(local)),
            ("ROLE_RANK", rank),
            ("ROLE_WORLD_SIZE", self.size),
            ("MASTER_PORT", 29_500),
            ("TORCHELASTIC_RESTART_COUNT", 0),
            ("TORCHELASTIC_MAX_RESTARTS", 0),
            // The watchdog's monitor asks the store from a thread of its own, also while Python ends.
            ("TORCH_NCCL_ENABLE_MONITORING", 0),
        ];
        let texts = [("ROLE_NAME", "default"), ("MASTER_ADDR", "127.0.0.1"), ("TORCHELASTIC_RUN_ID", "none")];
        let threads = (!self.has_threads).then(|| ("OMP_NUM_THREADS".into(), "1".into()));
        let numbers = numbers.into_iter().map(|(name, number)| (name.into(), number.to_string().into()));
        numbers.chain(texts.map(|(name, text)| (name.into(), text.into()))).chain(threads).collect()
    }

    /// Says what was run and what was not.
    pub(super) fn note(&self) -> String {
        let ranks: Vec<_> = self.ranks.iter().map(u64::to_string).collect();
        let these = if ranks.len() == 1 { "rank" } else { "ranks" };
        let torchrun = if self.single.is_changed { "; torchrun and its own options were left out" } else { "" };
        format!(
            "of a world of {}, {these} {} ran, each as if all others held what it holds{torchrun}",
            counted(self.size, "rank"),
            ranks.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        run: RunArgs,
    }

    fn world(words: &str) -> Result<World, String> {
        let cli = Cli::try_parse_from(words.split(' ')).map_err(|error| error.to_string())?;
        let config = ScriptConfig::from_environment().map_err(|error| error.to_string())?;
        World::of(&cli.run, &config).map_err(|error| error.to_string())?.ok_or_else(|| "no world".to_owned())
    }

    fn cards(text: &str) -> Cards {
        Cards::parse(text).expect("cards")
    }

    #[test]
    fn one_card_stands_for_those_of_a_machine() {
        let of = |words: &str, given: &str| {
            world(words).unwrap().cards(&cards(given)).map(|cards| cards.0.len()).map_err(|error| error.to_string())
        };
        assert_eq!(of("run --world 8 -- python a.py", "t4-16gb"), Ok(8));
        assert_eq!(of("run --world 64 -- torchrun --nproc-per-node 4 a.py", "t4-16gb"), Ok(4));
        assert_eq!(of("run --world 2 -- python a.py", "t4-16gb"), Ok(2));
        assert_eq!(of("run --world 64 -- python a.py", "4x t4-16gb"), Ok(4));
        assert!(of("run --world 8 -- torchrun --nproc-per-node 8 a.py", "4x t4-16gb").is_err());
    }

    #[test]
    fn a_rank_knows_its_machine() {
        let world = world("run --world 64 --ranks 63,7,7 -- python a.py").unwrap();
        let variables = world.variables(&cards("t4-16gb"));
        let of = |index: usize, name: &str| {
            let found = variables[index].iter().find(|(key, _)| key == name).expect("a variable");
            found.1.to_string_lossy().into_owned()
        };
        assert_eq!((of(0, "RANK"), of(1, "RANK"), variables.len()), ("7".into(), "63".into(), 2));
        assert_eq!(["LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE"].map(|name| of(1, name)), ["7", "7", "64"]);
        assert!(world.note().starts_with("of a world of 64 ranks, ranks 7, 63 ran, each as if"));
    }

    #[test]
    fn a_rank_outside_of_the_world_is_refused() {
        let refused = world("run --world 8 --ranks 0,8 -- python a.py").unwrap_err();
        assert!(refused.contains("rank 8 is outside of a world of 8 ranks"), "{refused}");
        assert!(world("run --ranks 0 -- python a.py").unwrap_err().contains("--world"));
    }
}
