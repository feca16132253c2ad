//! The study of how the best first stage grows with the number of users.

use crate::page::Table;
use crate::plot::{Axis, Band, Chart, Mark, Scale, Series};
use crate::study::Growth;
use anyhow::Context;
use ldp_catalog::text::{grouped, percent, significant};
use ldp_core::Epsilon;
use ldp_core::model::Gaussian;
use ldp_estimators::plan::{Distances, PLATEAU_REACH, best_first_stage, first_stage_law};
use ldp_estimators::{TwoStage, one_stage_variance};
use ldp_simulate::exact::{Errors, Exact};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;

/// Where the curve is cut: its left flank rises into the thousands.
const TOP: f64 = 40.0;
/// How near to the best, as a share of it, every single size is on the curve.
const NEAR: f64 = 0.05;

/// The best first stage of one number of users.
#[derive(Serialize)]
pub struct Point {
    epsilon: f64,
    users: u64,
    /// Its size: the best between a third of the law and half of the users.
    best: u64,
    /// What the law says it is.
    law: f64,
    /// The one over the other.
    ratio: f64,
    /// n·MSE with it.
    scaled_mse: f64,
    /// V, what n·MSE tends to.
    bound: f64,
    /// n·MSE over V, less 1.
    excess: f64,
    plateau: Plateau,
    /// n·MSE of one stage.
    one_stage: f64,
    /// n·MSE with one user in the first stage: one stage in disguise.
    of_one_user: f64,
}

/// The sizes that a simulation cannot tell from the best.
#[derive(Clone, Copy, Serialize)]
struct Plateau {
    low: u64,
    high: u64,
    /// Whether the search for its ends stopped at `low` or `high` while still on it: it then reaches at least so far.
    open_low: bool,
    open_high: bool,
}

impl Plateau {
    fn new([low, high]: [u64; 2], best: u64, users: u64) -> Self {
        // As far as its ends are sought.
        let (least, most) = ((best / PLATEAU_REACH).max(1), best.saturating_mul(PLATEAU_REACH).min(users / 2));
        Self { low, high, open_low: low <= least, open_high: high >= most }
    }

    /// For people: an end that was not found is only a bound.
    fn text(self) -> String {
        let (below, above) = (if self.open_low { "≤ " } else { "" }, if self.open_high { "≥ " } else { "" });
        format!("{below}{} to {above}{}", self.low, self.high)
    }
}

/// n·MSE at one size of the first stage.
struct Place {
    size: u64,
    scaled_mse: f64,
    /// The standard error of a simulation.
    noise: f64,
}

/// The best first stages of a study, and the curve of one of them.
pub struct Found {
    /// One privacy level after the other.
    pub points: Vec<Point>,
    curve: Vec<Place>,
}

impl Found {
    /// The number of steps that a study takes.
    pub fn steps(settings: &Growth) -> usize {
        settings.epsilon.len() * settings.users.len() + 1
    }

    /// Sums everything; `step` is called after each step.
    ///
    /// # Errors
    ///
    /// If a sum cannot be done at a level and a number of users that the study names.
    pub fn new(settings: &Growth, step: &(dyn Fn() + Sync)) -> anyhow::Result<Self> {
        let distances = Distances::at(settings.distance)?;
        let pairs: Vec<(f64, u64)> = settings
            .epsilon
            .iter()
            .flat_map(|&epsilon| settings.users.iter().map(move |users| (epsilon, users.0)))
            .collect();
        let at = |&(epsilon, users): &(f64, u64)| {
            let found = Point::new(epsilon, users, &distances);
            step();
            found.with_context(|| format!("epsilon {epsilon}, {users} users"))
        };
        let points = pairs.par_iter().map(at).collect::<anyhow::Result<Vec<_>>>()?;
        let mut found = Self { points, curve: Vec::new() };
        found.curve = curve(settings, found.drawn(settings).map_or(0, |point| point.best))?;
        step();
        Ok(found)
    }

    /// The point whose curve is drawn.
    fn drawn(&self, settings: &Growth) -> Option<&Point> {
        let curve = &settings.curve;
        self.points.iter().find(|point| point.epsilon == curve.epsilon && point.users == curve.users.0)
    }

