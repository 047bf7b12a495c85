// report  alibaba/fastjson#3829
// leaks   com.alibaba:fastjson:1.2.76
// mended  use: one Type for all calls
// java    17
// class   com.alibaba.fastjson.parser.deserializer.JavaBeanDeserializer com.alibaba.fastjson.parser.deserializer.FastjsonASMDeserializer
// number  8000
// holder  ParserConfig\b
// reason  (?i)\b(equal|same (key|type)|identity\b|no equals)
// change  keep the Type in a static field: the map compares types by identity
package leaks;

import com.alibaba.fastjson.JSON;
import java.lang.reflect.Type;

public final class Fastjson3829 {
    public static class User {
        public String name;
        public int age;
    }

    public static class Wrap<T> {
        public T result;
        public String code;
    }

    public static Wrap<User> call() {
        return null;
    }

    static Type type() throws Exception {
        return Fastjson3829.class.getDeclaredMethod("call").getGenericReturnType();
    }

    public static void main(String[] args) throws Exception {
        String text = "{\"result\":{\"name\":\"n\",\"age\":3},\"code\":\"0\"}";
        Type one = type();
        for (int i = 0; i < 8000; i++) {
            JSON.parseObject(text, args.length > 0 ? one : type());
        }
    }
}
