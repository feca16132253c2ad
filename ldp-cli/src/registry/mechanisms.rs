//! The mechanisms by name.

use super::informative::{AnyMechanism, channel, counted, real, sets, vector};
use super::{Entry, Key, Values, resolve};
use crate::spec::Spec;
use anyhow::Context;
use ldp_core::Epsilon;
use ldp_mechanisms::{
    Ding, Duchi, DuchiL2, DuchiLinf, Hybrid, IntervalResponse, Laplace, LatticeLaplace, Piecewise, PrivUnitG, ProjUnit,
    RandomizedResponse, Range, Residue, Sign, Staircase, SubsetSelection, UnaryEncoding,
};

type Build = fn(&Values, Epsilon) -> anyhow::Result<Box<dyn AnyMechanism>>;

const LOW: Key = Key::new("low", "-1", "smaller values count as this");
const HIGH: Key = Key::new("high", "1", "larger values count as this");
const CATEGORIES: Key = Key::new("categories", "2", "number of categories k");
const DIMENSION: Key = Key::new("dimension", "2", "number of coordinates d");
const RADIUS: Key = Key::new("radius", "1", "of the ball that vectors are clipped to");

/// All mechanisms, with their report size and whether they sample exactly.
pub const MECHANISMS: &[Entry<Build>] = &[
    Entry {
        name: "sign",
        summary: "the sign of x - threshold by randomised response; 1 bit, exact",
        keys: &[Key::new("threshold", "0", "where the line is cut")],
        build: |values, epsilon| channel(&Sign::new(epsilon, values.number("threshold")?)?),
    },
    Entry {
        name: "interval",
        summary: "which interval x lies in, by m-ary randomised response; log2 m bits, exact",
        keys: &[Key::new("cuts", "0", "increasing cut points, separated by /")],
        build: |values, epsilon| channel(&IntervalResponse::new(epsilon, values.numbers("cuts")?)?),
    },
    Entry {
        name: "residue",
        summary: "floor((x - origin)/width) modulo cells, by randomised response; log2 cells bits, exact",
        keys: &[
            Key::new("origin", "0", "where a residue 0 begins"),
            Key::new("width", "1", "length of an interval"),
            Key::new("cells", "4", "number of residues"),
        ],
        build: |values, epsilon| {
            let (origin, width) = (values.number("origin")?, values.number("width")?);
            channel(&Residue::new(epsilon, origin, width, values.small_count("cells")?)?)
        },
    },
    Entry {
        name: "laplace",
        summary: "clipped value plus Laplace noise; real report, idealised",
        keys: &[LOW, HIGH],
        build: |values, epsilon| real(Laplace::new(epsilon, range(values)?)?),
    },
    Entry {
        name: "lattice-laplace",
        summary: "distance to the nearest lattice point plus Laplace noise; real report, idealised",
        keys: &[Key::new("origin", "0", "a point of the lattice"), Key::new("width", "1", "distance of its points")],
        build: |values, epsilon| real(LatticeLaplace::new(epsilon, values.number("origin")?, values.number("width")?)?),
    },
    Entry {
        name: "staircase",
        summary: "clipped value plus staircase noise of least variance; real report, idealised",
        keys: &[LOW, HIGH],
        build: |values, epsilon| real(Staircase::new(epsilon, range(values)?)?),
    },
    Entry {
        name: "duchi",
        summary: "clipped value as one bit whose probability is linear in it; 1 bit, exact",
        keys: &[LOW, HIGH],
        build: |values, epsilon| counted(Duchi::new(epsilon, range(values)?)?),
    },
    Entry {
        name: "ding",
        summary: "the same channel as duchi, under its other name",
        keys: &[LOW, HIGH],
        build: |values, epsilon| counted(Ding::new(epsilon, range(values)?)?),
    },
    Entry {
        name: "piecewise",
        summary: "a value near the clipped one, or any; real report, idealised",
        keys: &[LOW, HIGH],
        build: |values, epsilon| real(Piecewise::new(epsilon, range(values)?)?),
    },
    Entry {
        name: "hybrid",
        summary: "piecewise or duchi at random, of constant variance; real report, idealised",
        keys: &[LOW, HIGH],
        build: |values, epsilon| real(Hybrid::new(epsilon, range(values)?)?),
    },
    Entry {
        name: "randomized-response",
        summary: "k-ary randomised response on categories 0, 1, ..., k - 1; log2 k bits, exact",
        keys: &[CATEGORIES],
        build: |values, epsilon| channel(&RandomizedResponse::new(epsilon, values.small_count("categories")?)?),
    },
    Entry {
        name: "unary",
        summary: "optimised unary encoding of a category; k bits, exact",
        keys: &[CATEGORIES],
        build: |values, epsilon| sets(UnaryEncoding::new(epsilon, values.small_count("categories")?)?),
    },
    Entry {
        name: "subset-selection",
        summary: "a random set of categories, more often with the true one; log2 C(k, size) bits, exact",
        keys: &[CATEGORIES, Key::new("size", "auto", "size of the set; auto: of least variance")],
        build: |values, epsilon| {
            let categories = values.small_count("categories")?;
            sets(match values.count_or_auto("size")? {
                Some(size) => SubsetSelection::with_size(epsilon, categories, u32::try_from(size).unwrap_or(u32::MAX))?,
                None => SubsetSelection::new(epsilon, categories)?,
            })
        },
    },
    Entry {
        name: "duchi-linf",
        summary: "a vertex of a cube, from a half of it; d bits, exact",
        keys: &[DIMENSION, RADIUS],
        build: |values, epsilon| {
            vector(DuchiLinf::new(epsilon, values.dimension("dimension")?, values.number("radius")?)?)
        },
    },
    Entry {
        name: "duchi-l2",
        summary: "a point of a sphere, from a half of it; d reals, idealised",
        keys: &[DIMENSION, RADIUS],
        build: |values, epsilon| {
            vector(DuchiL2::new(epsilon, values.dimension("dimension")?, values.number("radius")?)?)
        },
    },
    Entry {
        name: "privunit",
        summary: "a direction with Gaussian noise, tilted towards the true one; d reals, idealised",
        keys: &[DIMENSION],
        build: |values, epsilon| vector(PrivUnitG::new(epsilon, values.dimension("dimension")?)?),
    },
    Entry {
        name: "projunit",
        summary: "privunit after a random projection; projection reals and a seed, idealised",
        keys: &[DIMENSION, Key::new("projection", "auto", "dimensions projected to")],
        build: |values, epsilon| {
            let dimension = values.dimension("dimension")?;
            let projection = match values.count_or_auto("projection")? {
                Some(projection) => usize::try_from(projection).unwrap_or(usize::MAX),
                None => dimension.min(20),
            };
            vector(ProjUnit::new(epsilon, dimension, projection)?)
        },
    },
];

fn range(values: &Values) -> anyhow::Result<Range> {
    Ok(Range::new(values.number("low")?, values.number("high")?)?)
}

/// The mechanism that a spec names, and the canonical spec.
pub fn mechanism(spec: &Spec, epsilon: Epsilon) -> anyhow::Result<(Box<dyn AnyMechanism>, String)> {
    resolve("mechanism", MECHANISMS, spec)
        .map_err(anyhow::Error::from)
        .and_then(|(entry, values)| {
            let built = (entry.build)(&values, epsilon)?;
            values.check_used()?;
            Ok((built, values.to_string()))
        })
        .with_context(|| format!("--mechanism {spec}"))
}
