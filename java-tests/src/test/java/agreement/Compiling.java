package agreement;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import subject.Say;

/**
 * The Java compiler, again and again, on a reader of dumps, whose sources are read from a folder into memory; what it makes
 * is thrown away. The second argument is the number of rounds to get warm, and each word a number of further rounds, after
 * which it is ready again; after the word `exit` it ends.
 */
public class Compiling {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    private static final List<String> OPTIONS = Arrays.asList("-proc:none", "-nowarn", "-g");
    private static final List<JavaFileObject> SOURCES = new ArrayList<>();
    private static int classes;

    public static void main(String[] args) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Paths.get(args[0]), "Hprof*.java")) {
            for (Path file : files) {
                SOURCES.add(new Source(file));
            }
        }
        try (JavaFileManager manager = new Nowhere(COMPILER.getStandardFileManager(null, null, null))) {
            work(manager, Integer.parseInt(args[1]));
            for (String word = Say.ready(); !word.equals("exit"); word = Say.ready()) {
                work(manager, Integer.parseInt(word));
            }
        }
        Say.line("MADE", classes);
    }

    private static void work(JavaFileManager manager, int rounds) {
        for (int i = 0; i < rounds; i++) {
            DiagnosticCollector<JavaFileObject> remarks = new DiagnosticCollector<>();
            if (!COMPILER.getTask(null, manager, remarks, OPTIONS, null, SOURCES).call()) {
                throw new IllegalStateException(remarks.getDiagnostics().toString());
            }
        }
    }

    private static class Source extends SimpleJavaFileObject {
        private final String text;

        Source(Path file) throws IOException {
            super(file.toUri(), Kind.SOURCE);
            text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        }

        @Override
        public CharSequence getCharContent(boolean ignoreErrors) {
            return text;
        }
    }

    /** Takes what the compiler makes, and forgets it. */
    private static class Nowhere extends ForwardingJavaFileManager<JavaFileManager> {
        Nowhere(JavaFileManager manager) {
            super(manager);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            classes++;
            return new SimpleJavaFileObject(URI.create("nowhere:///" + name.replace('.', '/') + kind.extension), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return new OutputStream() {
                        @Override
                        public void write(int value) {}

                        @Override
                        public void write(byte[] bytes, int start, int count) {}
                    };
                }
            };
        }
    }
}
