//! Mechanisms behind one face, asked for their information.

use super::BuiltModel;
use anyhow::ensure;
use ldp_core::model::Support;
use ldp_core::{Density, Finite, FiniteChannel, Mechanism, Publish, RealReports};
use ldp_fisher::{
    BlackBox, Information, Method, black_box, black_box_vector, cube, direction, exact, of_finite, of_real, sphere,
};
use ldp_mechanisms::{CategorySet, DuchiL2, DuchiLinf, PrivUnitG, ProjUnit, SubsetSelection, UnaryEncoding};
use ldp_simulate::AnyModel;

/// A mechanism that can be asked how much its report says.
pub trait AnyMechanism {
    /// The information of one report, in the best way there is for this mechanism.
    fn information(&self, built: &BuiltModel, theta: f64) -> anyhow::Result<Information>;

    /// A lower limit of it from samples alone.
    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> anyhow::Result<Information>;

    /// How many values of the model a user holds.
    fn coordinates(&self) -> usize {
        1
    }
}

type Built = anyhow::Result<Box<dyn AnyMechanism>>;

/// A mechanism that looks at cells of the line: exact.
pub fn channel(mechanism: &impl Publish) -> Built {
    Ok(Box::new(Channel(mechanism.publish())))
}

struct Channel(FiniteChannel);

impl AnyMechanism for Channel {
    fn information(&self, built: &BuiltModel, theta: f64) -> anyhow::Result<Information> {
        Ok(exact(&self.0, &*built.model, theta)?)
    }

    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> anyhow::Result<Information> {
        Ok(black_box(&self.0, &*built.model, theta, |&report| f64::from(report), options)?)
    }
}

/// A mechanism with finitely many reports whose probabilities vary with the value: by quadrature.
pub fn counted<Q: Density + Finite + Mechanism<Input = f64> + 'static>(mechanism: Q) -> Built {
    Ok(Box::new(Counted(mechanism)))
}

struct Counted<Q>(Q);

impl<Q: Density + Finite + Mechanism<Input = f64>> AnyMechanism for Counted<Q> {
    fn information(&self, built: &BuiltModel, theta: f64) -> anyhow::Result<Information> {
        Ok(of_finite(&self.0, &*built.model, theta)?)
    }

    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> anyhow::Result<Information> {
        Ok(black_box(&self.0, &*built.model, theta, |&report| f64::from(report), options)?)
    }
}

/// A mechanism with real reports: by quadrature.
pub fn real<Q: RealReports + 'static>(mechanism: Q) -> Built {
    Ok(Box::new(Real(mechanism)))
}

struct Real<Q>(Q);

impl<Q: RealReports> AnyMechanism for Real<Q> {
    fn information(&self, built: &BuiltModel, theta: f64) -> anyhow::Result<Information> {
        Ok(of_real(&self.0, &*built.model, theta)?)
    }

    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> anyhow::Result<Information> {
        Ok(black_box(&self.0, &*built.model, theta, |&report| report, options)?)
    }
}

/// A mechanism whose reports are sets of categories.
pub fn sets<Q: Sets + 'static>(mechanism: Q) -> Built {
    Ok(Box::new(SetReports(mechanism)))
}

/// Mechanisms that report sets of categories.
pub trait Sets: Density + Mechanism<Input = f64, Report = CategorySet> {
    /// How many categories.
    fn categories(&self) -> u32;

    /// How large a set can be.
    fn sizes(&self) -> std::ops::RangeInclusive<u32>;
}

impl Sets for UnaryEncoding {
    fn categories(&self) -> u32 {
        UnaryEncoding::categories(self)
    }

    fn sizes(&self) -> std::ops::RangeInclusive<u32> {
        0..=UnaryEncoding::categories(self)
    }
}

impl Sets for SubsetSelection {
    fn categories(&self) -> u32 {
        SubsetSelection::categories(self)
    }

    fn sizes(&self) -> std::ops::RangeInclusive<u32> {
        self.size()..=self.size()
    }
}

/// Categories up to which all sets are gone through.
const ENUMERATED: u32 = 16;

struct SetReports<Q>(Q);

impl<Q: Sets> SetReports<Q> {
    /// Categories are whole numbers.
    fn check(&self, model: &dyn AnyModel, theta: f64) -> anyhow::Result<()> {
        ensure!(
            matches!(model.support(theta), Support::Whole { .. }),
            "a mechanism for categories needs a model of whole numbers (categorical, bernoulli, poisson); for real \
             values use interval, duchi or another mechanism on the line"
        );
        Ok(())
    }
}

