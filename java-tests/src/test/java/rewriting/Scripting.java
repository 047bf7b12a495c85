package rewriting;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import javax.script.ScriptEngineManager;
import javax.script.ScriptException;

/** Has Java 8's own compiler, that of JavaScript, make classes and run them; the result goes into a file. */
public final class Scripting {
    /** What the script gives. */
    static final String RESULT = "168 primes below 1000, their sum is 76127; [1,1,2,3,5,8]; caught x; 5040; A-B-C";

    private static final String SCRIPT = String.join("\n",
            "var primes = [];",
            "for (var n = 2; n < 1000; n++) {",
            "  if (primes.every(function (p) { return n % p != 0; })) primes.push(n);",
            "}",
            "var sum = primes.reduce(function (a, b) { return a + b; }, 0);",
            "function fibonacci(n) { return n < 2 ? 1 : fibonacci(n - 1) + fibonacci(n - 2); }",
            "var caught;",
            "try { throw 'x'; } catch (e) { caught = e; } finally { caught = 'caught ' + caught; }",
            "var product = java.util.stream.IntStream.rangeClosed(1, 7).reduce(1, function (a, b) { return a * b; });",
            "primes.length + ' primes below 1000, their sum is ' + sum + '; '",
            "  + JSON.stringify([0, 1, 2, 3, 4, 5].map(fibonacci)) + '; ' + caught + '; ' + product + '; '",
            "  + 'c,b,a'.split(/,/).sort().join('-').toUpperCase();");

    private Scripting() {}

    public static void main(String[] arguments) throws ScriptException, IOException {
        Object result = new ScriptEngineManager().getEngineByName("nashorn").eval(SCRIPT);
        Files.write(Paths.get(arguments[0]), result.toString().getBytes(StandardCharsets.UTF_8));
    }
}
