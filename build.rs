//! Link flags of the agent; writes nothing.

fn main() {
    // Keep the library mapped: the JVM unloads a library whose Agent_OnAttach failed, but our
    // threads and thread-local destructors may still run in it.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
