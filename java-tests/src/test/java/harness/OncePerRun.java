package harness;

import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Leaves out what another run of `make test-all` has: by default what only that runs, in its second run what the first one ran. */
public final class OncePerRun implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (Matrix.current() == Matrix.WHOLE || context.getTestMethod().isEmpty()) {
            return ConditionEvaluationResult.enabled("");
        }
        boolean isLate = isLate(context.getRequiredTestMethod());
        // The rows of the others are divided by RowsProvider.
        boolean isDivided = AnnotationSupport.isAnnotated(context.getTestMethod(), Rows.class);
        if (Matrix.current() == Matrix.THIN) {
            return isLate ? ConditionEvaluationResult.disabled("make test-all runs it") : ConditionEvaluationResult.enabled("");
        }
        return isLate || isDivided ? ConditionEvaluationResult.enabled("") : ConditionEvaluationResult.disabled("make test has run it");
    }

    /** Whether make test leaves this test out. */
    static boolean isLate(Method test) {
        boolean isOnlyInTestAll = test.isAnnotationPresent(OnlyInTestAll.class)
                || test.getDeclaringClass().isAnnotationPresent(OnlyInTestAll.class);
        return isOnlyInTestAll || test.isAnnotationPresent(InTurn.class) && !hasTurn(test, Matrix.turn());
    }

    /** Whether a test that runs in turn has it after so many commits. */
    static boolean hasTurn(Method test, int turn) {
        return Math.floorMod(Matrix.name(test).hashCode() + turn, InTurn.COMMITS) == 0;
    }
}
