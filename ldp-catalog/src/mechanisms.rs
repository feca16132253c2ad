//! The mechanisms by name.

use super::catalog::Builtin;
use super::error::{Error, Result};
use super::informative::{AnyMechanism, channel, counted, real, sets, vector};
use super::values::NO_FILE;
use super::{Key, KeyType, Values};
use ldp_core::{Epsilon, FiniteChannel, Mechanism, wire};
use ldp_mechanisms::{
    Ding, Duchi, DuchiL2, DuchiLinf, Hybrid, IntervalResponse, Laplace, LatticeLaplace, Matrix, Piecewise, PrivUnitG,
    ProjUnit, RandomizedResponse, Range, Residue, Sign, Staircase, SubsetSelection, UnaryEncoding,
};

type Build = fn(&Values, Epsilon) -> Result<Box<dyn AnyMechanism>>;

const LOW: Key = Key::new("low", KeyType::Number, "-1", "smaller values count as this");
const HIGH: Key = Key::new("high", KeyType::Number, "1", "larger values count as this");
const CATEGORIES: Key = Key::new("categories", KeyType::Count, "2", "number of categories k");
const DIMENSION: Key = Key::new("dimension", KeyType::Count, "2", "number of coordinates d");
const RADIUS: Key = Key::new("radius", KeyType::Number, "1", "of the ball that vectors are clipped to");

