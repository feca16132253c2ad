//! What an estimate is an estimate of, and what has to hold for it.

use super::text::plain;
use super::{BuiltEstimator, BuiltModel, Target};

/// What is estimated, in words, and what has to hold for it.
pub struct Meaning {
    /// What the estimate is an estimate of.
    pub estimates: String,
    /// What the data do not tell, and is taken to be so.
    pub assumptions: Vec<String>,
}

impl Meaning {
    /// The meaning of what a protocol estimates under a model.
    pub fn new(protocol: &BuiltEstimator, model: &BuiltModel) -> Self {
        let BuiltEstimator { target, gaussian, range, .. } = protocol;
        let law = gaussian_law(model);
        let within = |what: &str| range.map(|ends| format!("{what} is in {}", shown(ends)));
        match target {
            Target::Parameter | Target::Vector if *gaussian => Self {
                estimates: format!(
                    "the mean, if the values are {law}; otherwise a number near the median, if the last question was asked near it"
                ),
                assumptions: [Some(format!("the values are {law}")), within("their mean")]
                    .into_iter()
                    .flatten()
                    .collect(),
            },
            Target::Parameter | Target::Vector => {
                let start = protocol.spec.contains("start=auto").then(|| {
                    format!("the {} is searched from {} on (start=auto)", model.parameter, plain(model.usual_theta()))
                });
                let law = format!("the values follow {}, whatever their {}", model.spec, model.parameter);
                Self {
                    estimates: format!("the {} of the values, if they follow {}", model.parameter, model.spec),
                    assumptions: [Some(law), start].into_iter().flatten().collect(),
                }
            }
            Target::Quantile(level) => {
                let name = if *level == 0.5 { "median".to_owned() } else { format!("{level} quantile") };
                let pilot = within("their mean").map(|mean| format!("for the pilot: the values are {law}, and {mean}"));
                let start = || format!("start is so near the {name} that the steps arrive there");
                let steps = protocol.steps.map(|unit| {
                    format!(
                        "the steps have the unit {}: about the spread of the values, better more than less",
                        plain(unit)
                    )
                });
                Self {
                    estimates: format!("the {name} of the values, whatever their distribution"),
                    assumptions: [Some(pilot.unwrap_or_else(start)), steps].into_iter().flatten().collect(),
                }
            }
            Target::Directions(_) => Self {
                estimates: "the mean of x/|x|, the direction of each user's values, whatever their distribution".into(),
                assumptions: Vec::new(),
            },
            Target::Mean | Target::VectorMean => {
                let clipped = range.map_or_else(String::new, |ends| format!(" clipped to {}", shown(ends)));
                let outside = range.map(|ends| {
                    format!(
                        "for the mean of the values themselves: none is outside {}; clipping shows in the reports only where most \
                         values are near one end",
                        shown(ends)
                    )
                });
                Self {
                    estimates: format!("the mean of the values{clipped}, whatever their distribution"),
                    assumptions: outside.into_iter().collect(),
                }
            }
        }
    }
}

/// What protocols for a Gaussian mean take the values to be.
fn gaussian_law(model: &BuiltModel) -> String {
    // The scale of another family is not its standard deviation, but taken for one.
    let of = if model.gaussian { String::new() } else { format!(", the scale of {}", model.spec) };
    format!("Gaussian with standard deviation {}{of}", plain(model.scale))
}

fn shown([low, high]: [f64; 2]) -> String {
    format!("[{}, {}]", plain(low), plain(high))
}
