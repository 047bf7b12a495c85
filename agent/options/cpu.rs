//! What `cpu` asks for.

/// How the use of the processor is measured: by samples, by timing calls, or by both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cpu {
    /// Samples the stacks of running threads, one for so many microseconds of a thread's CPU time; more than 0.
    pub(crate) samples_us: Option<u32>,
    /// Times all calls, and reports them so.
    pub(crate) times: Option<TimesLayout>,
}

/// How the times of calls are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimesLayout {
    /// By stack.
    Stacks,
    /// By caller and callee, in the format of `java -prof`.
    Old,
}

/// How the time of a call is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Time on a processor.
    Cpu,
    /// Time that passes.
    Wall,
}

impl Cpu {
    /// As the option has it.
    pub(crate) fn name(self) -> &'static str {
        match (self.samples_us, self.times) {
            (Some(_), Some(TimesLayout::Stacks)) => "samples,cpu=times",
            (Some(_), Some(TimesLayout::Old)) => "samples,cpu=old",
            (_, Some(TimesLayout::Stacks)) => "times",
            (_, Some(TimesLayout::Old)) => "old",
            (_, None) => "samples",
        }
    }

    /// Whether times are reported in the format of `java -prof`.
    pub(crate) fn is_old(self) -> bool {
        self.times == Some(TimesLayout::Old)
    }
}
