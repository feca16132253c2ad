//! The worst of all means in an interval.

use ldp_core::Result;

/// How often steps are halved where it matters: to a sixty-fourth.
pub(super) const FINELY: u32 = 6;

/// The place where a function is largest, found from `places` in order and then between the best of them and its neighbours,
/// half as far away each of so many times. The first of equal ones.
pub(super) fn worst<T: Copy>(
    places: &[f64],
    halvings: u32,
    of: impl Fn(f64) -> Result<T>,
    rank: impl Fn(&T) -> f64,
) -> Result<Option<(f64, T)>> {
    let mut best: Option<(usize, T)> = None;
    for (index, &place) in places.iter().enumerate() {
        let found = of(place)?;
        if best.as_ref().is_none_or(|(_, best)| rank(&found) > rank(best)) {
            best = Some((index, found));
        }
    }
    let Some((index, mut value)) = best else { return Ok(None) };
    let mut place = places[index];
    let mut reach = [index.checked_sub(1), Some(index + 1)]
        .map(|near| near.and_then(|near| places.get(near)).map_or(0.0, |near| near - place));
    for _ in 0..halvings {
        reach = reach.map(|step| 0.5 * step);
        for step in reach {
            if step == 0.0 {
                continue;
            }
            let found = of(place + step)?;
            if rank(&found) > rank(&value) {
                (place, value) = (place + step, found);
                // What was beyond is a whole step away now, and so is what was before.
                reach = [-step.abs(), step.abs()];
                break;
            }
        }
    }
    Ok(Some((place, value)))
}
