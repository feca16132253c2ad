//! Mechanisms behind one face, asked for their information.

use super::BuiltModel;
use super::error::{Error, Result};
use ldp_core::{Density, Finite, FiniteChannel, Mechanism, Publish, RealReports};
use ldp_estimators::{Ask, Binned};
use ldp_fisher::{
    BlackBox, Information, Sets, black_box, black_box_sets, black_box_vector, cube, direction, exact, of_finite,
    of_real, of_sets, sphere,
};
use ldp_mechanisms::{DuchiL2, DuchiLinf, PrivUnitG, ProjUnit};
use ldp_simulate::{AnyEstimator, AnyModel, erase};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// A mechanism that can be asked how much its report says.
pub trait AnyMechanism {
    /// The information of one report, in the best way there is for this mechanism.
    ///
    /// # Errors
    ///
    /// If it cannot be told under this model, or numbers run out.
    fn information(&self, built: &BuiltModel, theta: f64) -> Result<Information>;

    /// A lower limit of it from samples alone.
    ///
    /// # Errors
    ///
    /// If the mechanism cannot be asked under this model, or numbers run out.
    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> Result<Information>;

    /// How many values of the model a user holds.
    fn coordinates(&self) -> usize {
        1
    }

    /// The protocol that asks everyone this question and estimates the parameter of the model by maximum likelihood.
    ///
    /// # Errors
    ///
    /// If its reports are not counted, or do not identify the parameter.
    fn ask(&self, _model: Arc<dyn AnyModel>, _start: f64) -> Result<Asked> {
        Err(Error::NotAsked)
    }
}

/// A protocol that asks one question.
pub struct Asked {
    /// The protocol.
    pub estimator: Box<dyn AnyEstimator>,
    /// The share of the information that cells of real reports keep; `None` where reports are counted as they are.
    pub kept: Option<f64>,
}

/// The parameters around a start that two answers of ten users each would hardly tell apart: three units of score to either side.
fn around(model: &dyn AnyModel, start: f64) -> [f64; 2] {
    const STEPS: u32 = 60;
    let walk = |direction: f64| {
        let mut theta = start;
        for _ in 0..STEPS {
            let next = theta + direction * 3.0 / f64::from(STEPS) / model.information(theta).sqrt();
            if model.admits(next).is_err() || !model.information(next).is_finite() {
                break;
            }
            theta = next;
        }
        theta
    };
    [walk(-1.0), walk(1.0)]
}

/// Wraps a mechanism that looks at cells of the line. Its information is exact.
///
/// # Errors
///
/// Never; a `Result` is what the builders of a catalog return.
pub fn channel(mechanism: &impl Publish) -> Result<Box<dyn AnyMechanism>> {
    Ok(Box::new(Channel(mechanism.publish())))
}

struct Channel(FiniteChannel);

impl AnyMechanism for Channel {
    fn information(&self, built: &BuiltModel, theta: f64) -> Result<Information> {
        Ok(exact(&self.0, &*built.model, theta)?)
    }

    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> Result<Information> {
        Ok(black_box(&self.0, &*built.model, theta, |&report| f64::from(report), options)?)
    }

    fn ask(&self, model: Arc<dyn AnyModel>, start: f64) -> Result<Asked> {
        Ok(Asked { estimator: erase(Ask::new(self.0.clone(), model, start)?), kept: None })
    }
}

/// Wraps a mechanism with finitely many reports whose probabilities vary with the value. Its information comes by quadrature.
///
/// # Errors
///
/// Never; a `Result` is what the builders of a catalog return.
pub fn counted<Q: Density + Finite + Mechanism<Input = f64> + Shared>(mechanism: Q) -> Result<Box<dyn AnyMechanism>> {
    Ok(Box::new(Counted(mechanism)))
}

struct Counted<Q>(Q);

