//! The whole `ldp` command with a third party's mechanism in it.
//!
//! The mechanism is the file `nearby.rs`; this one gives it a name. From then on it is on the same footing as those of the
//! framework:
//!
//! ```text
//! cargo run -- list mechanisms
//! cargo run -- fisher --model gaussian-scale --theta 2 --mechanism nearby:distance=1.5 --mechanism sign --epsilon 1
//! ```

mod nearby;

use ldp_catalog::{Catalog, Error, Key, KeyType, MechanismEntry, channel};
use nearby::Nearby;
use std::process::ExitCode;

const KEYS: &[Key] = &[
    Key::new("centre", KeyType::Number, "0", "where the interval has its middle"),
    Key::new("distance", KeyType::Number, "1", "how far it reaches to both sides"),
];

/// Everything that comes with the framework, and `nearby`.
fn catalog() -> Result<Catalog, Error> {
    let mut catalog = Catalog::builtin();
    catalog.register_mechanism(MechanismEntry::new(
        "nearby",
        "whether x is within a distance of the centre, by randomised response; 1 bit, exact",
        KEYS,
        |values, epsilon| channel(&Nearby::new(epsilon, values.number("centre")?, values.number("distance")?)?),
    ))?;
    Ok(catalog)
}

fn main() -> ExitCode {
    match catalog() {
        Ok(catalog) => ldp_cli::main_with(catalog),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::conformance::{check_channel, check_draws, check_epsilon, check_sampler};
    use ldp_core::model::GaussianScale;
    use ldp_core::{Bits, Epsilon, Finite, Group, Population, Tally};
    use ldp_simulate::conformance::check_marginal;
    use ldp_simulate::{Tallies, Users};

    fn question() -> Nearby {
        Nearby::new(Epsilon::new(1.0).unwrap(), 0.0, 1.5).unwrap()
    }

    /// The laws that every mechanism has to obey.
    #[test]
    fn all_laws_hold() -> Result<(), Box<dyn std::error::Error>> {
        let (question, inputs) = (question(), [-2.0, -1.5, 0.0, 1.5, 7.0]);
        check_epsilon(&question, Epsilon::new(1.0)?)?;
        check_sampler(&question, &inputs, 1)?;
        check_channel(&question, &inputs, 1)?;
        check_draws(&question, &inputs)?;
        Ok(check_marginal(&question, &GaussianScale, 2.0, 1)?)
    }

    /// A million users, one by one and as one draw of their tally: six standard deviations of a share of a million.
    #[test]
    fn users_and_tallies_have_the_same_law() -> ldp_core::Result<()> {
        let (question, users) = (question(), 1_000_000);
        let group = Group { question: question.clone(), users };
        let (mut one_by_one, mut at_once, mut exact) = (Bits::default(), Bits::default(), [0.0; 2]);
        Users::new(&GaussianScale, 2.0, users, 1)?.answer(&group, &mut one_by_one)?;
        Tallies::new(&GaussianScale, 2.0, 1)?.answer(&group, &mut at_once)?;
        question.marginal(&GaussianScale, 2.0, &mut exact);
        for tally in [one_by_one, at_once] {
            let share = tally.ones() as f64 / tally.users() as f64;
            assert!((share - exact[1]).abs() < 0.003, "{share} is not {}", exact[1]);
        }
        Ok(())
    }

    /// The name is looked up, suggested, and asked for its information.
    #[test]
    fn the_command_knows_it() {
        let (catalog, epsilon) = (catalog().unwrap(), Epsilon::new(1.0).unwrap());
        let model = catalog.model(&"gaussian-scale".parse().unwrap()).unwrap();
        let (mechanism, spec) = catalog.mechanism(&"nearby:distance=1.5".parse().unwrap(), epsilon).unwrap();
        assert_eq!(spec, "nearby:centre=0,distance=1.5");
        assert!(mechanism.information(&model, 2.0).unwrap().value > 0.01);
        let slip = catalog.mechanism(&"neraby".parse().unwrap(), epsilon).err().unwrap();
        assert!(slip.to_string().contains("did you mean 'nearby'?"), "{slip}");
    }
}
