//! Link flags of the agent; writes nothing.

fn main() {
    // The JVM unloads a library whose Agent_OnAttach refused a command, while threads and thread-local
    // destructors of ours may still run in it: stay mapped.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
