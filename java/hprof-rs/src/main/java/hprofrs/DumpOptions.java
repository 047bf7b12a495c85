package hprofrs;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** How a dump is written, and what it holds. Immutable: each method returns a new value. */
public final class DumpOptions {
    /** What a dump has zeros or stars for. Each has all that the one before it has. */
    public enum Redaction {
        /** Nothing. */
        NONE("n"),
        /** The contents of strings. */
        STRINGS("strings"),
        /** The elements of all arrays of primitive values. */
        ARRAYS("arrays"),
        /** Primitive fields as well. */
        VALUES("values"),
        /** All text but the names of classes, fields and methods as well. */
        ALL("all");

        private final String word;

        Redaction(String word) {
            this.word = word;
        }
    }

    /**
     * The agent's options about how a dump is written and what it holds, in alphabetical order. No other is
     * taken, because who chooses options may be less trusted than the application: others name files, programs and peers.
     */
    private static final List<String> NAMES = Collections.unmodifiableList(Arrays.asList(
            "depth", "drop", "gz", "heap", "keep", "lineno", "maxpause", "minfree", "primarrays",
            "primfields", "redact", "stop", "threads", "timeout", "verbose"));

    private static final DumpOptions NONE = new DumpOptions("");

    /** As the agent takes them, each with a comma before it. */
    private final String text;

    private DumpOptions(String text) {
        this.text = text;
    }

    /** The defaults. */
    public static DumpOptions none() {
        return NONE;
    }

    /** Compresses: 1 is fastest, 9 smallest. */
    public DumpOptions gzip(int level) {
        return with("gz", Integer.toString(level));
    }

    /** Leaves values out while the dump is written, so that they reach no file. */
    public DumpOptions redact(Redaction what) {
        return what == Redaction.NONE ? this : with("redact", what.word);
    }

    /** Keeps a field's values nevertheless: {@code com.acme.Order#id}; {@code *} stands for any text. */
    public DumpOptions keep(String field) {
        return with("keep", field);
    }

    /**
     * Whether the application may be stopped for as long as HotSpot's own dump takes, where the heap cannot be copied. By
     * default it is.
     */
    public DumpOptions stop(boolean isAllowed) {
        return with("stop", isAllowed ? "y" : "n");
    }

    /**
     * Another of the agent's options about how a dump is written and what it holds (docs/options.md): {@code depth},
     * {@code drop}, {@code gz}, {@code heap}, {@code keep}, {@code lineno}, {@code maxpause}, {@code
     * minfree}, {@code primarrays}, {@code primfields}, {@code redact}, {@code stop}, {@code threads}, {@code timeout} and
     * {@code verbose}.
     *
     * @throws IllegalArgumentException if it is another option, or the value has a comma, or is none
     */
    public DumpOptions with(String name, String value) {
        if (!NAMES.contains(name)) {
            throw new IllegalArgumentException(
                    name + "=" + value + ": this is no option of a single dump; there are " + String.join(" ", NAMES));
        }
        if (value.isEmpty() || value.indexOf(',') >= 0) {
            throw new IllegalArgumentException("an option has a value, without a comma: " + name + "=" + value);
        }
        return new DumpOptions(text + "," + name + "=" + value);
    }

    String text() {
        return text;
    }

    /** A path as the agent's option takes it, where letters follow {@code %}. */
    static String fileName(Path file) {
        return plainName(file).replace("%", "%%");
    }

    /** A path as an option takes it whose {@code %} mean nothing. */
    static String plainName(Path file) {
        String name = file.toString();
        if (name.indexOf(',') >= 0) {
            throw new IllegalArgumentException("the agent takes no file name with a comma: " + name);
        }
        return name;
    }
}
