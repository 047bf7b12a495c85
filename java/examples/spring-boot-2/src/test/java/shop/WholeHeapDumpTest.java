package shop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.client.TestRestTemplate;
import org.springframework.http.ResponseEntity;

/** With {@code redact=none} it has all values. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "hprofrs.heapdump.redact=none")
class WholeHeapDumpTest {
    @Autowired private TestRestTemplate http;
    @Autowired private Shop shop;

    @Test
    void valuesAreThereIfAskedFor() {
        assertThat(dump()).contains(shop.cardNumber);
    }

    private String dump() {
        ResponseEntity<byte[]> answer = http.getForEntity("/actuator/heapdump", byte[].class);
        assertThat(answer.getStatusCodeValue()).isEqualTo(200);
        // Each byte a letter.
        String dump = new String(answer.getBody(), StandardCharsets.ISO_8859_1);
        assertThat(dump).startsWith("JAVA PROFILE 1.0.2").endsWith("\u002C\0\0\0\0\0\0\0\0").contains("shop/Shop");
        return dump;
    }
}
