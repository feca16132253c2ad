//! Blurred values: every user adds Gaussian noise before answering, so that σ is larger.
//!
//! A protocol finds a threshold to within a σ before it can be precise. Where the half-width wanted is not far below σ, or the
//! start is many σ away, that search is most of the cost, and a larger σ needs fewer users. Whoever has a small σ can have a larger
//! one: $x + sZ$ has the mean of $x$ and the standard deviation $\sqrt{\sigma^2 + s^2}$, and the answer to a question is ε-private
//! for $x + sZ$, hence for $x$. So a smaller σ never costs more users than a larger one.

/// Standard deviations to an octave.
const PER_OCTAVE: i32 = 16;

/// Costs that differ by less are taken for equal: they are rough, and settled later.
const ALIKE: f64 = 1.15;

/// So many standard deviations are settled at most.
const SETTLED: usize = 2;

/// Standard deviations above `above` with which about the least cost was found, the cheapest first; none if no cost is near `best`.
///
/// They are powers of two, and where the search is to be `fine` also what lies between: the same ones whatever `above` is, so that
/// a smaller σ has all those to choose from that a larger one has. The cells of a pilot are powers of two as well, so that with these
/// what a plan costs does not go up and down with the half-width. `cost(sigma, best)` is roughly the cost with this standard
/// deviation, or `None` where it is far above `best`; `floor(sigma)` is below every cost and grows with σ, so that the search ends.
pub(super) fn cheapest<E>(
    above: f64,
    best: f64,
    fine: bool,
    floor: impl Fn(f64) -> f64,
    cost: impl Fn(f64, f64) -> Result<Option<f64>, E>,
) -> Result<Vec<f64>, E> {
    let at = |step: i32| (f64::from(step) / f64::from(PER_OCTAVE)).exp2();
    let mut first = (above.log2() * f64::from(PER_OCTAVE)).floor() as i32;
    while at(first) <= above {
        first += 1;
    }
    let mut tried: Vec<(f64, i32)> = Vec::new();
    let mut visit = |step: i32| -> Result<Option<(f64, i32)>, E> {
        let least = tried.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0));
        let most = least.map_or(best, |(cost, _)| cost.min(best));
        if step >= first && floor(at(step)) < most && !tried.iter().any(|(_, known)| *known == step) {
            tried.push((cost(at(step), most)?.unwrap_or(f64::INFINITY), step));
        }
        Ok(tried.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)))
    };
    let mut least = None;
    let mut octave = (first - 1).div_euclid(PER_OCTAVE) + 1;
    while floor(at(octave * PER_OCTAVE)) < least.map_or(best, |(cost, _): (f64, i32)| cost.min(best)) {
        least = visit(octave * PER_OCTAVE)?;
        octave += 1;
    }
    if fine {
        least = visit(first)?;
        // Then the neighbours of the best, as long as one is better.
        for near in [8, 4, 2, 1] {
            while let Some((_, centre)) = least.filter(|(cost, _)| *cost < ALIKE * best) {
                visit(centre - near)?;
                least = visit(centre + near)?;
                if least.is_some_and(|(_, step)| step == centre) {
                    break;
                }
            }
        }
    }
    let most = ALIKE * least.map_or(best, |(cost, _)| cost.min(best));
    tried.retain(|(cost, _)| *cost < most);
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(tried.into_iter().take(SETTLED).map(|(_, step)| at(step)).collect())
}

/// The noise that makes a standard deviation of `sigma` one of `total`.
pub(super) fn noise(sigma: f64, total: f64) -> f64 {
    ((total - sigma) * (total + sigma)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cheapest of all comes first, whatever the σ, for costs that fall and then grow; none where the own one is cheaper.
    #[test]
    fn the_cheapest_is_found_from_everywhere() {
        for optimum in [0.3, 1.7, 6.0, 23.0] {
            let cost = |sigma: f64| (sigma / optimum).powi(2) + 10.0 * (optimum / sigma).sqrt();
            let floor = |sigma: f64| (sigma / optimum).powi(2);
            for sigma in [0.01, 0.2, 0.9, 2.0, 8.0, 100.0] {
                for fine in [true, false] {
                    let about = |sigma: f64, _| Ok::<_, ()>(Some(cost(sigma)));
                    let found = cheapest(sigma, cost(sigma), fine, floor, about).unwrap();
                    let by = if fine { 16.0 } else { 1.0 };
                    let all = (-200..200).map(|step| (f64::from(step) / by).exp2()).filter(|&step| step > sigma);
                    let least = all.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap();
                    if cost(least) < cost(sigma) {
                        assert!(cost(found[0]) <= cost(least), "{optimum} {sigma} {found:?} {least}");
                    }
                    assert!(found.iter().all(|&found| found > sigma && cost(found) < ALIKE * cost(sigma)), "{found:?}");
                }
            }
        }
    }

    #[test]
    fn noise_and_values_add_up() {
        for (sigma, total) in [(1.0, 1.25), (1e-9, 3.0), (1.0, 1.0 + 1e-9)] {
            assert!((noise(sigma, total).hypot(sigma) / total - 1.0).abs() < 1e-15);
        }
    }
}
