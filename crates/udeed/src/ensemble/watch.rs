//! Whether to go on: asked of an observer from the middle of long work, by any thread.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::ensemble::{Observer, Step, Warning};
use crate::error::{Error, Result};
use crate::learner::{Hypothesis, Learner, Logistic, Sample};

/// How long work goes on before the observer is asked again.
const PATIENCE: Duration = Duration::from_millis(50);

/// An observer that hears how many members are done, and is asked meanwhile whether to go on.
pub(crate) struct Watch<'a> {
    asked: Mutex<Asked<'a>>,
    stopped: AtomicBool,
}

struct Asked<'a> {
    observer: &'a mut dyn Observer,
    /// How many members were done, of how many, when it was last told.
    done: (usize, usize),
    last: Instant,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(observer: &'a mut dyn Observer) -> Self {
        let asked = Mutex::new(Asked { observer, done: (0, 0), last: Instant::now() });
        Watch { asked, stopped: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, Asked<'a>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells that so many members are done, of so many that there will be.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the observer has seen enough.
    pub(crate) fn member(&self, done: usize, total: usize) -> Result<()> {
        let mut asked = self.lock();
        asked.done = (done, total);
        self.hear(asked)
    }

    /// Tells of a step of the descent.
    pub(crate) fn step(&self, step: &Step) -> ControlFlow<()> {
        self.lock().observer.step(step)
    }

    /// Tells something worth knowing.
    pub(crate) fn warn(&self, warning: &Warning) {
        self.lock().observer.warn(warning);
    }

    /// Asks whether to go on, unless that was asked a moment ago. Cheap enough for every row that is compared with all.
    ///
    /// # Errors
    /// [`Error::Stopped`] if not.
    pub(crate) fn ask(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        // One thread that asks is enough.
        match self.asked.try_lock() {
            Ok(asked) if asked.last.elapsed() >= PATIENCE => self.hear(asked),
            _ => Ok(()),
        }
    }

    fn hear(&self, mut asked: MutexGuard<'_, Asked<'a>>) -> Result<()> {
        let (done, total) = asked.done;
        let answer = asked.observer.member(done, total);
        asked.last = Instant::now();
        if answer.is_break() {
            self.stopped.store(true, Ordering::Relaxed);
            return Err(Error::Stopped);
        }
        Ok(())
    }
}

/// Logistic regression that can be stopped.
pub(crate) struct Watched<'a, 'b> {
    pub(crate) learner: Logistic,
    pub(crate) watch: &'a Watch<'b>,
}

impl Learner for Watched<'_, '_> {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        self.learner.fit_heads(sample, None, self.watch)
    }

    fn relearn(&self, sample: &Sample<'_>, similar: &Hypothesis) -> Result<Hypothesis> {
        let Hypothesis::Linear(similar) = similar else { return self.learn(sample) };
        self.learner.fit_heads(sample, Some(similar), self.watch)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    struct Heard(Vec<(usize, usize)>);

    impl Observer for Heard {
        fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
            self.0.push((done, total));
            if self.0.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
    }

    #[test]
    fn it_is_asked_now_and_then_and_ends_all_threads() {
        let mut heard = Heard(Vec::new());
        let watch = Watch::new(&mut heard);
        watch.member(4, 9).unwrap();
        watch.ask().unwrap();
        std::thread::sleep(PATIENCE);
        watch.ask().unwrap();
        std::thread::sleep(PATIENCE);
        assert!(matches!(watch.ask(), Err(Error::Stopped)));
        // Whoever asks later is not let wait.
        std::thread::scope(|threads| {
            assert!(matches!(threads.spawn(|| watch.ask()).join().unwrap(), Err(Error::Stopped)));
        });
        assert_eq!(heard.0, [(4, 9); 3]);
    }
}
