//! Work spread over threads. The threads get it behind a `dyn`: what deals it out to them is large, and so compiled once
//! instead of once for each kind of work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::error::Result;

/// Largest number of pieces that long work is cut into: enough for any number of threads, and few beside the work.
const MOST_PIECES: usize = 1024;

/// Calls `f` with every number below `n`. They are dealt out in their order, one by one as threads become free: a slow core
/// gets fewer of them, and none waits behind another.
pub(crate) fn for_each(n: usize, f: &(dyn Fn(usize) + Sync)) {
    // Another thread would take longer to wake up than much of what is done once.
    if n == 1 {
        return f(0);
    }
    let next = AtomicUsize::new(0);
    let threads = rayon::current_num_threads().min(n);
    (0..threads).into_par_iter().with_max_len(1).for_each(|_| {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                return;
            }
            f(i);
        }
    });
}

/// `f` of every number below `n`, in their order.
pub(crate) fn map<R: Send>(n: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let each = n.div_ceil(MOST_PIECES).max(1);
    let pieces: Vec<Mutex<Vec<R>>> = (0..n.div_ceil(each)).map(|_| Mutex::default()).collect();
    for_each(pieces.len(), &|piece| {
        let found = (piece * each..n.min((piece + 1) * each)).map(&f).collect();
        *locked(&pieces[piece]) = found;
    });
    pieces.into_iter().flat_map(inner).collect()
}

/// As [`map`] of values, each of which is gone as soon as it was dealt with.
pub(crate) fn map_owned<T: Send, R: Send>(values: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    let values: Vec<Mutex<Option<T>>> = values.into_iter().map(|value| Mutex::new(Some(value))).collect();
    let taken = |i: usize| locked(&values[i]).take();
    map(values.len(), |i| taken(i).map(&f)).into_iter().flatten().collect()
}

/// As [`map`]. What follows one another on a thread shares what `room` makes.
pub(crate) fn map_with<S: Send, R: Send>(
    n: usize,
    room: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> R + Sync,
) -> Vec<R> {
    let rooms = Rooms::new(room);
    map(n, |i| rooms.lend(|room| f(room, i)))
}

/// As [`map`], of what can fail. After a failure nothing new is begun.
///
/// # Errors
/// The first that was met.
pub(crate) fn try_map<R: Send>(n: usize, f: impl Fn(usize) -> Result<R> + Sync) -> Result<Vec<R>> {
    try_map_with(n, || (), |(), i| f(i))
}

/// As [`try_map`], with room as in [`map_with`].
///
/// # Errors
/// As [`try_map`].
pub(crate) fn try_map_with<S: Send, R: Send>(
    n: usize,
    room: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let each = n.div_ceil(MOST_PIECES).max(1);
    let pieces: Vec<Mutex<Result<Vec<R>>>> = (0..n.div_ceil(each)).map(|_| Mutex::new(Ok(Vec::new()))).collect();
    let (rooms, failed) = (Rooms::new(room), AtomicBool::new(false));
    for_each(pieces.len(), &|piece| {
        if failed.load(Ordering::Relaxed) {
            return;
        }
        let span = piece * each..n.min((piece + 1) * each);
        let found: Result<Vec<R>> = rooms.lend(|room| span.map(|i| f(room, i)).collect());
        failed.fetch_or(found.is_err(), Ordering::Relaxed);
        *locked(&pieces[piece]) = found;
    });
    let mut all = Vec::with_capacity(n);
    for piece in pieces {
        all.extend(inner(piece)?);
    }
    Ok(all)
}

/// Calls `f` with each chunk of values, the last one maybe shorter, and its number.
pub(crate) fn chunks_mut<T: Send>(values: &mut [T], size: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let chunks: Vec<Mutex<&mut [T]>> = values.chunks_mut(size).map(Mutex::new).collect();
    for_each(chunks.len(), &|chunk| f(chunk, &mut locked(&chunks[chunk])));
}

/// As [`chunks_mut`], of what can fail, with room as in [`try_map_with`].
///
/// # Errors
/// As [`try_map`].
pub(crate) fn try_chunks_mut<S: Send, T: Send>(
    values: &mut [T],
    size: usize,
    room: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    let chunks: Vec<Mutex<&mut [T]>> = values.chunks_mut(size).map(Mutex::new).collect();
    try_map_with(chunks.len(), room, |room, chunk| f(room, chunk, &mut locked(&chunks[chunk])))?;
    Ok(())
}

/// Memory to work in, as much of it as there is work at the same time.
pub(crate) struct Rooms<S, F> {
    free: Mutex<Vec<S>>,
    make: F,
}

impl<S: Send, F: Fn() -> S + Sync> Rooms<S, F> {
    /// None yet; `make` makes them where they are needed.
    pub(crate) fn new(make: F) -> Self {
        Rooms { free: Mutex::new(Vec::new()), make }
    }

    /// Calls `f` with one that nobody else has.
    pub(crate) fn lend<R>(&self, f: impl FnOnce(&mut S) -> R) -> R {
        let free = locked(&self.free).pop();
        let mut room = free.unwrap_or_else(&self.make);
        let found = f(&mut room);
        locked(&self.free).push(room);
        found
    }
}

/// A panic under the lock has ended the work of all threads.
pub(crate) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn everything_is_done_once_and_comes_in_its_order() {
        for n in [0, 1, 5, MOST_PIECES, MOST_PIECES + 1, 5000] {
            let expected: Vec<usize> = (0..n).map(|i| 3 * i).collect();
            assert_eq!(map(n, |i| 3 * i), expected);
            assert_eq!(map_owned((0..n).collect(), |i| 3 * i), expected);
            let twice = |before: &mut usize, i: usize| {
                *before = 2 * i;
                *before + i
            };
            assert_eq!(map_with(n, || 0, twice), expected);
            assert_eq!(try_map_with(n, || 0, |before, i| Ok(twice(before, i))).unwrap(), expected);
            let mut values = vec![0; n];
            chunks_mut(&mut values, 7, |chunk, values| {
                values.iter_mut().enumerate().for_each(|(i, value)| *value += 3 * (7 * chunk + i));
            });
            assert_eq!(values, expected);
        }
    }

    #[test]
    fn a_failure_is_passed_on() {
        let fails = |i: usize| if i == 700 { Err(Error::Stopped) } else { Ok(i) };
        assert!(matches!(try_map(3000, fails), Err(Error::Stopped)));
        let mut values = vec![0; 30];
        let chunks = try_chunks_mut(&mut values, 4, || (), |(), chunk, _| fails(100 * chunk).map(|_| ()));
        assert!(matches!(chunks, Err(Error::Stopped)));
    }
}
