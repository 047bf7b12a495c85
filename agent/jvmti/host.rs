//! What the agent asks of the operating system and `std` does not tell.

/// The name of this host, or "localhost" if the system does not say (`gethostname`).
pub(crate) fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer has `name.len()` bytes; the last is kept as a terminating NUL.
    let answer = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let text: Vec<u8> = name.iter().copied().take_while(|&byte| byte != 0).collect();
    if answer != 0 || text.is_empty() {
        return "localhost".to_owned();
    }
    String::from_utf8_lossy(&text).into_owned()
}
