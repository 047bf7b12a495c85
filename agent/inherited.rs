//! JVMs that have the agent from an environment variable alone and run no application: tools of the
//! JDK and `java -version`. The agent stays out of them, as nobody wants their dumps, and their
//! output is for others.

use jvm::env::{Env, Vm};
use std::ffi::CStr;

/// The variables whose switches a JVM or its launcher adds to the command line.
const VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];
/// What loads an agent.
const SWITCHES: [&str; 3] = ["-agentpath:", "-agentlib:", "-Xrun"];
/// The names that the JDK's launchers state.
const LAUNCHER: &[u8] = b"SUN_STANDARD";
/// The prefix of the JDK's own modules.
const MODULES: [&str; 2] = ["jdk.", "java."];
/// The prefix of the main classes of the tools of JDK 8, which has no modules.
const TOOLS_OF_8: [&str; 3] = ["sun.", "com.sun.tools.", "com.sun.java.util.jar.pack."];

/// Whether the agent has no place in this JVM, to which it comes with these options. In
/// `Agent_OnLoad`.
pub(crate) fn stays_out(vm: Vm, options: &str) -> bool {
    let values = VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
    let mut inherited = values.filter(|value| is_from(value, options));
    inherited.next().is_some()
        && vm
            .new_env()
            .is_ok_and(|env| Started::tell(&env).is_no_application())
}

/// Whether an agent with these options comes from a variable with this value.
fn is_from(value: &str, options: &str) -> bool {
    value.contains(options) && SWITCHES.iter().any(|switch| value.contains(switch))
}

/// The program that the JVM was started for, by its launcher's properties.
#[derive(Debug, Default)]
struct Started {
    launcher: Vec<u8>,
    /// The main class, after a module and a slash if it has one, and its arguments; empty for none.
    command: String,
    /// The main module; empty for none.
    module: String,
}

impl Started {
    fn tell(env: &Env) -> Self {
        let property = |name: &CStr| env.system_property(name).unwrap_or_default();
        let text = |name| String::from_utf8_lossy(&property(name)).into_owned();
        Self {
            launcher: property(c"sun.java.launcher"),
            command: text(c"sun.java.command"),
            module: text(c"jdk.module.main"),
        }
    }

    /// Whether it runs a program of the JDK, or none at all. A JVM that another program makes has
    /// no launcher of the JDK's.
    fn is_no_application(&self) -> bool {
        let begins = |text: &str, with: &[&str]| with.iter().any(|start| text.starts_with(start));
        self.launcher == LAUNCHER
            && (self.command.is_empty()
                || begins(&self.module, &MODULES)
                || begins(&self.command, &TOOLS_OF_8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_environment_loads_is_inherited() {
        let value = "-Xmx1g -agentpath:/d/libhprof_rs.so=heap=dump,file=/d/a.hprof -Dx=y";
        assert!(is_from(value, "heap=dump,file=/d/a.hprof"));
        assert!(!is_from(value, "heap=dump,file=/d/b.hprof"));
        assert!(is_from("'-agentlib:hprof_rs'", ""));
        assert!(!is_from("-Xmx1g", "") && !is_from("", ""));
    }

    #[test]
    fn tools_are_told_from_applications() {
        let started = |command: &str, module: &str| Started {
            launcher: LAUNCHER.to_vec(),
            command: command.to_owned(),
            module: module.to_owned(),
        };
        for (command, module) in [
            ("", ""),
            ("jdk.jcmd/sun.tools.jcmd.JCmd -l", "jdk.jcmd"),
            ("java.base/sun.security.tools.keytool.Main", "java.base"),
            ("sun.tools.jps.Jps", ""),
            ("com.sun.tools.javac.Main A.java", ""),
        ] {
            assert!(started(command, module).is_no_application(), "{command}");
        }
        for (command, module) in [
            ("app.jar", ""),
            ("com.sun.enterprise.glassfish.bootstrap.ASMain", ""),
            ("com.acme/com.acme.Main", "com.acme"),
            // The launcher of a source file, which is an application.
            ("jdk.compiler/com.sun.tools.javac.launcher.Main A.java", ""),
        ] {
            assert!(!started(command, module).is_no_application(), "{command}");
        }
        assert!(!Started::default().is_no_application(), "made by jsvc");
    }
}
