//! Mechanisms whose reports are sets of categories: the information is a sum over all sets.

use super::{BlackBox, Information, Method, black_box};
use ldp_core::model::Support;
use ldp_core::{Density, Mechanism};
use ldp_mechanisms::{CategorySet, SubsetSelection, UnaryEncoding};
use ldp_simulate::AnyModel;
use std::ops::RangeInclusive;

/// The largest number of categories of which [`of_sets`] goes through all sets.
const ENUMERATED: u32 = 16;

/// Mechanisms that report sets of categories.
pub trait Sets: Density + Mechanism<Input = f64, Report = CategorySet> {
    /// Number of categories.
    fn categories(&self) -> u32;

    /// The numbers of categories that a set can have.
    fn sizes(&self) -> RangeInclusive<u32>;
}

impl Sets for UnaryEncoding {
    fn categories(&self) -> u32 {
        UnaryEncoding::categories(self)
    }

    fn sizes(&self) -> RangeInclusive<u32> {
        0..=UnaryEncoding::categories(self)
    }
}

impl Sets for SubsetSelection {
    fn categories(&self) -> u32 {
        SubsetSelection::categories(self)
    }

    fn sizes(&self) -> RangeInclusive<u32> {
        self.size()..=self.size()
    }
}

/// Why the information of a mechanism for categories cannot be told.
#[derive(Debug)]
pub enum SetError {
    /// The model is not one of whole numbers.
    NotWhole,
    /// There are too many categories to go through all sets of them.
    TooMany {
        /// The number of categories.
        count: u32,
        /// The largest number whose sets are gone through.
        most: u32,
    },
    /// A number that runs out, or is out of its domain.
    Library(ldp_core::Error),
}

impl std::fmt::Display for SetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotWhole => f.write_str("a mechanism for categories needs a model of whole numbers"),
            Self::TooMany { count, most } => write!(f, "all sets of {count} categories are too many, at most {most}"),
            Self::Library(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Library(error) => error.source(),
            Self::NotWhole | Self::TooMany { .. } => None,
        }
    }
}

impl From<ldp_core::Error> for SetError {
    fn from(error: ldp_core::Error) -> Self {
        Self::Library(error)
    }
}

/// The information of a report that is a set of categories, under a model of whole numbers: with $p_v$ the mass of category
/// v, $\sum_S (\sum_v q(S|v)\,\partial_\theta p_v)^2 / \sum_v q(S|v)\,p_v$ over all sets S.
///
/// It is exact, because a category is a cell of the line: values below 0 count as 0, those from the last category on as that.
///
/// ```
/// use ldp_core::{Epsilon, model::Bernoulli};
/// use ldp_fisher::{exact, of_sets};
/// use ldp_mechanisms::{RandomizedResponse, SubsetSelection};
/// use ldp_core::Publish;
/// // A set of one of two categories is randomised response.
/// let epsilon = Epsilon::new(1.0)?;
/// let sets = of_sets(&SubsetSelection::with_size(epsilon, 2, 1)?, &Bernoulli, 0.3).unwrap();
/// let channel = exact(&RandomizedResponse::new(epsilon, 2)?.publish(), &Bernoulli, 0.3)?;
/// assert!((sets.value - channel.value).abs() < 1e-12);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// # Errors
///
/// If the model is not one of whole numbers, or there are more than 16 categories.
pub fn of_sets<Q: Sets>(mechanism: &Q, model: &dyn AnyModel, theta: f64) -> Result<Information, SetError> {
    check(model, theta)?;
    let count = mechanism.categories();
    if count > ENUMERATED {
        return Err(SetError::TooMany { count, most: ENUMERATED });
    }
    let end = |v: u32| match v {
        0 => f64::NEG_INFINITY,
        v if v == count => f64::INFINITY,
        v => f64::from(v),
    };
    let cells: Vec<(f64, f64, f64)> = (0..count)
        .map(|v| {
            let (low, high) = (end(v), end(v + 1));
            (f64::from(v), model.mass(theta, low, high), model.mass_dtheta(theta, low, high))
        })
        .collect();
    let sizes = mechanism.sizes();
    let mut value = 0.0;
    for mask in (0..1u32 << count).filter(|mask| sizes.contains(&mask.count_ones())) {
        let members: Vec<u32> = (0..count).filter(|v| mask >> v & 1 == 1).collect();
        let set = CategorySet::new(count, &members)?;
        let law: Vec<f64> = cells.iter().map(|&(x, ..)| mechanism.ln_density(&set, &x)).collect();
        let first = law[0].exp();
        // The derivatives of the masses add up to zero: measured from one category, what they have in common is gone.
        let slope: f64 = cells.iter().zip(&law).map(|(cell, ln)| first * (ln - law[0]).exp_m1() * cell.2).sum();
        let mass: f64 = cells.iter().zip(&law).map(|(cell, ln)| ln.exp() * cell.1).sum();
        value += if mass > 0.0 { slope * slope / mass } else { 0.0 };
    }
    // A logarithm of a probability is known to a few units in its last place, and so is what two differ by.
    let error = 1e-14 * (1.0 + 1.0 / mechanism.epsilon().value()) * f64::from(count) * value;
    Ok(Information { value, error, method: Method::Exact })
}

