// report  Netflix/Hystrix#1737
// leaks   com.netflix.hystrix:hystrix-core:1.5.18
// mended  use: one key for the service
// java    8
// class   com.netflix.hystrix.HystrixCommandMetrics com.netflix.hystrix.HystrixCommandKey$Factory$HystrixCommandKeyDefault
// number  300
// holder  HystrixCommandMetrics\b(?! retain)|HystrixCommandKey\b|InternMap\b|\bmetrics\b|\bintern\b
// reason  (?i)differ only in|client-|one for each
// change  name a command by what it calls, not for whom
package leaks;

import com.netflix.hystrix.HystrixCommand;
import com.netflix.hystrix.HystrixCommandGroupKey;
import com.netflix.hystrix.HystrixCommandKey;
import com.netflix.hystrix.HystrixCommandProperties;

public final class Hystrix1737 {
    static final class Call extends HystrixCommand<Integer> {
        Call(String key) {
            super(Setter.withGroupKey(HystrixCommandGroupKey.Factory.asKey("prices")).andCommandKey(HystrixCommandKey.Factory.asKey(key))
                    .andCommandPropertiesDefaults(HystrixCommandProperties.Setter().withExecutionIsolationStrategy(
                            HystrixCommandProperties.ExecutionIsolationStrategy.SEMAPHORE)));
        }

        @Override
        protected Integer run() {
            return 1;
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 300; i++) {
            new Call(args.length > 0 ? "price" : "price-client-" + i).execute();
        }
    }
}
