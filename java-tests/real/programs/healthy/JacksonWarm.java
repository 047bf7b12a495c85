// uses     com.fasterxml.jackson.core:jackson-databind:2.15.4
// java     17
// largest  .
package healthy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** A mapper that has read and written all day. */
public final class JacksonWarm {
    static final ObjectMapper MAPPER = new ObjectMapper();

    public static class Order {
        public int number;
        public Map<String, Object> lines;
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 20_000; i++) {
            String text = "{\"number\":" + i + ",\"lines\":{\"line" + i % 3000 + "\":{\"price\":3}}}";
            MAPPER.writeValueAsString(MAPPER.readValue(text, Order.class));
        }
    }
}
