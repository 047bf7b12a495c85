//! DataDumpRequest: SIGQUIT or `jcmd PID JVMTI.data_dump`.

use crate::jvmti::jni::Jni;
use crate::session::Session;

/// `DataDumpRequest`: hands the request to a thread of the agent's own and returns.
///
/// The event comes on the thread that serves all signals of the JVM: were the dump made here,
/// a SIGTERM would wait for it.
pub(crate) fn data_dump_request(session: &'static Session, jni: Jni<'_>) {
    session.dump_queue.request(session, jni);
}
