//! How much memory work takes at its peak, as Linux counts it.

/// Runs work and returns, besides its result, how many bytes the process grew by at most while it ran. None where the
/// system does not say.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    // Writing 5 makes the peak begin anew at what is resident now.
    let before = std::fs::write("/proc/self/clear_refs", "5").ok().and_then(|()| status("VmRSS:"));
    let result = work();
    let peak = before.zip(status("VmHWM:")).map(|(before, peak)| peak.saturating_sub(before));
    (result, peak)
}

fn status(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}
