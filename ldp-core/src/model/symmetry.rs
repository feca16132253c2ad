/// How the members of a family come from one of them: what is worked out at one parameter then holds at all others,
/// after a change of place or of unit.
///
/// ```
/// use ldp_core::model::{Cdf, Exponential, Gaussian, Poisson, Score, Symmetry};
/// let gaussian = Gaussian::new(2.0)?;
/// assert_eq!(gaussian.symmetry(), Symmetry::Location);
/// assert_eq!(gaussian.cdf(3.0, 4.5), gaussian.cdf(0.0, 1.5));
/// assert_eq!(Exponential.symmetry(), Symmetry::Scale);
/// assert_eq!(Exponential.cdf(3.0, 4.5), Exponential.cdf(1.0, 1.5));
/// assert_eq!(Poisson.symmetry(), Symmetry::None);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Symmetry {
    /// $P_\theta(X < x) = P_0(X < x - \theta)$ for every real θ.
    Location,
    /// $P_\theta(X < x) = P_1(X < x / \theta)$ for every $\theta > 0$.
    Scale,
    /// Neither, or not known.
    None,
}
