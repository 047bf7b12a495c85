package shop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.client.TestRestTemplate;
import org.springframework.http.ResponseEntity;

/** Without a setting, the dump is whole and has no values. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class HeapDumpTest {
    @Autowired private TestRestTemplate http;
    @Autowired private Shop shop;

    @Test
    void secretsStayInTheHeap() {
        assertThat(dump()).doesNotContain(shop.cardNumber);
    }

    @Test
    void unreachableObjectsAreRefused() {
        ResponseEntity<String> answer = http.getForEntity("/actuator/heapdump?live=false", String.class);
        assertThat(answer.getStatusCode().value()).isEqualTo(400);
        assertThat(answer.getBody()).isEqualTo("no heap dump: only reachable objects can be dumped: leave live=false out\n");
    }

    @Test
    void headersAloneNeedNoDump() {
        assertThat(http.headForHeaders("/actuator/heapdump").getContentLength()).isLessThan(1);
    }

    /** A name that others see before the dump has it is one that they can take. */
    @Test
    void noNameOfADumpShowsInTheFolderOfAll() throws Exception {
        Path folder = Paths.get(System.getProperty("java.io.tmpdir"));
        Set<String> before = names(folder);
        List<String> seen = new ArrayList<>();
        try (WatchService watch = FileSystems.getDefault().newWatchService()) {
            folder.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            dump();
            Path last = Files.createTempFile("last", "");
            while (!seen.contains(last.getFileName().toString())) {
                WatchKey key = watch.take();
                key.pollEvents().forEach(event -> seen.add(String.valueOf(event.context())));
                key.reset();
            }
            Files.delete(last);
        }
        assertThat(seen).anyMatch(name -> name.startsWith("hprof-rs")).noneMatch(name -> name.contains(".hprof"));
        assertThat(names(folder)).filteredOn(name -> name.contains("hprof") || name.contains("heap")).isSubsetOf(before);
    }

    private static Set<String> names(Path folder) throws IOException {
        Set<String> names = new TreeSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            files.forEach(file -> names.add(file.getFileName().toString()));
        }
        return names;
    }

    private String dump() {
        ResponseEntity<byte[]> answer = http.getForEntity("/actuator/heapdump", byte[].class);
        assertThat(answer.getStatusCode().value()).isEqualTo(200);
        // Each byte a letter.
        String dump = new String(answer.getBody(), StandardCharsets.ISO_8859_1);
        assertThat(dump).startsWith("JAVA PROFILE 1.0.2").endsWith("\u002C\0\0\0\0\0\0\0\0").contains("shop/Shop");
        return dump;
    }
}