    /// The best size against the users, with the law, and what a simulation is compatible with.
    pub fn growth_chart(&self, settings: &Growth) -> Chart {
        let of = |epsilon: f64| self.points.iter().filter(move |point| point.epsilon == epsilon);
        let mut series = Vec::new();
        for &epsilon in &settings.epsilon {
            let along = |y: fn(&Point) -> f64| of(epsilon).map(|point| (point.users as f64, y(point))).collect();
            let line = |label: String, points, reference| Series { label, points, reference, marks: !reference };
            series.push(line(format!("best, ε = {epsilon}"), along(|point| point.best as f64), false));
            // One name is enough for all: they run side by side.
            let name = if epsilon == settings.curve.epsilon { "laws √(c·V₁·n)" } else { "" };
            series.push(line(name.into(), along(|point| point.law), true));
        }
        let drawn = settings.curve.epsilon;
        // A logarithm through the point of the curve: what a simulation may take the growth for.
        if let (Some(here), Some(few), Some(many)) = (self.drawn(settings), of(drawn).next(), of(drawn).next_back()) {
            let slope = here.best as f64 / (here.users as f64).ln();
            let (from, to, steps) = (few.users as f64, many.users as f64, 40);
            let users = (0..=steps).map(|i| from * (to / from).powf(f64::from(i) / f64::from(steps)));
            let points = users.map(|users| (users, slope * users.ln())).collect();
            let label = format!("{}·log n", significant(slope, 3));
            series.push(Series { label, points, reference: true, marks: false });
        }
        // Only where both of its ends are known.
        let known = |point: &&Point| !point.plateau.open_low && !point.plateau.open_high;
        let band: Vec<_> = of(drawn)
            .filter(known)
            .map(|point| (point.users as f64, point.plateau.low as f64, point.plateau.high as f64))
            .collect();
        let xs = self.points.iter().map(|point| point.users as f64);
        let ys = series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
        let ys = ys.chain(band.iter().flat_map(|&(_, low, high)| [low, high]));
        let replications = grouped(settings.plateau_replications.0);
        Chart {
            title: format!("The best first stage, start {} σ from the mean", settings.distance),
            x: Axis::new("users n", Scale::Log, xs),
            y: Axis::new("size of the first stage", Scale::Log, ys),
            bands: vec![Band {
                label: format!("{replications} replications cannot tell apart, ε = {drawn}"),
                points: band,
                of: settings.epsilon.iter().position(|&epsilon| epsilon == drawn).unwrap_or(0),
            }],
            marks: Vec::new(),
            series,
        }
    }

    /// n·MSE against the size of the first stage, the bound, and what a simulation cannot tell from the smallest.
    pub fn curve_chart(&self, settings: &Growth) -> Chart {
        let best = self.curve.iter().min_by(|a, b| a.scaled_mse.total_cmp(&b.scaled_mse));
        let bound = self.drawn(settings).map_or(f64::NAN, |point| point.bound);
        let sizes = || self.curve.iter().map(|place| place.size as f64);
        let line = |label: &str, points, reference| Series { label: label.into(), points, reference, marks: false };
        let curve = &settings.curve;
        let bands = best.map(|best| {
            let reach = 2.0 * best.noise;
            Band {
                label: format!("± 2 s.e. of {} replications", grouped(settings.plateau_replications.0)),
                points: sizes().map(|size| (size, best.scaled_mse - reach, best.scaled_mse + reach)).collect(),
                of: 0,
            }
        });
        let marks =
            best.map(|best| Mark { x: best.size as f64, y: best.scaled_mse, label: format!("best: {}", best.size) });
        Chart {
            title: format!(
                "n·MSE of two stages, n = {}, ε = {}, start {} σ from the mean",
                grouped(curve.users.0),
                curve.epsilon,
                settings.distance
            ),
            x: Axis::new("size of the first stage", Scale::Log, sizes()),
            y: Axis::new("n·MSE", Scale::Log, [bound, TOP].into_iter()),
            series: vec![
                line("n·MSE", self.curve.iter().map(|place| (place.size as f64, place.scaled_mse)).collect(), false),
                line("bound V", sizes().map(|size| (size, bound)).collect(), true),
            ],
            bands: bands.into_iter().collect(),
            marks: marks.into_iter().collect(),
        }
    }

    /// Makes the table for people.
    pub fn table(&self) -> Table {
        let header =
            ["ε", "users", "best", "law", "best / law", "n·MSE", "excess", "one stage", "first stage of 1", "plateau"];
        let row = |point: &Point| {
            vec![
                point.epsilon.to_string(),
                point.users.to_string(),
                point.best.to_string(),
                format!("{:.1}", point.law),
                format!("{:.3}", point.ratio),
                significant(point.scaled_mse, 6),
                percent(point.excess),
                significant(point.one_stage, 6),
                significant(point.of_one_user, 6),
                point.plateau.text(),
            ]
        };
        Table { header: header.map(String::from).into(), rows: self.points.iter().map(row).collect() }
    }

    /// What the columns of the table mean.
    pub fn legend(&self, settings: &Growth) -> String {
        format!(
            "best: of all sizes from a third of the law to half of the users; law: √(c·V₁·n); plateau: sizes that {} replications \
             cannot tell from the best; excess: of n·MSE over its limit V; ≤, ≥: the plateau goes on beyond",
            grouped(settings.plateau_replications.0)
        )
    }
}

impl Point {
    fn new(epsilon: f64, users: u64, distances: &Distances) -> anyhow::Result<Self> {
        let private = Epsilon::new(epsilon)?;
        let found = best_first_stage(private, users, distances)?;
        let law = first_stage_law(private, users, distances)?;
        let bound = one_stage_variance(private, 0.0);
        Ok(Self {
            epsilon,
            users,
            best: found.first_stage,
            law,
            ratio: found.first_stage as f64 / law,
            scaled_mse: found.scaled_mse,
            bound,
            excess: found.scaled_mse / bound - 1.0,
            plateau: Plateau::new(found.plateau, found.first_stage, users),
            one_stage: found.one_stage,
            of_one_user: found.of_one_user,
        })
    }
}

