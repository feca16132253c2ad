//! One of the kernels alone, for whoever counts its instructions: `kernel NAME UNITS`, or `kernel features`.
//!
//! What is prepared is the same for any number of units, so that it drops out of the difference of two runs. One thread
//! and fixed seeds: every run executes the same instructions.

#![forbid(unsafe_code)]

use benches::protocols::Protocol;
use benches::question;
use ldp_bulk::Pack;
use ldp_bulk::{CipherRng, bits_of_packed};
use ldp_core::model::{Gaussian, Model};
use ldp_simulate::Fidelity;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use std::env;
use std::error::Error;

const SEED: u64 = 20_250_501;
/// Values that are privatised again and again: half a megabyte.
const VALUES: u64 = 1 << 16;
/// Replications that `liu` simulates side by side.
const LANES: u64 = 16;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Does so many units of a kernel and returns what it found, which depends on all of them.
fn kernel(name: &str, units: u64) -> Outcome<f64> {
    match name {
        "signs" => signs(units),
        "two-stage" => Ok(Protocol::two_stage(306, Fidelity::Tally)?.replicate(10_000, 0..units, SEED)?[0]),
        "liu" if units.is_multiple_of(LANES) => {
            Ok(Protocol::liu(Fidelity::Tally)?.replicate(units / LANES, 0..LANES, SEED)?[0])
        }
        "liu" => Err(format!("{units} users cannot be shared out among {LANES} replications").into()),
        _ => Err(format!("no kernel {name}: signs, two-stage, liu").into()),
    }
}

/// The share of ones among packed sign reports, with the generator that is there for bulk.
fn signs(users: u64) -> Outcome<f64> {
    let model = Gaussian::new(1.0)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let values: Vec<f64> = (0..VALUES).map(|_| model.sample(0.5, &mut rng)).collect();
    let (mut rng, mut words) = (CipherRng::seed_from_u64(SEED), Vec::with_capacity(VALUES as usize / 64));
    let (mut left, mut ones) = (users, 0);
    while left > 0 {
        let now = left.min(VALUES);
        words.clear();
        question().simulate_packed(&values[..now as usize], &mut rng, &mut words);
        ones += bits_of_packed(&words, now)?.ones();
        left -= now;
    }
    Ok(ones as f64 / users as f64)
}

/// What the processor says it can do, of what the code asks for; an emulated one may say less.
fn features() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return "AVX-512";
        }
        if is_x86_feature_detected!("avx2") {
            return "AVX2";
        }
    }
    "baseline"
}

fn main() -> Outcome<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    match &args[..] {
        [word] if word == "features" => println!("{}", features()),
        [name, units] => println!("{}", kernel(name, units.parse()?)?),
        _ => return Err("usage: kernel NAME UNITS, or kernel features".into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_does_what_it_says() {
        // The share of ones: τ Φ(1/2) plus that of the lies.
        let share = kernel("signs", 200_000).unwrap();
        assert!((share - (0.268_941 + 0.462_117 * 0.691_462)).abs() < 0.01, "{share}");
        // The sum of squared errors: n·MSE is 7.813 by exact summation, and its standard error 0.08 here.
        let mse = kernel("two-stage", 20_000).unwrap() / 20_000.0;
        assert!((10_000.0 * mse - 7.813).abs() < 0.5, "{mse}");
        let mse = kernel("liu", 16 * 20_000).unwrap() / 16.0;
        // Sixteen replications: n·MSE is 8.7, and its standard error 3.
        assert!((0.8..24.7).contains(&(20_000.0 * mse)), "{mse}");
    }

    #[test]
    fn the_same_units_are_the_same_work() {
        let counted = include_str!("../../counts/results.md");
        for name in ["signs", "two-stage", "liu"] {
            assert!(counted.contains(&format!("\n| `{name}` | ")), "{name} was not counted");
            assert_eq!(kernel(name, 1600).unwrap(), kernel(name, 1600).unwrap(), "{name}");
        }
        assert!(kernel("liu", 17).is_err() && kernel("dance", 16).is_err());
    }
}
