package harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** One output stream of a process: kept line by line, copied to a file, and something to wait on. */
public final class Output {
    private final String name;
    private final List<String> lines = new ArrayList<>();
    private final Thread pump;
    private boolean ended;

    Output(String name, InputStream stream, Path copy) {
        this.name = name;
        pump = new Thread(() -> pump(stream, copy), "output " + name);
        pump.setDaemon(true);
        pump.start();
    }

    private void pump(InputStream stream, Path copy) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
                PrintStream file = new PrintStream(copy.toFile(), "UTF-8")) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                file.println(line);
                add(line);
            }
        } catch (IOException closed) {
            // the process is gone; what came before it is kept
        } finally {
            end();
        }
    }

    private synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** All lines so far. */
    public synchronized List<String> lines() {
        return new ArrayList<>(lines);
    }

    /** The program's lines with this word, a name and a number, in their order. */
    public Map<String, Long> numbers(String word) {
        Map<String, Long> numbers = new LinkedHashMap<>();
        for (String line : lines()) {
            String[] words = line.split(" ");
            if (words[0].equals(word)) {
                numbers.put(words[1], Long.parseLong(words[2]));
            }
        }
        return numbers;
    }

    /** How many lines so far have these words in them. */
    public long count(String words) {
        return lines().stream().filter(line -> line.contains(words)).count();
    }

    /** All lines so far, as one text. */
    public String text() {
        return String.join("\n", lines());
    }

    /** Waits for the first line that starts with these words. */
    public String await(String start, Duration limit) {
        return await(1, "a line starting with '" + start + "'", line -> line.startsWith(start), limit);
    }

    /** Waits for the n-th line of a kind, and returns it. */
    public synchronized String await(int count, String what, Predicate<String> kind, Duration limit) {
        Deadline deadline = Deadline.in(limit);
        while (true) {
            Optional<String> line = lines.stream().filter(kind).skip(count - 1).findFirst();
            if (line.isPresent()) {
                return line.get();
            }
            if (ended || deadline.over()) {
                throw new AssertionError((ended ? "end of " : "time is up on ") + name + " without " + what
                        + " (number " + count + "); its output:\n" + text());
            }
            pause(deadline);
        }
    }

    /** Waits that long for the n-th line of a kind, which must not come. */
    public synchronized void mustNotCome(int count, String what, Predicate<String> kind, Duration time) {
        Deadline deadline = Deadline.in(time);
        while (lines.stream().filter(kind).count() < count) {
            if (ended || deadline.over()) {
                return;
            }
            pause(deadline);
        }
        throw new AssertionError(name + " has " + what + " (number " + count + "); its output:\n" + text());
    }

    /** Waits until the stream is closed, so that all lines are there. */
    synchronized void awaitEnd(Duration limit) {
        Deadline deadline = Deadline.in(limit);
        while (!ended && !deadline.over()) {
            pause(deadline);
        }
    }

    private void pause(Deadline deadline) {
        try {
            wait(Math.max(1, deadline.millis()));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
