// report  KAFKA-9306
// leaks   org.apache.kafka:kafka-clients:2.4.0
// mended  org.apache.kafka:kafka-clients:2.4.1
// java    17
// class   org.apache.kafka.common.metrics.JmxReporter$KafkaMbean
// number  300|1200
// holder  (?i)mbean ?server|platformMBeanServer|Repository\b
// reason  (?i)closed|(not|never) unregistered|differ only in
// change  take a version that takes its MBeans away when the consumer closes
package leaks;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public final class Kafka9306 {
    public static void main(String[] args) {
        for (int i = 0; i < 300; i++) {
            Map<String, Object> settings = new HashMap<>();
            settings.put("bootstrap.servers", "localhost:1");
            settings.put("group.id", "orders");
            new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer()).close();
        }
    }
}
