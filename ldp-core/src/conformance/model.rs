//! What a family claims about itself.

use super::{Violation, ensure};
use crate::model::{Cdf, Score, Symmetry};

/// The claim of [`Score::symmetry`] holds: for each of `thetas` and a grid of places, the cdf, a mass, their derivatives in
/// θ and the score are those of the member at 0, moved, or of the member at 1, rescaled, to a relative 1e-9.
///
/// ```
/// use ldp_core::conformance::check_symmetry;
/// use ldp_core::model::{Exponential, Logistic};
/// check_symmetry(&Exponential, &[0.3, 7.0]).unwrap();
/// check_symmetry(&Logistic::new(0.5)?, &[-4.0, 0.1]).unwrap();
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn check_symmetry<M: Cdf + Score + ?Sized>(model: &M, thetas: &[f64]) -> Result<(), Violation> {
    const LAW: &str = "family is as symmetric as it says";
    let symmetry = model.symmetry();
    // The member that the others come from, where its point x goes, and the unit of the parameter there.
    let base = match symmetry {
        Symmetry::Location => 0.0,
        Symmetry::Scale => 1.0,
        Symmetry::None => return Ok(()),
    };
    let place = |theta: f64, x: f64| if symmetry == Symmetry::Scale { x * theta } else { x + theta };
    let unit = |theta: f64| if symmetry == Symmetry::Scale { theta } else { 1.0 };
    // In units of the family, so that a large or small scale is looked at where its probability is.
    let width = model.information(base).sqrt().recip();
    for &theta in thetas {
        for x in (-40..=40).map(|i| f64::from(i) / 8.0 * width) {
            let (y, unit) = (x + 0.3 * width, unit(theta));
            let (at, to) = (place(theta, x), place(theta, y));
            // The derivatives are in units of the parameter: times these they are about one.
            let slope = |theta: f64, x: f64, unit: f64| width * unit * model.cdf_dtheta(theta, x);
            let slopes = |theta: f64, x: f64, y: f64, unit: f64| width * unit * model.mass_dtheta(theta, x, y);
            for (what, own, moved) in [
                ("the cdf", model.cdf(base, x), model.cdf(theta, at)),
                ("a mass", model.mass(base, x, y), model.mass(theta, at, to)),
                ("the derivative of the cdf", slope(base, x, 1.0), slope(theta, at, unit)),
                ("the derivative of a mass", slopes(base, x, y, 1.0), slopes(theta, at, to, unit)),
                ("the score", width * score(model, base, x), width * unit * score(model, theta, at)),
            ] {
                let close = (own - moved).abs() <= 1e-9 * (own.abs() + 1.0);
                ensure(close, LAW, || {
                    format!("{symmetry:?}: {what} at theta {theta}, x {at} is {moved}, that at {base}, {x} is {own}")
                })?;
            }
        }
    }
    Ok(())
}

/// The score, and zero where there is no density.
fn score<M: Score + ?Sized>(model: &M, theta: f64, x: f64) -> f64 {
    if model.ln_density(theta, x) > f64::NEG_INFINITY { model.score(theta, x) } else { 0.0 }
}
