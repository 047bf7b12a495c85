package same;

import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/** What a comparison of two engines found: differences, and what the rules let pass, as far as they may. */
final class EngineFindings {
    private final Findings findings = new Findings();
    private final Map<EngineRule, TreeMap<String, Integer>> allowed = new EnumMap<>(EngineRule.class);

    /** Something that is not as it must be. */
    void differ(String kind, String text) {
        findings.differ(kind, text);
    }

    /** Something that a rule lets pass, or a difference if there is no rule. */
    void judge(EngineRule rule, String what, String kind, String text) {
        if (rule == null) {
            findings.differ(kind, text);
        } else {
            allowed.computeIfAbsent(rule, key -> new TreeMap<>()).merge(what, 1, Integer::sum);
        }
    }

    /** How often rules let something pass that only a fork has. */
    int allowedToForks() {
        return allowed.keySet().stream().mapToInt(this::allowed).sum();
    }

    private int allowed(EngineRule rule) {
        return allowed.get(rule).values().stream().mapToInt(Integer::intValue).sum();
    }

    /** All is found: what rules let pass is told, and is a difference if it was too much. */
    Findings finish(int times) {
        allowed.forEach((rule, whats) -> {
            findings.note(rule + ", " + rule.meaning + ": " + allowed(rule) + ": " + whats);
            int most = times * rule.most;
            if (allowed(rule) > most) {
                findings.differ("too much of what " + rule + " lets pass", allowed(rule) + ", more than " + most);
            }
        });
        return findings;
    }
}
