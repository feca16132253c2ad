//! Packed reports of finite channels.

use super::{Pack, Value, at_least, bernoulli, first, noise, planes};
use ldp_core::channel::{AsChannel, Kernel, Partition};
use ldp_core::mechanism::Mechanism;
use noise::WORDS;
use rand::Rng;

/// Values are compared with this many cuts in order, a tenth of a nanosecond each; among more a search is faster.
const FEW_CUTS: usize = 128;

/// The most bits of a report.
const MOST: usize = u32::BITS as usize;

/// The same digit of the numbers of a whole block.
type Plane = [u64; WORDS];

impl<C: AsChannel> Pack for C {
    #[inline(always)]
    fn pack_block<F: Value, R: Rng + ?Sized>(&self, values: &[F], rng: &mut R, out: &mut Vec<u64>) {
        let channel = self.as_channel();
        let partition = channel.partition();
        match channel.kernel() {
            // Short reports, the usual ones, have loops of a known length.
            &Kernel::Response { reports, lie } => match planes(reports) {
                1 => respond::<1, F, R>(partition, reports, lie, values, rng, out),
                2 => respond::<2, F, R>(partition, reports, lie, values, rng, out),
                3 => respond::<3, F, R>(partition, reports, lie, values, rng, out),
                4 => respond::<4, F, R>(partition, reports, lie, values, rng, out),
                _ => respond::<MOST, F, R>(partition, reports, lie, values, rng, out),
            },
            // Any weights: a random word per user, as one by one.
            Kernel::Dense(_) => {
                for group in values.chunks(64) {
                    let mut said = [0; MOST];
                    for (i, value) in group.iter().enumerate() {
                        put(&mut said, i, channel.privatize(&value.as_(), rng));
                    }
                    out.extend_from_slice(&said[..planes(ldp_core::Finite::reports(channel))]);
                }
            }
        }
    }
}

/// m-ary randomised response: who lies is drawn for all, then the lies of those who do, each of the others as likely.
///
/// The weights are those of the kernel: all lies together (m − 1) · lie of 2⁶⁴, and each of them an equal part.
#[inline(always)]
fn respond<const PLANES: usize, F: Value, R: Rng + ?Sized>(
    partition: &Partition,
    reports: u32,
    lie: u64,
    values: &[F],
    rng: &mut R,
    out: &mut Vec<u64>,
) {
    let (others, width) = (reports - 1, planes(reports));
    let mut lies: Plane = bernoulli(u64::from(others) * lie, rng);
    for (i, lies) in lies.iter_mut().enumerate() {
        *lies &= first(values.len().saturating_sub(64 * i));
    }
    let (mut cells, mut said) = ([[0; WORDS]; PLANES], [[0; WORDS]; PLANES]);
    let (cells, said) = (&mut cells[..width], &mut said[..width]);
    find_cells(partition, values, cells);
    noise::below(others, lies, rng, said);
    // The lies are numbered without the truth: from it on, the next.
    let mut carry = less(said, cells).map(|less| !less);
    for (said, cell) in said.iter_mut().zip(cells) {
        for (((said, carry), cell), lies) in said.iter_mut().zip(&mut carry).zip(cell).zip(&lies) {
            let sum = *said ^ *carry;
            *carry &= *said;
            *said = (sum & lies) | (*cell & !lies);
        }
    }
    for group in 0..values.len().div_ceil(64) {
        out.extend(said.iter().map(|plane| plane[group]));
    }
}

/// Where planes `a` hold a smaller number than planes `b`.
#[inline]
fn less(a: &[Plane], b: &[Plane]) -> Plane {
    let (mut less, mut equal) = ([0; WORDS], [u64::MAX; WORDS]);
    for (a, b) in a.iter().zip(b).rev() {
        for (((less, equal), a), b) in less.iter_mut().zip(&mut equal).zip(a).zip(b) {
            *less |= *equal & !a & b;
            *equal &= !(a ^ b);
        }
    }
    less
}

/// The cells of a block, into planes that are zero; beyond the last value they stay so.
#[inline]
fn find_cells<F: Value>(partition: &Partition, values: &[F], cells: &mut [Plane]) {
    match partition {
        Partition::Threshold(cut) => cells[0] = at_least(values, *cut),
        Partition::Cuts(cuts) if cuts.points().len() <= FEW_CUTS && cuts.in_order() => {
            // The number of cuts at or below the value, added up digit by digit.
            for &cut in cuts.points() {
                let mut carry = at_least(values, cut);
                for plane in cells.iter_mut() {
                    for (plane, carry) in plane.iter_mut().zip(&mut carry) {
                        (*plane, *carry) = (*plane ^ *carry, *plane & *carry);
                    }
                }
            }
        }
        _ => {
            for (group, values) in values.chunks(64).enumerate() {
                let mut found = [0; MOST];
                let found = &mut found[..cells.len()];
                values.iter().enumerate().for_each(|(i, value)| put(found, i, cell(partition, value.as_())));
                cells.iter_mut().zip(found).for_each(|(plane, found)| plane[group] = *found);
            }
        }
    }
}

/// The cell of a value; among many cuts by a search, whose time tells where it lies. See [`Pack`].
#[inline]
fn cell(partition: &Partition, x: f64) -> u32 {
    match partition {
        Partition::Cuts(cuts) if cuts.points().len() > FEW_CUTS => {
            cuts.labels()[cuts.points().partition_point(|&cut| cut <= x)]
        }
        _ => partition.cell(x),
    }
}

/// Writes a number into place `i` of planes that are zero there.
#[inline]
fn put(planes: &mut [u64], i: usize, number: u32) {
    for (j, plane) in planes.iter_mut().enumerate() {
        *plane |= u64::from(number >> j & 1) << i;
    }
}
