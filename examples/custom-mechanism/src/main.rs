//! A third party's mechanism, with privacy level, simulation and conformance from the framework.
//!
//! The mechanism is the file `nearby.rs`; this one puts it to use.

mod nearby;

use ldp_core::conformance::{check_channel, check_draws, check_epsilon, check_sampler};
use ldp_simulate::conformance::check_marginal;
use ldp_simulate::{Tallies, Users};
use ldp_core::model::GaussianScale;
use ldp_core::{Bits, Epsilon, Finite, Group, Mechanism, Population, Tally};
use nearby::Nearby;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let epsilon = Epsilon::new(1.0)?;
    let question = Nearby::new(epsilon, 0.0, 1.5)?;
    println!("epsilon, computed from the weights: {}", question.epsilon());

    // The laws that every mechanism has to obey.
    let inputs = [-2.0, -1.5, 0.0, 1.5, 7.0];
    check_epsilon(&question, epsilon)?;
    check_sampler(&question, &inputs, 1)?;
    check_channel(&question, &inputs, 1)?;
    check_draws(&question, &inputs)?;
    check_marginal(&question, &GaussianScale, 2.0, 1)?;
    println!("conformance: all laws hold");

    // A million users, one by one and as one draw of their tally: the same law.
    let users = 1_000_000;
    let group = Group { question: question.clone(), users };
    let (mut one_by_one, mut at_once) = (Bits::default(), Bits::default());
    Users::new(&GaussianScale, 2.0, users, 1)?.answer(&group, &mut one_by_one)?;
    Tallies::new(&GaussianScale, 2.0, 1)?.answer(&group, &mut at_once)?;
    let mut exact = [0.0; 2];
    question.marginal(&GaussianScale, 2.0, &mut exact);
    println!("share of «nearby» reports: exact {:.5}", exact[1]);
    for (name, tally) in [("users", one_by_one), ("tally", at_once)] {
        let share = tally.ones() as f64 / tally.users() as f64;
        println!("  at {name} fidelity {share:.5}");
        // Six standard deviations of a share of a million.
        assert!((share - exact[1]).abs() < 0.003, "{name} fidelity is off");
    }
    Ok(())
}