impl<Q: Sets> AnyMechanism for SetReports<Q> {
    /// All sets, each with its probability in every category: exact, because a category is a cell of the line.
    fn information(&self, built: &BuiltModel, theta: f64) -> anyhow::Result<Information> {
        let model = &*built.model;
        self.check(model, theta)?;
        let count = self.0.categories();
        ensure!(
            count <= ENUMERATED,
            "all sets of {count} categories are too many, at most {ENUMERATED}; --black-box DRAWS gives a lower limit"
        );
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
        let sizes = self.0.sizes();
        let mut value = 0.0;
        for mask in (0..1u32 << count).filter(|mask| sizes.contains(&mask.count_ones())) {
            let members: Vec<u32> = (0..count).filter(|v| mask >> v & 1 == 1).collect();
            let set = CategorySet::new(count, &members)?;
            let law: Vec<f64> = cells.iter().map(|&(x, ..)| self.0.ln_density(&set, &x)).collect();
            let first = law[0].exp();
            // The derivatives of the masses add up to zero: measured from one category, what they have in common is gone.
            let slope: f64 = cells.iter().zip(&law).map(|(cell, ln)| first * (ln - law[0]).exp_m1() * cell.2).sum();
            let mass: f64 = cells.iter().zip(&law).map(|(cell, ln)| ln.exp() * cell.1).sum();
            value += if mass > 0.0 { slope * slope / mass } else { 0.0 };
        }
        // A logarithm of a probability is known to a few units in its last place, and so is what two differ by.
        let error = 1e-14 * (1.0 + 1.0 / self.0.epsilon().value()) * f64::from(count) * value;
        Ok(Information { value, error, method: Method::Exact })
    }

    /// The report as a number: the sum of the scores of its categories.
    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> anyhow::Result<Information> {
        let model = &*built.model;
        self.check(model, theta)?;
        let number = |set: &CategorySet| set.members().map(|v| model.score(theta, f64::from(v))).sum();
        Ok(black_box(&self.0, model, theta, number, options)?)
    }
}

/// A mechanism on vectors of independent Gaussian values.
pub fn vector<Q: GaussianVectors + 'static>(mechanism: Q) -> Built {
    Ok(Box::new(Vectors(mechanism)))
}

/// Mechanisms on vectors.
pub trait GaussianVectors: ldp_core::UnbiasedVector {
    /// The information about one coordinate of a mean at the centre, where symmetry gives it; else `None`.
    fn at_the_centre(&self, sigma: f64) -> Option<ldp_core::Result<Information>>;
}

impl GaussianVectors for DuchiLinf {
    fn at_the_centre(&self, sigma: f64) -> Option<ldp_core::Result<Information>> {
        Some(cube(self, sigma))
    }
}

impl GaussianVectors for DuchiL2 {
    fn at_the_centre(&self, sigma: f64) -> Option<ldp_core::Result<Information>> {
        Some(sphere(self, sigma))
    }
}

impl GaussianVectors for PrivUnitG {
    fn at_the_centre(&self, sigma: f64) -> Option<ldp_core::Result<Information>> {
        Some(direction(self, sigma))
    }
}

impl GaussianVectors for ProjUnit {
    fn at_the_centre(&self, _sigma: f64) -> Option<ldp_core::Result<Information>> {
        None
    }
}

struct Vectors<Q>(Q);

impl<Q: GaussianVectors> AnyMechanism for Vectors<Q> {
    fn information(&self, built: &BuiltModel, theta: f64) -> anyhow::Result<Information> {
        ensure!(built.gaussian, "a mechanism for vectors needs the Gaussian model, every coordinate with mean theta");
        let wanted = "--black-box DRAWS gives a lower limit";
        ensure!(theta == 0.0, "the information of a vector mechanism is known at theta 0 only, got {theta}; {wanted}");
        match self.0.at_the_centre(built.scale) {
            Some(information) => Ok(information?),
            None => anyhow::bail!("the information of this mechanism has no closed form; {wanted}"),
        }
    }

    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> anyhow::Result<Information> {
        ensure!(built.gaussian, "a mechanism for vectors needs the Gaussian model, every coordinate with mean theta");
        let dimension = self.0.dimension();
        let mut along = vec![0.0; dimension];
        along[0] = 1.0;
        Ok(black_box_vector(&self.0, &vec![theta; dimension], built.scale, &along, options)?)
    }

    fn coordinates(&self) -> usize {
        self.0.dimension()
    }
}