/// n·MSE at sizes in equal ratios, and at every size near the best.
fn curve(settings: &Growth, best: u64) -> anyhow::Result<Vec<Place>> {
    let curve = &settings.curve;
    let (from, to, last) = (curve.from.0 as f64, curve.to.0 as f64, (curve.sizes.0 - 1) as f64);
    let ratios = (0..curve.sizes.0).map(|i| (from * (to / from).powf(i as f64 / last)).round() as u64);
    let reach = (NEAR * best as f64).round() as u64;
    let near = (best - reach..=best + reach).filter(|size| (curve.from.0..=curve.to.0).contains(size));
    let sizes: BTreeSet<u64> = ratios.chain(near).collect();
    let (model, users, epsilon) = (Gaussian::new(1.0)?, curve.users.0, Epsilon::new(curve.epsilon)?);
    let at = |size: u64| {
        let exact = Exact::new(&model, settings.distance)?;
        let estimator = TwoStage::new(epsilon, 0.0, size)?;
        let errors = exact.best(&estimator, users, || Errors::new(settings.distance))?.gather;
        let noise = users as f64 * errors.simulation_error(settings.plateau_replications.0);
        Ok(Place { size, scaled_mse: users as f64 * errors.mse(), noise })
    };
    let sizes: Vec<u64> = sizes.into_iter().collect();
    sizes.into_par_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Count, Curve, Study};
    use ldp_catalog::Catalog;
    use std::fs;
    use std::path::Path;

    /// The bundled study with fewer points.
    fn reduced(epsilon: &[f64], users: &[u64]) -> Growth {
        let study = {
            let catalog = Catalog::builtin();
            Study::parse(&catalog, catalog.study("first-stage-growth").unwrap().source).unwrap()
        };
        let Study::FirstStageGrowth(settings) = study else { panic!("of another kind") };
        Growth { epsilon: epsilon.to_vec(), users: users.iter().copied().map(Count).collect(), ..settings }
    }

    fn found(settings: &Growth, threads: usize) -> Found {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Found::new(settings, &|| ())).unwrap()
    }

    fn document(path: &str) -> String {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(path)).unwrap()
    }

    #[test]
    fn the_law_holds_to_two_per_cent_from_a_million_users_on() {
        let curve = Curve { epsilon: 1.0, users: Count(1_000_000), from: Count(20), to: Count(22), sizes: Count(2) };
        let settings = Growth { curve, ..reduced(&[0.5, 1.0, 2.0], &[1_000_000, 1_000_000_000]) };
        for point in found(&settings, 2).points {
            assert!(
                (point.ratio - 1.0).abs() < 0.02,
                "{} at {} users, ε = {}",
                point.ratio,
                point.users,
                point.epsilon
            );
            // 2√(c·V₁/n), which is twice the law over n.
            let excess = 2.0 * point.law / point.users as f64;
            assert!((point.excess / excess - 1.0).abs() < 0.03, "{} is not {excess}", point.excess);
        }
    }

    #[test]
    fn the_page_shows_what_is_found_on_any_number_of_threads() {
        let settings = reduced(&[1.0, 2.0], &[1000, 10_000]);
        let (once, again) = (found(&settings, 2), found(&settings, 1));
        let bytes = |found: &Found| {
            let charts = found.growth_chart(&settings).svg() + &found.curve_chart(&settings).svg();
            serde_json::to_string(&found.points).unwrap() + &charts + &format!("{:?}", found.table().rows)
        };
        assert!(bytes(&once) == bytes(&again));
        assert!(once.curve_chart(&settings).svg() == document("figures/first-stage-curve.svg"));
        let page = document("first-stage-growth.md");
        for point in &once.points {
            let row = row(point);
            assert!(page.contains(&row), "not in the page: {row}");
        }
        let text = format!("{:?}", once.table().rows);
        assert!(text.contains("190 to 554") && text.contains("≤ 1 to 166"), "{text}");
    }

    /// A row of the table in the page.
    fn row(point: &Point) -> String {
        format!(
            "| {} | {:e} | {} | {:.1} | {:.3} | {:.4} | {:.4} | {:.4} | {} |",
            point.epsilon,
            point.users,
            point.best,
            point.law,
            point.ratio,
            point.scaled_mse,
            point.one_stage,
            point.of_one_user,
            point.plateau.text()
        )
    }

    #[test]
    fn an_end_that_was_not_found_is_a_bound() {
        let text = |ends, best, users| Plateau::new(ends, best, users).text();
        assert_eq!(text([190, 554], 305, 10_000), "190 to 554");
        assert_eq!(text([1, 166], 134, 1000), "≤ 1 to 166");
        assert_eq!(text([8, 889_310_000], 88_931, 1_000_000_000_000), "≤ 8 to ≥ 889310000");
        assert_eq!(text([30, 50], 40, 100), "30 to ≥ 50");
    }
}