impl<Q: Density + Finite + Mechanism<Input = f64> + Shared> AnyMechanism for Counted<Q> {
    fn information(&self, built: &BuiltModel, theta: f64) -> Result<Information> {
        Ok(of_finite(&self.0, &*built.model, theta)?)
    }

    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> Result<Information> {
        Ok(black_box(&self.0, &*built.model, theta, |&report| f64::from(report), options)?)
    }

    fn ask(&self, model: Arc<dyn AnyModel>, start: f64) -> Result<Asked> {
        Ok(Asked { estimator: erase(Ask::new(self.0.clone(), model, start)?), kept: None })
    }
}

/// Wraps a mechanism with real reports. Its information comes by quadrature.
///
/// # Errors
///
/// Never; a `Result` is what the builders of a catalog return.
pub fn real<Q: RealReports + Shared>(mechanism: Q) -> Result<Box<dyn AnyMechanism>> {
    Ok(Box::new(Real(mechanism)))
}

struct Real<Q>(Q);

impl<Q: RealReports + Shared> AnyMechanism for Real<Q> {
    fn information(&self, built: &BuiltModel, theta: f64) -> Result<Information> {
        Ok(of_real(&self.0, &*built.model, theta)?)
    }

    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> Result<Information> {
        Ok(black_box(&self.0, &*built.model, theta, |&report| report, options)?)
    }

    fn ask(&self, model: Arc<dyn AnyModel>, start: f64) -> Result<Asked> {
        let binned = Binned::new(self.0.clone(), &*model, around(&*model, start))?;
        let kept = binned.information_kept(&*model, start).ok();
        Ok(Asked { estimator: erase(Ask::new(binned, model, start)?), kept })
    }
}

/// What a question has to be able to do beside being asked: to be copied, compared, sent, and read again.
///
/// Implemented for every such type; it only shortens bounds.
pub trait Shared: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<Q: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static> Shared for Q {}

/// Wraps a mechanism whose reports are sets of categories. Its information is a sum over all sets.
///
/// # Errors
///
/// Never; a `Result` is what the builders of a catalog return.
pub fn sets<Q: Sets + 'static>(mechanism: Q) -> Result<Box<dyn AnyMechanism>> {
    Ok(Box::new(SetReports(mechanism)))
}

struct SetReports<Q>(Q);

impl<Q: Sets> AnyMechanism for SetReports<Q> {
    fn information(&self, built: &BuiltModel, theta: f64) -> Result<Information> {
        Ok(of_sets(&self.0, &*built.model, theta)?)
    }

    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> Result<Information> {
        Ok(black_box_sets(&self.0, &*built.model, theta, options)?)
    }
}

/// Wraps a mechanism on vectors of independent Gaussian values. Its information is known at the centre.
///
/// # Errors
///
/// Never; a `Result` is what the builders of a catalog return.
pub fn vector<Q: GaussianVectors + 'static>(mechanism: Q) -> Result<Box<dyn AnyMechanism>> {
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

fn check_gaussian(built: &BuiltModel) -> Result<()> {
    if built.gaussian { Ok(()) } else { Err(Error::NotGaussian) }
}

impl<Q: GaussianVectors> AnyMechanism for Vectors<Q> {
    fn information(&self, built: &BuiltModel, theta: f64) -> Result<Information> {
        check_gaussian(built)?;
        if theta != 0.0 {
            return Err(Error::OffCentre { theta });
        }
        Ok(self.0.at_the_centre(built.scale).ok_or(Error::NoClosedForm)??)
    }

    fn black_box(&self, built: &BuiltModel, theta: f64, options: BlackBox) -> Result<Information> {
        check_gaussian(built)?;
        let dimension = self.0.dimension();
        let mut along = vec![0.0; dimension];
        along[0] = 1.0;
        Ok(black_box_vector(&self.0, &vec![theta; dimension], built.scale, &along, options)?)
    }

    fn coordinates(&self) -> usize {
        self.0.dimension()
    }
}
