//! The CPU profile that `cpu` requests.

/// How CPU use is measured: by samples, by timing calls, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Microseconds of a thread's CPU time between two samples of its stack; more than 0. `None`
    /// for no samples.
    pub samples_us: Option<u32>,
    /// The layout for reporting the times of all calls; `None` if calls are not timed.
    pub times: Option<TimesLayout>,
}

/// How the times of calls are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimesLayout {
    /// By stack.
    Stacks,
    /// By caller and callee, in the format of `java -prof`.
    Old,
}

impl Cpu {
    /// Its name in the option.
    pub fn name(self) -> &'static str {
        match (self.samples_us, self.times) {
            (Some(_), Some(TimesLayout::Stacks)) => "samples,cpu=times",
            (Some(_), Some(TimesLayout::Old)) => "samples,cpu=old",
            (_, Some(TimesLayout::Stacks)) => "times",
            (_, Some(TimesLayout::Old)) => "old",
            (_, None) => "samples",
        }
    }

    /// Whether times are reported in the format of `java -prof`.
    pub fn is_old(self) -> bool {
        self.times == Some(TimesLayout::Old)
    }
}
