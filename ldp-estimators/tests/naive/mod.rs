//! The algorithms of Joseph et al. as they are written, without regard to cost.

/// EstMean as it is written: raw counts in, scales from `finest` up, everything in whole numbers of a scale.
pub fn mean(level: f64, [low, high]: [f64; 2], finest: i32, beta: f64, counts: &[[u64; 4]], debias: bool) -> f64 {
    let e = level.exp();
    let scales = counts.len() as i32;
    let histogram = |j: i32| -> (f64, Vec<f64>) {
        let raw = counts[(j - finest) as usize];
        let k: u64 = raw.iter().sum();
        let k = k as f64;
        let h = |c: u64| if debias { (e + 3.0) / (e - 1.0) * (c as f64 - k / (e + 3.0)) } else { c as f64 };
        (k, raw.iter().map(|&c| h(c)).collect())
    };
    let order = |h: &[f64]| {
        let mut order = vec![0i64, 1, 2, 3];
        order.sort_by(|&a, &b| h[b as usize].partial_cmp(&h[a as usize]).unwrap().then(a.cmp(&b)));
        order
    };
    let width = |j: i32| 2f64.powi(j);
    // Every integer c with c·2^j in the interval, by looking at all of them.
    let inside = |interval: [f64; 2], j: i32| -> Vec<i64> {
        let far = ((interval[0].abs().max(interval[1].abs()) / width(j)) as i64) + 2;
        (-far..=far).filter(|&c| interval[0] <= c as f64 * width(j) && c as f64 * width(j) <= interval[1]).collect()
    };
    let mut j = finest + scales - 1;
    // The multiples of the coarsest scale around the range.
    let mut interval = [(low / width(j)).floor() * width(j), (high / width(j)).ceil() * width(j)];
    while j >= finest {
        let (k, h) = histogram(j);
        let psi = (level + 4.0) / (level * 2f64.sqrt()) * (k * (8.0 * f64::from(scales) / beta).ln()).sqrt();
        let top = order(&h)[0];
        if h[top as usize] < 0.52 * k + psi {
            break;
        }
        let fitting: Vec<i64> = inside(interval, j).into_iter().filter(|c| c.rem_euclid(4) == top).collect();
        assert!(fitting.len() < 2, "c must be unique");
        let Some(&c) = fitting.first() else { break };
        interval = [c as f64 * width(j), (c + 1) as f64 * width(j)];
        j -= 1;
    }
    j = j.max(finest);
    let (_, h) = histogram(j);
    let top = &order(&h)[..2];
    let last = inside(interval, j).into_iter().rev().find(|c| top.contains(&c.rem_euclid(4)));
    // A place beyond the range is farther from every mean in it than its end.
    last.map_or(interval[0], |c| c as f64 * width(j)).max(low).min(high)
}

/// EstVar as it is written: the exponent of the smallest scale above which every scale is concentrated.
#[allow(dead_code, reason = "each test file uses its own part")]
pub fn exponent(level: f64, finest: i32, beta: f64, counts: &[[u64; 4]]) -> i32 {
    let e = level.exp();
    let scales = counts.len() as f64;
    let concentrated = |raw: &[u64; 4]| {
        let k: u64 = raw.iter().sum();
        let k = k as f64;
        let h = raw.map(|c| (e + 3.0) / (e - 1.0) * (c as f64 - k / (e + 3.0)));
        let least = (0..4).map(|a| h[a] + h[(a + 1) % 4]).fold(f64::INFINITY, f64::min);
        let t = (2.0 * k * (2.0 * scales / beta).ln()).sqrt()
            + (1.0 + 4.0 / level) * (2.0 * k * (8.0 * scales / beta).ln()).sqrt();
        least <= 0.03 * k + t
    };
    let all_above = |j: usize| counts[j + 1..].iter().all(concentrated);
    finest + (0..counts.len()).find(|&j| all_above(j)).unwrap() as i32
}