/// A lower limit of the same information from samples, where the report is told by the sum of the scores of its categories.
///
/// # Errors
///
/// If the model is not one of whole numbers, or numbers run out.
pub fn black_box_sets<Q: Sets>(
    mechanism: &Q,
    model: &dyn AnyModel,
    theta: f64,
    options: BlackBox,
) -> Result<Information, SetError> {
    check(model, theta)?;
    let number = |set: &CategorySet| set.members().map(|v| model.score(theta, f64::from(v))).sum();
    Ok(black_box(mechanism, model, theta, number, options)?)
}

/// Categories are whole numbers.
fn check(model: &dyn AnyModel, theta: f64) -> Result<(), SetError> {
    if matches!(model.support(theta), Support::Whole { .. }) { Ok(()) } else { Err(SetError::NotWhole) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact;
    use ldp_core::model::{Categorical, Gaussian, Poisson};
    use ldp_core::{Epsilon, Publish};
    use ldp_mechanisms::RandomizedResponse;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    /// A set of one category, or of all but one, is k-ary randomised response.
    #[test]
    fn sets_of_one_category_are_randomised_response() {
        for (level, categories, theta) in [(0.1, 3, 0.2), (1.0, 5, 0.9), (4.0, 16, 0.5)] {
            let model = Categorical::new(categories).unwrap();
            let one = SubsetSelection::with_size(epsilon(level), categories, 1).unwrap();
            let response = RandomizedResponse::new(epsilon(level), categories).unwrap();
            let (sets, channel) =
                (of_sets(&one, &model, theta).unwrap(), exact(&response.publish(), &model, theta).unwrap());
            assert!((sets.value / channel.value - 1.0).abs() < 1e-9, "{} {}", sets.value, channel.value);
        }
    }

    /// A report says less than the value, more at a larger ε, and nearly all at a very large one.
    #[test]
    fn information_grows_with_epsilon_up_to_that_of_the_value() {
        let (model, theta) = (Categorical::new(4).unwrap(), 0.3);
        let full = (&model as &dyn AnyModel).information(theta);
        let of = |level: f64| of_sets(&SubsetSelection::with_size(epsilon(level), 4, 1).unwrap(), &model, theta);
        let values = [0.1, 1.0, 3.0, 12.0].map(|level| of(level).unwrap().value);
        assert!(values.is_sorted() && values[3] < full && values[3] > 0.99 * full, "{values:?} of {full}");
    }

    /// The sum over sets stays above the lower limit from samples: level 1e-6 and a fixed seed.
    #[test]
    fn samples_give_a_lower_limit() {
        let unary = UnaryEncoding::new(epsilon(1.0), 4).unwrap();
        let (whole, limit) = (
            of_sets(&unary, &Poisson, 1.5).unwrap(),
            black_box_sets(&unary, &Poisson, 1.5, BlackBox::new(1).draws(100_000).unwrap()).unwrap(),
        );
        assert!(0.0 < limit.value && limit.value < whole.value, "{} {}", limit.value, whole.value);
    }

    #[test]
    fn what_has_no_categories_is_refused() {
        let unary = UnaryEncoding::new(epsilon(1.0), 17).unwrap();
        assert!(matches!(of_sets(&unary, &Gaussian::new(1.0).unwrap(), 0.0), Err(SetError::NotWhole)));
        assert!(matches!(of_sets(&unary, &Poisson, 1.0), Err(SetError::TooMany { count: 17, most: 16 })));
    }
}
