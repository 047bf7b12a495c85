// report  KAFKA-18337
// leaks   org.apache.kafka:kafka-clients:3.9.0
// mended  use: no metric after close
// java    17
// release 11
// class   org.apache.kafka.common.metrics.JmxReporter$KafkaMbean
// number  200
// holder  (?i)mbean ?server|platformMBeanServer|Repository\b
// reason  (?i)closed|(not|never) unregistered|differ only in
// change  record nothing with the metrics of a closed producer
package leaks;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.stats.Value;

public final class Kafka18337 {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 200; i++) {
            Map<String, Object> settings = new HashMap<>();
            settings.put("bootstrap.servers", "localhost:1");
            settings.put("key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
            settings.put("value.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
            KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings);
            java.lang.reflect.Field field = KafkaProducer.class.getDeclaredField("metrics");
            field.setAccessible(true);
            Metrics metrics = (Metrics) field.get(producer);
            producer.close();
            Map<String, String> tags = Collections.singletonMap("client-id", "late-" + i);
            if (args.length == 0) {
                metrics.sensor("late").add(metrics.metricName("late", "producer-late", tags), new Value());
            }
        }
    }
}
