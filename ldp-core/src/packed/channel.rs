//! Packed reports of finite channels.

use super::{Pack, Value, at_least, bernoulli, first, noise, planes};
use crate::channel::{AsChannel, Kernel, Partition};
use crate::mechanism::Mechanism;
use rand::Rng;

/// Values are compared with this many cuts in order; among more a search is faster.
const FEW_CUTS: usize = 16;

/// The most bits of a report.
const MOST: usize = u32::BITS as usize;

impl<C: AsChannel> Pack for C {
    #[inline]
    fn pack_block<F: Value, R: Rng + ?Sized>(&self, values: &[F], rng: &mut R, out: &mut Vec<u64>) {
        let channel = self.as_channel();
        match channel.kernel() {
            &Kernel::Response { reports, lie } => respond(channel.partition(), reports, lie, values, rng, out),
            // Any weights: a random word per user, as one by one.
            Kernel::Dense(_) => {
                for group in values.chunks(64) {
                    let mut said = [0; MOST];
                    for (i, value) in group.iter().enumerate() {
                        put(&mut said, i, channel.privatize(&value.as_(), rng));
                    }
                    out.extend_from_slice(&said[..planes(crate::Finite::reports(channel))]);
                }
            }
        }
    }
}

/// m-ary randomised response: who lies is drawn for all, then the lies of those who do, each of the others as likely.
///
/// The weights are those of the kernel: all lies together (m − 1) · lie of 2⁶⁴, and each of them an equal part.
fn respond<F: Value, R: Rng + ?Sized>(
    partition: &Partition,
    reports: u32,
    lie: u64,
    values: &[F],
    rng: &mut R,
    out: &mut Vec<u64>,
) {
    let others = reports - 1;
    let width = planes(reports);
    let lies: [u64; noise::WORDS] = bernoulli(u64::from(others) * lie, rng);
    for (group, lies) in values.chunks(64).zip(lies) {
        let here = first(group.len());
        let lies = lies & here;
        let (mut cells, mut said) = ([0; MOST], [0; MOST]);
        let (cells, said) = (&mut cells[..width], &mut said[..width]);
        find_cells(partition, group, cells);
        noise::below(others, lies, rng, said);
        // The lies are numbered without the truth: from it on, the next.
        let mut carry = !less(said, cells);
        for (said, cell) in said.iter_mut().zip(cells) {
            (*said, carry) = (*said ^ carry, *said & carry);
            *said = ((*said & lies) | (*cell & !lies)) & here;
        }
        out.extend_from_slice(said);
    }
}

/// Where planes `a` hold a smaller number than planes `b`.
fn less(a: &[u64], b: &[u64]) -> u64 {
    let digits = a.iter().zip(b).rev();
    digits.fold((0, u64::MAX), |(less, equal), (a, b)| (less | equal & !a & b, equal & !(a ^ b))).0
}

/// The cells of at most 64 values, into planes that are zero.
fn find_cells<F: Value>(partition: &Partition, values: &[F], cells: &mut [u64]) {
    match partition {
        Partition::Threshold(cut) => cells[0] = at_least(values, *cut),
        Partition::Cuts(cuts)
            if cuts.points().len() <= FEW_CUTS && (0..).zip(cuts.labels()).all(|(i, &label): (u32, _)| i == label) =>
        {
            // The number of cuts at or below the value, added up digit by digit.
            for &cut in cuts.points() {
                let mut carry = at_least(values, cut);
                for plane in cells.iter_mut() {
                    (*plane, carry) = (*plane ^ carry, *plane & carry);
                }
            }
        }
        _ => values.iter().enumerate().for_each(|(i, value)| put(cells, i, partition.cell(value.as_()))),
    }
}

/// Writes a number into place `i` of planes that are zero there.
#[inline]
fn put(planes: &mut [u64], i: usize, number: u32) {
    for (j, plane) in planes.iter_mut().enumerate() {
        *plane |= u64::from(number >> j & 1) << i;
    }
}
