// uses     org.apache.kafka:kafka-clients:3.7.2
// java     17
// largest  .
package healthy;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Consumers that are closed. */
public final class KafkaClosed {
    public static void main(String[] args) {
        for (int i = 0; i < 50; i++) {
            Map<String, Object> settings = new HashMap<>();
            settings.put("bootstrap.servers", "localhost:1");
            settings.put("group.id", "orders");
            new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer()).close();
        }
    }
}
