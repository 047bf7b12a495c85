package triggers;

import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Fills a part of its heap with what stays, makes garbage, and collects, on request. */
public class Load {
    private static final List<byte[]> KEPT = new ArrayList<>();

    public static void main(String[] args) {
        String word = Say.ready();
        while (!"exit".equals(word)) {
            String[] words = word.split(" ");
            switch (words[0]) {
                case "keep":
                    keep(Integer.parseInt(words[1]));
                    break;
                case "garbage":
                    garbage(Integer.parseInt(words[1]));
                    break;
                default:
                    KEPT.clear();
            }
            Say.line("DID", word);
            word = Say.hear();
        }
    }

    /** Fills this percentage of the largest heap with objects that stay, and collects. */
    private static void keep(int percent) {
        long wanted = Runtime.getRuntime().maxMemory() / 100 * percent;
        while (KEPT.size() * 65_536L < wanted) {
            KEPT.add(new byte[65_500]);
        }
        while (KEPT.size() * 65_536L > wanted + 65_536) {
            KEPT.remove(KEPT.size() - 1);
        }
        System.gc();
    }

    /** Makes this many MB of garbage. */
    private static void garbage(int megabytes) {
        for (int made = 0; made < megabytes * 1024; made++) {
            byte[] bytes = new byte[1000];
            if (bytes.hashCode() == 42) {
                Say.line("SEEN", "it");
            }
        }
    }
}
