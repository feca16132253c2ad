//! What reports say against the assumptions of an estimate.

use serde::Serialize;
use std::fmt;

/// How many standard errors from an end of the range is too near.
const NEAR: f64 = 2.0;
/// The share of a range next to its end in which values count as being at the end.
const EDGE: f64 = 0.1;
/// The share of a range next to its end in which the mean of clipped values says that many may have been clipped.
const OUTER: f64 = 0.3;

/// A sign, seen in the reports alone, that an assumption of the estimate does not hold.
///
/// Its JSON has the kind and the numbers; its text is for people.
///
/// ```
/// use ldp_core::Diagnostic;
/// let found = Diagnostic::of_range(9.9, Some(0.1), Some([0.0, 10.0])).unwrap();
/// assert_eq!(found.to_string(), "the estimate is 1.00 standard errors from 10, an end of the range that was given: if it \
///                                may lie beyond, give a wider range");
/// assert!(Diagnostic::of_range(5.0, Some(0.1), Some([0.0, 10.0])).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "snake_case")]
#[non_exhaustive]
pub enum Diagnostic {
    /// The estimate is beside the range in which it was known to lie, by more than two standard errors.
    OutsideRange {
        /// The estimate, before it is cut to the range.
        estimate: f64,
        /// The end of the range that it is beyond.
        end: f64,
        /// How far beyond, in standard errors, where there is one.
        standard_errors: Option<f64>,
    },
    /// The estimate is within two standard errors of an end of the range, on either side.
    NearEnd {
        /// The estimate.
        estimate: f64,
        /// The end.
        end: f64,
        /// How far it is from there.
        standard_errors: f64,
    },
    /// Half of the values or more are next to an end of the range that they are clipped to, or were beyond it.
    Clipped {
        /// The end.
        end: f64,
        /// The other end of what counts as being next to it: at least a tenth of the range away.
        edge: f64,
        /// At least this share of the values lies between the two or beyond the end, if the true mean is within two standard
        /// errors of the estimate.
        share: f64,
        /// At most this share was beyond the end, in the same case.
        most: f64,
    },
    /// So many answers agree that they bound the mean on one side only.
    OneSided {
        /// Where the line was cut.
        threshold: f64,
        /// Whether the values lie above it.
        above: bool,
        /// The share of answers «above».
        share: f64,
    },
    /// The estimate is so far from where the line was cut that it rests on a tail of the assumed distribution.
    FarFromThreshold {
        /// The estimate.
        estimate: f64,
        /// Where the line was cut.
        threshold: f64,
        /// How far apart they are, in standard deviations of the values.
        deviations: f64,
    },
    /// More answers agree than any values explain, by the law of the question alone.
    Unexplained {
        /// The share of answers «above».
        share: f64,
        /// The smallest probability of that answer, whatever the values are.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// Two stages that estimate the same number exclude each other.
    StagesDisagree {
        /// The interval of the stage before the last, at level 0.9999.
        first: [f64; 2],
        /// The interval of the last one.
        last: [f64; 2],
    },
}

impl Diagnostic {
    /// Whether an estimate is beside a range, or within two standard errors of one of its ends.
    #[must_use]
    pub fn of_range(estimate: f64, standard_error: Option<f64>, range: Option<[f64; 2]>) -> Option<Self> {
        let [low, high] = range?;
        let errors = |distance: f64| standard_error.filter(|&error| error > 0.0).map(|error| distance / error);
        let (end, inside) =
            if estimate - low < high - estimate { (low, estimate - low) } else { (high, high - estimate) };
        match errors(inside.abs()).filter(|&errors| errors <= NEAR) {
            Some(standard_errors) => Some(Self::NearEnd { estimate, end, standard_errors }),
            None if inside < 0.0 => Some(Self::OutsideRange { estimate, end, standard_errors: errors(-inside) }),
            None => None,
        }
    }