/// All mechanisms, with their report size and whether they sample exactly.
pub(crate) const MECHANISMS: &[Builtin<Build>] = &[
    Builtin {
        name: "sign",
        summary: "the sign of x - threshold by randomised response; 1 bit, exact",
        keys: &[Key::new("threshold", KeyType::Number, "0", "where the line is cut")],
        build: |values, epsilon| channel(&Sign::new(epsilon, values.number("threshold")?)?),
    },
    Builtin {
        name: "interval",
        summary: "which interval x lies in, by m-ary randomised response; log2 m bits, exact",
        keys: &[Key::new("cuts", KeyType::Numbers, "0", "increasing cut points, separated by /")],
        build: |values, epsilon| channel(&IntervalResponse::new(epsilon, values.numbers("cuts")?)?),
    },
    Builtin {
        name: "residue",
        summary: "floor((x - origin)/width) modulo cells, by randomised response; log2 cells bits, exact",
        keys: &[
            Key::new("origin", KeyType::Number, "0", "where a residue 0 begins"),
            Key::new("width", KeyType::Number, "1", "length of an interval"),
            Key::new("cells", KeyType::Count, "4", "number of residues"),
        ],
        build: |values, epsilon| {
            let (origin, width) = (values.number("origin")?, values.number("width")?);
            channel(&Residue::new(epsilon, origin, width, values.small_count("cells")?)?)
        },
    },
    Builtin {
        name: "laplace",
        summary: "clipped value plus Laplace noise; real report, idealised",
        keys: &[LOW, HIGH],
        build: |values, epsilon| real(Laplace::new(epsilon, range(values)?)?),
    },
    Builtin {
        name: "lattice-laplace",
        summary: "distance to the nearest lattice point plus Laplace noise; real report, idealised",
        keys: &[
            Key::new("origin", KeyType::Number, "0", "a point of the lattice"),
            Key::new("width", KeyType::Number, "1", "distance of its points"),
        ],
        build: |values, epsilon| real(LatticeLaplace::new(epsilon, values.number("origin")?, values.number("width")?)?),
    },
    Builtin {
        name: "staircase",
        summary: "clipped value plus staircase noise of least variance; real report, idealised",
        keys: &[LOW, HIGH],
        build: |values, epsilon| real(Staircase::new(epsilon, range(values)?)?),
    },
    Builtin {
        name: "duchi",
        summary: "clipped value as one bit whose probability is linear in it; 1 bit, exact",
        keys: &[LOW, HIGH],
        build: |values, epsilon| counted(Duchi::new(epsilon, range(values)?)?),
    },
    Builtin {
        name: "ding",
        summary: "the same channel as duchi, under its other name",
        keys: &[LOW, HIGH],
        build: |values, epsilon| counted(Ding::new(epsilon, range(values)?)?),
    },
    Builtin {
        name: "piecewise",
        summary: "a value near the clipped one, or any; real report, idealised",
        keys: &[LOW, HIGH],
        build: |values, epsilon| real(Piecewise::new(epsilon, range(values)?)?),
    },
    Builtin {
        name: "hybrid",
        summary: "piecewise or duchi at random, of constant variance; real report, idealised",
        keys: &[LOW, HIGH],
        build: |values, epsilon| real(Hybrid::new(epsilon, range(values)?)?),
    },
    Builtin {
        name: "randomized-response",
        summary: "k-ary randomised response on categories 0, 1, ..., k - 1; log2 k bits, exact",
        keys: &[CATEGORIES],
        build: |values, epsilon| channel(&RandomizedResponse::new(epsilon, values.small_count("categories")?)?),
    },
    Builtin {
        name: "unary",
        summary: "optimised unary encoding of a category; k bits, exact",
        keys: &[CATEGORIES],
        build: |values, epsilon| sets(UnaryEncoding::new(epsilon, values.small_count("categories")?)?),
    },
    Builtin {
        name: "subset-selection",
        summary: "a random set of categories, more often with the true one; log2 C(k, size) bits, exact",
        keys: &[CATEGORIES, Key::new("size", KeyType::CountOrAuto, "auto", "size of the set; auto: of least variance")],
        build: |values, epsilon| {
            let categories = values.small_count("categories")?;
            sets(match values.count_or_auto("size")? {
                Some(size) => SubsetSelection::with_size(epsilon, categories, u32::try_from(size).unwrap_or(u32::MAX))?,
                None => SubsetSelection::new(epsilon, categories)?,
            })
        },
    },
    Builtin {
        name: "duchi-linf",
        summary: "a vertex of a cube, from a half of it; d bits, exact",
        keys: &[DIMENSION, RADIUS],
        build: |values, epsilon| {
            vector(DuchiLinf::new(epsilon, values.dimension("dimension")?, values.number("radius")?)?)
        },
    },
    Builtin {
        name: "duchi-l2",
        summary: "a point of a sphere, from a half of it; d reals, idealised",
        keys: &[DIMENSION, RADIUS],
        build: |values, epsilon| {
            vector(DuchiL2::new(epsilon, values.dimension("dimension")?, values.number("radius")?)?)
        },
    },
    Builtin {
        name: "privunit",
        summary: "a direction with Gaussian noise, tilted towards the true one; d reals, idealised",
        keys: &[DIMENSION],
        build: |values, epsilon| vector(PrivUnitG::new(epsilon, values.dimension("dimension")?)?),
    },
    Builtin {
        name: "projunit",
        summary: "privunit after a random projection; projection reals and a seed, idealised",
        keys: &[DIMENSION, Key::new("projection", KeyType::CountOrAuto, "auto", "dimensions projected to")],
        build: |values, epsilon| {
            let dimension = values.dimension("dimension")?;
            let projection = match values.count_or_auto("projection")? {
                Some(projection) => usize::try_from(projection).unwrap_or(usize::MAX),
                None => dimension.min(20),
            };
            vector(ProjUnit::new(epsilon, dimension, projection)?)
        },
    },
    Builtin {
        name: "matrix",
        summary: "categories 0, 1, ... by a table of probabilities or whole numbers from a CSV file, a row per category; exact",
        keys: &[Key::new("file", KeyType::File, NO_FILE, "the file; its epsilon is refused above the level asked for")],
        build: |values, epsilon| {
            let text = values.file("file", MOST_BYTES)?;
            let path = values.text("file");
            let matrix = Matrix::from_csv(&text).map_err(|source| Error::Matrix { path: path.clone(), source })?;
            within(&path, matrix.epsilon(), epsilon)?;
            channel(&matrix)
        },
    },
    Builtin {
        name: "question",
        summary: "a published question from a JSON file; exact",
        keys: &[Key::new("file", KeyType::File, NO_FILE, "the file; its epsilon is refused above the level asked for")],
        build: |values, epsilon| {
            let text = values.file("file", MOST_BYTES)?;
            let path = values.text("file");
            let question: FiniteChannel =
                wire::parse("question", &text).map_err(|source| Error::Question { path: path.clone(), source })?;
            within(&path, question.epsilon(), epsilon)?;
            channel(&question)
        },
    },
];

/// The longest file of a mechanism.
const MOST_BYTES: u64 = 16 << 20;

/// Refuses a mechanism that comes with an ε above the one asked for.
fn within(path: &str, own: Epsilon, cap: Epsilon) -> Result<()> {
    // Weights are rounded: a table of e^ε to sixteen digits is within the level.
    if own.value() <= cap.value() * (1.0 + 1e-12) {
        return Ok(());
    }
    Err(Error::AboveLevel { path: path.to_owned(), epsilon: own.value(), cap: cap.value() })
}

fn range(values: &Values) -> Result<Range> {
    Ok(Range::new(values.number("low")?, values.number("high")?)?)
}
