//! DataDumpRequest: SIGQUIT or `jcmd PID JVMTI.data_dump`.

use crate::session::Session;

/// `DataDumpRequest`: leaves the request for the agent's own thread and returns.
///
/// The event comes on the thread that serves all signals of the JVM: were the dump made here,
/// a SIGTERM would wait for it.
pub(crate) fn data_dump_request(session: &Session) {
    session.dump_queue.request();
}
