//! The points of a comparison, one at a time: a grid of millions is never held in memory.

use super::grid::SETTING;
use super::{Comparison, Fidelity, Grid, Value, hash};
use ldp_catalog::{Catalog, Key, Spec};

/// A study, seen as a list of points in its canonical order: grids, then models, then protocols, as they are listed.
///
/// Points are numbered by their place in the whole product. Points that coincide with an earlier one are no points of the
/// study, so that there are gaps in the numbers.
pub struct Outline<'s> {
    catalog: &'s Catalog,
    study: &'s Comparison,
    estimators: Vec<&'s [Key]>,
    models: Vec<&'s [Key]>,
}

/// What is worked out at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Its number.
    pub index: u64,
    /// Place of the protocol in the study.
    pub estimator: usize,
    /// The protocol, with what the grid sets.
    pub spec: Spec,
    /// The family, with what the grid sets.
    pub model: Spec,
    /// The true parameter.
    pub theta: f64,
    /// How many users there are.
    pub users: u64,
    /// The privacy level.
    pub epsilon: f64,
    /// What the grid sets besides, in its order.
    pub keys: Vec<(String, Value)>,
    /// How often the protocol is run.
    pub replications: u64,
    /// How it is simulated; the cheapest way the protocol allows if nothing is said.
    pub fidelity: Option<Fidelity>,
    /// The lines of the spec and of the grid.
    pub lines: [usize; 2],
    place: Place,
}

/// Where a point lies in the product.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    grid: usize,
    at: Vec<usize>,
    model: usize,
}

impl<'s> Outline<'s> {
    /// The points of a study whose names have been checked.
    pub fn new(catalog: &'s Catalog, study: &'s Comparison) -> Self {
        let estimators = study.estimators.iter().map(|contestant| &contestant.spec.spec.name);
        Self {
            catalog,
            study,
            estimators: estimators.map(|name| catalog.estimator_keys(name)).collect(),
            models: study.models.iter().map(|named| catalog.model_keys(&named.spec.name)).collect(),
        }
    }

