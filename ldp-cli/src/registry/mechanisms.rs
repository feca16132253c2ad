//! The mechanisms by name.

use super::{Entry, Key};

const LOW: Key = Key { name: "low", default: "-1", help: "smaller values count as this" };
const HIGH: Key = Key { name: "high", default: "1", help: "larger values count as this" };
const CATEGORIES: Key = Key { name: "categories", default: "2", help: "number of categories k" };
const DIMENSION: Key = Key { name: "dimension", default: "2", help: "number of coordinates d" };
const RADIUS: Key = Key { name: "radius", default: "1", help: "of the ball that vectors are clipped to" };

/// All mechanisms, with their report size and whether they sample exactly. No command builds one from its spec yet: the
/// table feeds `ldp list`.
pub const MECHANISMS: &[Entry<()>] = &[
    Entry {
        name: "sign",
        summary: "the sign of x - threshold by randomised response; 1 bit, exact",
        keys: &[Key { name: "threshold", default: "0", help: "where the line is cut" }],
        build: (),
    },
    Entry {
        name: "interval",
        summary: "which interval x lies in, by m-ary randomised response; log2 m bits, exact",
        keys: &[Key { name: "cuts", default: "0", help: "increasing cut points, separated by /" }],
        build: (),
    },
    Entry {
        name: "residue",
        summary: "floor((x - origin)/width) modulo cells, by randomised response; log2 cells bits, exact",
        keys: &[
            Key { name: "origin", default: "0", help: "where a residue 0 begins" },
            Key { name: "width", default: "1", help: "length of an interval" },
            Key { name: "cells", default: "4", help: "number of residues" },
        ],
        build: (),
    },
    Entry {
        name: "laplace",
        summary: "clipped value plus Laplace noise; real report, idealised",
        keys: &[LOW, HIGH],
        build: (),
    },
    Entry {
        name: "lattice-laplace",
        summary: "distance to the nearest lattice point plus Laplace noise; real report, idealised",
        keys: &[
            Key { name: "origin", default: "0", help: "a point of the lattice" },
            Key { name: "width", default: "1", help: "distance of its points" },
        ],
        build: (),
    },
    Entry {
        name: "staircase",
        summary: "clipped value plus staircase noise of least variance; real report, idealised",
        keys: &[LOW, HIGH],
        build: (),
    },
    Entry {
        name: "duchi",
        summary: "clipped value as one bit whose probability is linear in it; 1 bit, exact",
        keys: &[LOW, HIGH],
        build: (),
    },
    Entry { name: "ding", summary: "the same channel as duchi, under its other name", keys: &[LOW, HIGH], build: () },
    Entry {
        name: "piecewise",
        summary: "a value near the clipped one, or any; real report, idealised",
        keys: &[LOW, HIGH],
        build: (),
    },
    Entry {
        name: "hybrid",
        summary: "piecewise or duchi at random, of constant variance; real report, idealised",
        keys: &[LOW, HIGH],
        build: (),
    },
    Entry {
        name: "randomized-response",
        summary: "k-ary randomised response on categories 0, 1, ..., k - 1; log2 k bits, exact",
        keys: &[CATEGORIES],
        build: (),
    },
    Entry {
        name: "unary",
        summary: "optimised unary encoding of a category; k bits, exact",
        keys: &[CATEGORIES],
        build: (),
    },
    Entry {
        name: "subset-selection",
        summary: "a random set of categories, more often with the true one; log2 C(k, size) bits, exact",
        keys: &[CATEGORIES, Key { name: "size", default: "auto", help: "size of the set; auto: of least variance" }],
        build: (),
    },
    Entry {
        name: "duchi-linf",
        summary: "a vertex of a cube, from a half of it; d bits, exact",
        keys: &[DIMENSION, RADIUS],
        build: (),
    },
    Entry {
        name: "duchi-l2",
        summary: "a point of a sphere, from a half of it; d reals, idealised",
        keys: &[DIMENSION, RADIUS],
        build: (),
    },
    Entry {
        name: "privunit",
        summary: "a direction with Gaussian noise, tilted towards the true one; d reals, idealised",
        keys: &[DIMENSION],
        build: (),
    },
    Entry {
        name: "projunit",
        summary: "privunit after a random projection; projection reals and a seed, idealised",
        keys: &[DIMENSION, Key { name: "projection", default: "auto", help: "dimensions projected to" }],
        build: (),
    },
];
