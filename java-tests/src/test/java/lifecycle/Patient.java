package lifecycle;

import subject.Say;

/** Answers every word with an echo, until the word exit. */
public class Patient {
    static final Patient[] KEPT = {new Patient(), new Patient(), new Patient()};

    public static void main(String[] args) {
        Say.expect(3, Patient.class);
        String word = Say.ready();
        while (!"exit".equals(word)) {
            Say.line("ECHO", word);
            word = Say.hear();
        }
        Say.line("BYE");
    }
}