    /// Whether the mean of values in `[low, high]` is so near an end that half of them or more must be next to it.
    ///
    /// Values that are on average u·width away from the end are within d·width of it with a share of at least 1 - u/d
    /// (Markov's inequality), u that of a mean two standard errors further from the end. With d a tenth that is half of them
    /// where u is at most 0.05. Up to 0.3 d is 2u: half of the values are next to the end, and up to 1 - u of them, less the
    /// errors, may have been clipped. Zero is where values most often end by themselves: there only the first is told.
    #[must_use]
    pub fn of_clipping(mean: f64, standard_error: Option<f64>, [low, high]: [f64; 2]) -> Option<Self> {
        let width = high - low;
        let (end, inwards) = if mean - low < high - mean { (low, width) } else { (high, -width) };
        // Beside the range by chance is at its end.
        let away = if low <= mean && mean <= high { (mean - end).abs() } else { 0.0 };
        let errors = NEAR * standard_error?;
        let most = 1.0 - (away - errors).max(0.0) / width;
        let away = (away + errors) / width;
        let told = if end == 0.0 { EDGE / 2.0 } else { OUTER };
        let reach = EDGE.max(2.0 * away);
        (away <= told).then(|| Self::Clipped { end, edge: end + reach * inwards, share: 1.0 - away / reach, most })
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OutsideRange { estimate, end, standard_errors } => {
                write!(
                    f,
                    "the estimate, {}, is beyond {}, an end of the range that was given",
                    Six(estimate),
                    Six(end)
                )?;
                if let Some(errors) = standard_errors {
                    write!(f, ", by {errors:.2} standard errors")?;
                }
                f.write_str(": the range, or another assumption, is likely wrong")
            }
            Self::NearEnd { end, standard_errors, .. } => write!(
                f,
                "the estimate is {standard_errors:.2} standard errors from {}, an end of the range that was given: if it may \
                 lie beyond, give a wider range",
                Six(end)
            ),
            Self::Clipped { end, edge, share, most } => write!(
                f,
                "at least {:.0} % of the values lie between {} and {}, or were beyond {} and clipped to it, as up to {:.0} % of them \
                 may have been: if values can lie beyond, the estimate is not their mean, and the range is too narrow",
                (100.0 * share).floor(),
                Six(end.min(edge)),
                Six(end.max(edge)),
                Six(end),
                (100.0 * most).ceil()
            ),
            Self::OneSided { threshold, above, share } => write!(
                f,
                "{:.1} % of the answers say that the value is above {}, about as many as when all values are {}: the \
                 answers bound the mean on one side only; the start or sigma is likely far from right",
                100.0 * share,
                Six(threshold),
                if above { "above" } else { "below" }
            ),
            Self::FarFromThreshold { estimate, threshold, deviations } => write!(
                f,
                "the estimate, {}, is {deviations:.2} standard deviations of the values from {}, where the question was asked: it \
                 rests on the tail of the Gaussian distribution, or the start or sigma is far from right",
                Six(estimate),
                Six(threshold)
            ),
            Self::Unexplained { share, least, most } => write!(
                f,
                "{:.2} % of the answers are of one kind, and no values explain less than {:.2} % or more than {:.2} % of them: \
                 the answers are not from this question",
                100.0 * share,
                100.0 * least,
                100.0 * most
            ),
            Self::StagesDisagree { first: [a, b], last: [c, d] } => write!(
                f,
                "the stages contradict each other: one has the mean in {} to {}, the next in {} to {}; the values are not \
                 Gaussian with this sigma",
                Six(a),
                Six(b),
                Six(c),
                Six(d)
            ),
        }
    }
}

/// A number to six significant digits.
struct Six(f64);