    /// Where names are looked up.
    pub fn catalog(&self) -> &'s Catalog {
        self.catalog
    }

    /// The study.
    pub fn study(&self) -> &'s Comparison {
        self.study
    }

    /// The largest number of points there can be: the size of the product, or as many as can be counted.
    pub fn size(&self) -> u64 {
        let every = (self.study.models.len() * self.study.estimators.len()) as u64;
        self.study.grids.iter().fold(0, |sum: u64, grid| sum.saturating_add(size(grid).saturating_mul(every)))
    }

    /// The points in order.
    pub fn setups(&self) -> impl Iterator<Item = Setup> + '_ {
        (0..self.size()).filter_map(|index| self.setup(index))
    }

    /// The point of this number, unless it coincides with an earlier one.
    pub fn setup(&self, index: u64) -> Option<Setup> {
        let (models, estimators) = (self.study.models.len() as u64, self.study.estimators.len() as u64);
        let (mut rest, mut number) = (index, 0);
        let grid = loop {
            let grid = self.study.grids.get(number)?;
            let points = size(grid).saturating_mul(models * estimators);
            if rest < points {
                break grid;
            }
            rest -= points;
            number += 1;
        };
        let (estimator, model) = ((rest % estimators) as usize, (rest / estimators % models) as usize);
        rest /= estimators * models;
        let mut at = vec![0; grid.axes.len()];
        for (place, axis) in at.iter_mut().zip(&grid.axes).rev() {
            *place = (rest % axis.values.len() as u64) as usize;
            rest /= axis.values.len() as u64;
        }
        let place = Place { grid: number, at, model };
        // Where a key changes nothing, only its first value makes a point.
        let idle = grid.axes.iter().zip(&place.at).any(|(axis, &at)| at > 0 && !self.sets(&axis.key, estimator, model));
        let setup = self.resolve(index, place, estimator);
        (!idle && !self.earlier(&setup)).then_some(setup)
    }

    /// The same place for another protocol of the study.
    pub fn beside(&self, setup: &Setup, estimator: usize) -> Setup {
        self.resolve(setup.index, setup.place.clone(), estimator)
    }

    /// Whether a key of a grid changes anything for a protocol under a model.
    fn sets(&self, key: &str, estimator: usize, model: usize) -> bool {
        SETTING.contains(&key)
            || free(self.estimators[estimator], &self.study.estimators[estimator].spec.spec, key)
            || free(self.models[model], &self.study.models[model].spec, key)
    }

    fn resolve(&self, index: u64, place: Place, estimator: usize) -> Setup {
        let (contestant, grid) = (&self.study.estimators[estimator], &self.study.grids[place.grid]);
        let named = &self.study.models[place.model];
        let mut setup = Setup {
            index,
            estimator,
            spec: contestant.spec.spec.clone(),
            model: named.spec.clone(),
            theta: 0.0,
            users: 0,
            epsilon: 0.0,
            keys: Vec::new(),
            replications: contestant.replications,
            fidelity: contestant.fidelity,
            lines: [contestant.spec.line, grid.line],
            place,
        };
        for (axis, &at) in grid.axes.iter().zip(&setup.place.at) {
            let value = &axis.values[at];
            // They have been checked: what is no number is a word of a spec.
            let number = value.number().unwrap_or_default();
            match axis.key.as_str() {
                "users" => setup.users = number as u64,
                "theta" => setup.theta = number,
                "epsilon" => setup.epsilon = number,
                key => {
                    let of_estimator = free(self.estimators[estimator], &contestant.spec.spec, key);
                    let of_model = free(self.models[setup.place.model], &named.spec, key);
                    if of_estimator {
                        setup.spec.pairs.push((key.to_owned(), value.to_string()));
                    }
                    if of_model {
                        setup.model.pairs.push((key.to_owned(), value.to_string()));
                    }
                    if of_estimator || of_model {
                        setup.keys.push((key.to_owned(), value.clone()));
                    }
                }
            }
        }
        setup
    }

    /// Whether a grid before that of the point has it too.
    fn earlier(&self, setup: &Setup) -> bool {
        let (estimator, model) = (self.estimators[setup.estimator], self.models[setup.place.model]);
        let written = [&self.study.estimators[setup.estimator].spec.spec, &self.study.models[setup.place.model].spec];
        let here = &self.study.grids[setup.place.grid];
        self.study.grids[..setup.place.grid].iter().any(|grid| {
            let setting = SETTING.iter().all(|key| {
                let value = (here.axes.iter().zip(&setup.place.at))
                    .find_map(|(axis, &at)| (axis.key == *key).then(|| &axis.values[at]));
                let axis = grid.axes.iter().find(|axis| axis.key == *key);
                axis.zip(value).is_some_and(|(axis, value)| axis.values.contains(value))
            });
            let keys = [(estimator, written[0], &setup.spec), (model, written[1], &setup.model)];
            setting
                && keys.into_iter().all(|(keys, written, spec)| {
                    keys.iter().filter(|key| free(keys, written, key.name)).all(|key| {
                        let value = spec.pairs.iter().find(|(name, _)| name == key.name);
                        let value = value.map_or(key.default, |(_, value)| value);
                        match grid.axes.iter().find(|axis| axis.key == key.name) {
                            Some(axis) => axis.values.iter().any(|known| known.to_string() == value),
                            None => value == key.default,
                        }
                    })
                })
        })
    }
}

impl Setup {
    /// The name under which its random streams are found: everything that its result depends on. `spec` and `model` are the
    /// canonical ones.
    pub fn identity(&self, spec: &str, model: &str, fidelity: Fidelity, seed: u64) -> String {
        format!(
            "{spec} on {model} theta {} users {} epsilon {} replications {} {} seed {seed}",
            self.theta,
            self.users,
            self.epsilon,
            self.replications,
            fidelity.name()
        )
    }

    /// The seed of a point whose streams are its own.
    pub fn own_seed(&self, spec: &str, model: &str, fidelity: Fidelity, seed: u64) -> u64 {
        hash(&self.identity(spec, model, fidelity, seed))
    }

    /// Where it is, for messages.
    pub fn shown(&self) -> String {
        let mut text = format!("users {}, epsilon {}, theta {}", self.users, self.epsilon, self.theta);
        for (key, value) in &self.keys {
            text += &format!(", {key} {value}");
        }
        text
    }
}

fn size(grid: &Grid) -> u64 {
    grid.axes.iter().fold(1, |product: u64, axis| product.saturating_mul(axis.values.len() as u64))
}

/// Whether a thing has this key and its spec leaves it open.
fn free(keys: &[Key], written: &Spec, key: &str) -> bool {
    keys.iter().any(|known| known.name == key) && written.pairs.iter().all(|(set, _)| set != key)
}

#[cfg(test)]
mod tests {
    use super::super::Study;
    use super::*;

    fn study(grids: &str) -> Comparison {
        let text = format!(
            "kind = \"comparison\"\ntitle = \"t\"\nseed = 1\nreplications = 10\nmodels = [\"gaussian\", \"laplace\"]\n\
             [[estimators]]\nspec = \"two-stage\"\n[[estimators]]\nspec = \"joseph:low=0\"\n{grids}\n[figure]\nx = \"users\""
        );
        match Study::parse(&Catalog::builtin(), &text) {
            Ok(Study::Comparison(study)) => *study,
            Ok(_) => panic!("another kind"),
            Err(error) => panic!("{error}"),
        }
    }

