package harm;

import lifecycle.Patient;

/** Loads a library that has handlers for forks (see handlers.c), then waits for words. */
public class ForkHandlers {
    public static void main(String[] args) {
        System.load(args[0]);
        Patient.main(args);
    }
}
