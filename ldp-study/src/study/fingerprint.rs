//! What tells one study from another, and one text from another.

use super::{Comparison, Fidelity, Grid};
use serde::Serialize;

/// What the numbers of a study depend on, and nothing else: not on how anything is called, nor on what is drawn of them.
#[derive(Serialize)]
pub struct Identity<'s> {
    seed: u64,
    level: f64,
    /// The place of the protocol that the others are compared with.
    paired: Option<usize>,
    models: Vec<String>,
    estimators: Vec<Asked>,
    grids: &'s [Grid],
}

/// A protocol without its name.
#[derive(Serialize)]
struct Asked {
    spec: String,
    replications: u64,
    fidelity: Option<Fidelity>,
}

impl<'s> Identity<'s> {
    /// What a study's numbers depend on.
    pub fn of(study: &'s Comparison) -> Self {
        let asked = study.estimators.iter().map(|contestant| Asked {
            spec: contestant.spec.spec.to_string(),
            replications: contestant.replications,
            fidelity: contestant.fidelity,
        });
        Self {
            seed: study.seed,
            level: study.level,
            paired: study.paired.as_ref().and_then(|label| study.position(label)),
            models: study.models.iter().map(|named| named.spec.to_string()).collect(),
            estimators: asked.collect(),
            grids: &study.grids,
        }
    }
}

/// 53 bits that depend on every byte of a text: FNV-1a, finished by the mixer of SplitMix64. Every reader of JSON has whole
/// numbers of 53 bits, so a seed can be a hash.
pub fn hash(text: &str) -> u64 {
    const OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01B3;
    let mut word = text.bytes().fold(OFFSET, |word, byte| (word ^ u64::from(byte)).wrapping_mul(PRIME));
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (word ^ (word >> 31)) >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_because_seeds_are_made_of_it() {
        // Worked out by hand in another language, from the definitions of FNV-1a and SplitMix64.
        assert_eq!(hash(""), PINNED[0]);
        assert_eq!(hash("a"), PINNED[1]);
        assert_eq!(hash("one-stage:start=0"), PINNED[2]);
        assert!(hash("users=10") != hash("users=01") && hash("x").leading_zeros() >= 11);
    }

    const PINNED: [u64; 3] = [8_625_955_362_125_501, 96_858_892_993_156, 5_349_870_967_018_127];
}