    fn shown(study: &Comparison) -> Vec<String> {
        let text = |setup: Setup| format!("{} {}: {}, {}", setup.index, setup.users, setup.spec, setup.model);
        Outline::new(&Catalog::builtin(), study).setups().map(text).collect()
    }

    #[test]
    fn points_come_in_the_order_of_the_file_and_keys_go_where_they_belong() {
        let study = study("[[grid]]\nusers = [10, 20]\nfirst-stage = [3, 4]\nsigma = 2\ntheta = 0\nepsilon = 1");
        assert_eq!(Outline::new(&Catalog::builtin(), &study).size(), 16);
        assert_eq!(
            shown(&study),
            [
                "0 10: two-stage:first-stage=3, gaussian:sigma=2",
                "1 10: joseph:low=0, gaussian:sigma=2",
                "2 10: two-stage:first-stage=3, laplace",
                "3 10: joseph:low=0, laplace",
                "4 10: two-stage:first-stage=4, gaussian:sigma=2",
                "6 10: two-stage:first-stage=4, laplace",
                "8 20: two-stage:first-stage=3, gaussian:sigma=2",
                "9 20: joseph:low=0, gaussian:sigma=2",
                "10 20: two-stage:first-stage=3, laplace",
                "11 20: joseph:low=0, laplace",
                "12 20: two-stage:first-stage=4, gaussian:sigma=2",
                "14 20: two-stage:first-stage=4, laplace",
            ]
        );
    }

    #[test]
    fn grids_are_joined_and_a_point_of_two_is_one() {
        // The second grid says first-stage = auto, which is what the first leaves it at; low is set by the spec.
        let first = "[[grid]]\nusers = [10, 20]\ntheta = 0\nepsilon = 1\n";
        let again =
            study(&format!("{first}[[grid]]\nepsilon = [1, 2]\ntheta = 0\nusers = 20\nfirst-stage = [\"auto\", 5]"));
        let twice: Vec<String> = shown(&again);
        // Of the second, one value of first-stage is idle for joseph, and the four points at 20 users, ε = 1 are there already.
        assert_eq!(twice.len(), 8 + 8, "{twice:#?}");
        let names: std::collections::BTreeSet<String> = Outline::new(&Catalog::builtin(), &again)
            .setups()
            .map(|setup| {
                format!("{} {} {} {:?}", setup.spec, setup.model, setup.epsilon, (setup.users, setup.estimator))
            })
            .map(|text| text.replace(":first-stage=auto", ""))
            .collect();
        assert_eq!(names.len(), twice.len());
    }

    #[test]
    fn a_grid_of_any_size_is_counted_and_read_at_once() {
        let study = study(
            "[[grid]]\nusers = \"1:1e6:10000\"\ntheta = \"0:1:10000\"\nepsilon = \"1:2:10000\"\nstart = \"0:1:10000\"\n\
             high = \"1:2:10000\"",
        );
        let catalog = Catalog::builtin();
        let outline = Outline::new(&catalog, &study);
        assert_eq!(outline.size(), u64::MAX);
        let setup = outline.setup(u64::MAX / 2).or_else(|| outline.setup(u64::MAX / 2 + 1));
        assert!(setup.is_none_or(|setup| setup.users >= 1));
    }

    #[test]
    fn an_identity_has_everything_in_it() {
        let study = study("[[grid]]\nusers = [10]\ntheta = 0\nepsilon = 1");
        let setup = Outline::new(&Catalog::builtin(), &study).setup(0).unwrap();
        let seed = |setup: &Setup, fidelity, seed| setup.own_seed("a", "b", fidelity, seed);
        let first = seed(&setup, Fidelity::Tally, 1);
        assert_eq!(
            setup.identity("a", "b", Fidelity::Tally, 1),
            "a on b theta 0 users 10 epsilon 1 replications 10 tally seed 1"
        );
        for other in [
            seed(&setup, Fidelity::Tally, 2),
            seed(&setup, Fidelity::Users, 1),
            seed(&Setup { users: 11, ..setup.clone() }, Fidelity::Tally, 1),
            seed(&Setup { theta: 1.0, ..setup.clone() }, Fidelity::Tally, 1),
            seed(&Setup { epsilon: 2.0, ..setup.clone() }, Fidelity::Tally, 1),
            seed(&Setup { replications: 11, ..setup.clone() }, Fidelity::Tally, 1),
            setup.own_seed("c", "b", Fidelity::Tally, 1),
            setup.own_seed("a", "c", Fidelity::Tally, 1),
        ] {
            assert_ne!(first, other);
        }
    }
}
