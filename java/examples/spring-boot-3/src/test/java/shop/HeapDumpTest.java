package shop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.client.TestRestTemplate;
import org.springframework.http.ResponseEntity;

/** Without a setting, the dump is whole and tells no value. */
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
        assertThat(http.getForEntity("/actuator/heapdump?live=false", byte[].class).getStatusCode().value()).isEqualTo(503);
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
