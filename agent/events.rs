//! The JVM's events, passed to the part that they concern. Between dumps the agent keeps counts and
//! little else: a tag or a weak reference per class would cost every garbage collection a little,
//! on 8 and 11 inside the pause.

use crate::class_gate::CLASS_GATE;
use crate::gate::Inside;
use crate::heap;
use crate::java_errors::JavaError;
use crate::life_cycle;
use crate::profile::{CpuTimes, New};
use crate::session::Session;
use crate::thrown::Thrown;
use jvm::env::Env;
use jvm::event::ResourceKind;
use jvm::jni::Jni;
use jvm::listener::{Allocation, ClassFileEvent, Listener, OfMonitor};
use jvm::object::Object;
use jvm::os::map_reserve;
use jvm::tracker::Tracked;
use options::OnOutOfMemory;

impl Listener for Session {
    type Inside = Inside<'static>;

    fn current() -> Option<&'static Self> {
        Session::get()
    }

    fn enter(&'static self) -> Option<Inside<'static>> {
        self.gate.enter()
    }

    fn env(&self) -> &Env {
        &self.env
    }

    fn vm_init(&'static self, jni: &mut Jni<'_>) {
        life_cycle::vm_init(self, jni);
    }

    fn vm_death(&'static self, jni: &mut Jni<'_>) {
        life_cycle::vm_death(self, jni);
    }

    fn thread_start(&self, jni: &Jni<'_>, thread: &Object<'_>) {
        self.census.note_thread_start();
        if let Some(allocations) = &self.profiles.allocations {
            allocations.thread_start();
        }
        if let Some(cpu) = &self.profiles.cpu_samples {
            cpu.thread_start(&self.env, jni, thread);
        }
    }

    fn thread_end(&self, jni: &Jni<'_>, thread: &Object<'_>) {
        if let Some(cpu) = &self.profiles.cpu_samples {
            cpu.thread_end();
        }
        self.profiles.note_thread_end(&self.env, jni, thread);
    }

    fn class_file_load_hook(&self, jni: &Jni<'_>, file: ClassFileEvent<'_, '_>) -> Option<Vec<u8>> {
        if let Some(rewritten) = self.java_errors.rewrite(file.bytes, file.loader) {
            // Profiles insert calls, too.
            let bytes = &rewritten;
            let injection = self.profiles.injection.as_ref();
            let more = injection.and_then(|it| it.rewrite(jni, bytes, file.loader));
            return Some(more.unwrap_or(rewritten));
        }
        let injection = self.profiles.injection.as_ref()?;
        injection.rewrite(jni, file.bytes, file.loader)
    }

    fn object_file_load_hook(
        &self,
        _jni: &Jni<'_>,
        file: ClassFileEvent<'_, '_>,
    ) -> Option<Vec<u8>> {
        let injection = self.profiles.injection.as_ref()?;
        injection.rewrite_object(file.bytes)
    }

    fn garbage_collection_finish(&self) {
        if let Some(allocations) = &self.profiles.allocations {
            allocations.note_collection();
        }
        if let Some(triggers) = &self.triggers {
            triggers.note_collection();
        }
    }

    fn class_load(&self) {
        self.census.note_class_load();
    }

    fn class_prepare(&self, class: &Object<'_>) {
        if let Some(cpu) = &self.profiles.cpu_samples {
            cpu.class_prepare(&self.env, class);
        }
        CLASS_GATE.pass();
    }

    /// Leaves the request for the agent's own thread: were the dump made here, a SIGTERM would wait
    /// for it.
    fn data_dump_request(&self) {
        self.dump_queue.request();
    }

    /// Asks for a dump at the first one, and waits until it has what the frames of this thread
    /// hold, as that may be the leak.
    fn resource_exhausted(&self, jni: &Jni<'_>, kind: ResourceKind, what: &str) {
        // A thread that makes a dump itself would wait for its own end.
        if self.options.oom == OnOutOfMemory::Nothing || heap::is_dumping_here() {
            return;
        }
        heap::give_up_reserve(jni);
        map_reserve::give_up();
        self.dump_queue
            .request_for_error(&Thrown::by_jvm(kind, what));
    }

    fn sampled_object_alloc(&self, jni: &Jni<'_>, allocation: &Allocation<'_, '_>) {
        if let Some(allocations) = &self.profiles.allocations {
            allocations.note(&self.env, jni, allocation);
        }
    }

    fn contended_enter(&self, jni: &Jni<'_>, of: &OfMonitor<'_, '_>) {
        if let Some(monitors) = &self.profiles.monitors {
            monitors.note_enter(&self.env, jni, of);
        }
    }

    fn contended_entered(&self, jni: &Jni<'_>, of: &OfMonitor<'_, '_>) {
        if let Some(monitors) = &self.profiles.monitors {
            monitors.note_entered(&self.env, jni, of);
        }
    }

    fn monitor_wait(&self, jni: &Jni<'_>, of: &OfMonitor<'_, '_>, timeout_millis: u64) {
        if let Some(monitors) = &self.profiles.monitors {
            monitors.note_wait(&self.env, jni, of, timeout_millis);
        }
    }

    fn monitor_waited(&self, jni: &Jni<'_>, of: &OfMonitor<'_, '_>) {
        if let Some(monitors) = &self.profiles.monitors {
            monitors.note_waited(&self.env, jni, of);
        }
    }
}

impl Tracked for Session {
    fn object_init(&self, jni: &Jni<'_>, object: &Object<'_>) {
        if let Some(allocations) = &self.profiles.allocations {
            allocations.note_new(&self.env, jni, object, New::Instance);
        }
    }

    /// As [`Session::resource_exhausted`].
    fn error_init(&self, jni: &Jni<'_>, error: &Object<'_>) {
        let Some(_inside) = self.gate.enter() else {
            return;
        };
        if self.options.oom == OnOutOfMemory::Nothing || heap::is_dumping_here() {
            return;
        }
        if let Some(error) = JavaError::of(&self.env, jni, error) {
            map_reserve::give_up();
            self.dump_queue.request_for_error(&Thrown::by_java(&error));
        }
    }

    fn new_array(&self, jni: &Jni<'_>, array: &Object<'_>, dimensions: i32) {
        let Some(allocations) = &self.profiles.allocations else {
            return;
        };
        allocations.note_new(&self.env, jni, array, New::Array);
        if dimensions > 1 {
            for index in 0..jni.array_length(array) {
                let Some(inner) = jni.element(array, index) else {
                    continue;
                };
                self.new_array(jni, &inner, dimensions - 1);
                jni.forget(inner);
            }
        }
    }

    fn mount(&self, jni: &Jni<'_>, thread: &Object<'_>) {
        if let Some(times) = &self.profiles.cpu_times {
            times.mount(&self.env, jni, jni.thread_number(thread));
        }
    }

    fn unmount(&self) {
        if let Some(times) = &self.profiles.cpu_times {
            times.unmount();
        }
    }

    fn method_enter(&self, jni: &Jni<'_>, number: i32) {
        if let Some(times) = &self.profiles.cpu_times {
            times.enter(&self.env, jni, number);
        }
    }

    fn method_exit(&self, number: i32) {
        CpuTimes::exit(number);
    }
}
