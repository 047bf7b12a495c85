// report  killme2008/aviatorscript#627
// leaks   com.googlecode.aviator:aviator:5.3.3
// mended  use: compile the text once, with a variable
// java    8
// class   java.util.concurrent.FutureTask com.googlecode.aviator.ClassExpression com.googlecode.aviator.BaseExpression com.googlecode.aviator.LiteralExpression
// number  2000
// holder  AviatorEvaluator\w*|expressionCache|cachedExpressions|cacheExpressions
// reason  (?i)differ only in|classes made|generated|same text
// change  put the number into a variable of the expression, or cache no text that is made at run time
package leaks;

import com.googlecode.aviator.AviatorEvaluator;
import com.googlecode.aviator.Expression;

public final class Aviator627 {
    public static void main(String[] args) {
        for (int i = 0; i < 2000; i++) {
            Expression sum = AviatorEvaluator.compile(args.length > 0 ? "a + b" : "a + " + i, true);
            sum.execute(sum.newEnv("a", 1, "b", i));
        }
    }
}