impl fmt::Display for Six {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if !size.is_finite() || size == 0.0 {
            write!(f, "{}", self.0)
        } else if (1e-5..1e9).contains(&size) {
            let decimals = (5 - size.log10().floor() as i32).max(0) as usize;
            let text = format!("{:.decimals$}", self.0);
            f.write_str(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text })
        } else {
            write!(f, "{:.5e}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_held_against_both_ends() {
        let of = |estimate| Diagnostic::of_range(estimate, Some(0.5), Some([-1.0, 9.0]));
        assert_eq!(of(4.0), None);
        assert_eq!(of(0.01), None);
        assert_eq!(of(-0.25), Some(Diagnostic::NearEnd { estimate: -0.25, end: -1.0, standard_errors: 1.5 }));
        assert_eq!(of(8.5), Some(Diagnostic::NearEnd { estimate: 8.5, end: 9.0, standard_errors: 1.0 }));
        // A little beyond is chance.
        assert!(matches!(of(9.75), Some(Diagnostic::NearEnd { end: 9.0, standard_errors: 1.5, .. })));
        let beyond = Diagnostic::OutsideRange { estimate: 12.0, end: 9.0, standard_errors: Some(6.0) };
        assert_eq!(of(12.0), Some(beyond));
        // Without a standard error only what is beside the range is told.
        assert_eq!(Diagnostic::of_range(8.99, None, Some([-1.0, 9.0])), None);
        assert!(Diagnostic::of_range(-2.0, None, Some([-1.0, 9.0])).is_some());
        assert_eq!(Diagnostic::of_range(8.99, Some(1.0), None), None);
    }

    /// The shares are bounds: of values with that mean at least so many are next to the end, and some have no more; and no more
    /// than so many can be at it.
    #[test]
    fn clipped_values_are_counted_from_below_and_above() {
        let of = |mean, error| Diagnostic::of_clipping(mean, Some(error), [0.0, 100.0]);
        let shares = |found| match found {
            Some(Diagnostic::Clipped { end, edge, share, most }) => (end, edge, share, most),
            other => panic!("{other:?}"),
        };
        // 70 % at 100, 30 % at 90 - 1e-9: mean 97, and 1 - 3/10 are within a tenth. Or 97 % at 100 and 3 % at 0.
        let (end, edge, found, most) = shares(of(97.0, 1e-12));
        assert!(
            (end, edge) == (100.0, 90.0) && (found - 0.7).abs() < 1e-9 && (most - 0.97).abs() < 1e-9,
            "{found} {most}"
        );
        let (end, edge, found, most) = shares(of(3.0, 0.5));
        assert!((end, edge) == (0.0, 10.0) && (found - 0.6).abs() < 1e-12 && (most - 0.98).abs() < 1e-12);
        assert!((shares(of(104.0, 1.0)).2 - 0.8).abs() < 1e-12);
        // Half at 100, half at 52 + 1e-9.
        let (end, edge, found, most) = shares(of(76.0, 1e-12));
        assert!(end == 100.0 && (edge - 52.0).abs() < 1e-9 && (found - 0.5).abs() < 1e-9 && (most - 0.76).abs() < 1e-9);
        // At an end of zero less is told.
        for (mean, error) in [(69.9, 1e-12), (72.0, 1.01), (50.0, 0.1), (6.0, 0.1), (5.0, 0.1)] {
            assert_eq!(of(mean, error), None);
        }
        assert!(Diagnostic::of_clipping(6.0, Some(0.1), [-1.0, 100.0]).is_some());
        assert_eq!(Diagnostic::of_clipping(99.0, None, [0.0, 100.0]), None);
    }

    #[test]
    fn numbers_are_short() {
        let shown = [234.827_016_8, 168.000_000_000_1, -0.25, 1e-9, 4.5e12, f64::INFINITY, 0.0, 200_000.0]
            .map(|x| Six(x).to_string());
        assert_eq!(shown, ["234.827", "168", "-0.25", "1.00000e-9", "4.50000e12", "inf", "0", "200000"]);
    }

    #[test]
    fn kinds_and_numbers_are_fields() {
        let found = Diagnostic::OneSided { threshold: 0.0, above: true, share: 0.75 };
        let json = serde_json::to_string(&found).unwrap();
        assert_eq!(json, r#"{"kind":"one-sided","threshold":0.0,"above":true,"share":0.75}"#);
    }
}
