import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What sampled allocations cost within one JVM: a work of {@link Profiled} again and again, with samples switched off and on in
 * turn by the agent's socket. JVMs differ from each other by more than samples cost; here the code is the same on both sides.
 *
 * <pre>
 * Switched WORK FIRST PAIRS AGENT JAVA ARGUMENT...   runs JAVA with the arguments and the agent with heap=sites: WORK so many
 *                                                    times untimed, and then in pairs; prints for each "off|on", the microseconds
 *                                                    it took and those of its thread on a processor
 * </pre>
 */
public final class Switched {
    private static final int WANT_HEAP_SUMMARY = 4;
    private static final int HEAP_SUMMARY = 7;
    private static final int CONTROL = 8;
    private static final int ALLOCATIONS_ON = 1;
    private static final int ALLOCATIONS_OFF = 2;

    private Switched() {}

    public static void main(String[] words) throws Exception {
        String work = words[0];
        int first = Integer.parseInt(words[1]);
        int pairs = Integer.parseInt(words[2]);
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String options = "heap=sites,format=b,doe=n,verbose=n,net=127.0.0.1:" + server.getLocalPort();
            List<String> command = new ArrayList<>(Arrays.asList(words[4], "-agentpath:" + words[3] + "=" + options));
            command.addAll(Arrays.asList(words).subList(5, words.length));
            command.addAll(Arrays.asList("Profiled", "-"));
            server.setSoTimeout(60_000);
            Process java = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            try (Socket agent = server.accept();
                    PrintStream works = new PrintStream(java.getOutputStream(), true);
                    BufferedReader times = new BufferedReader(new InputStreamReader(java.getInputStream()))) {
                DataOutputStream commands = new DataOutputStream(agent.getOutputStream());
                DataInputStream answers = new DataInputStream(new BufferedInputStream(agent.getInputStream()));
                for (int i = 0; i < first; i++) {
                    time(work, works, times);
                }
                for (int i = 0; i < pairs; i++) {
                    // Each is the first one as often as the second.
                    for (boolean on : new boolean[] {i % 2 == 0, i % 2 != 0}) {
                        ask(commands, on);
                        passAnswer(answers);
                        System.out.println((on ? "on " : "off ") + time(work, works, times));
                    }
                }
            } finally {
                java.destroy();
            }
        }
    }

    private static String time(String work, PrintStream works, BufferedReader times) throws Exception {
        works.println(work);
        return times.readLine();
    }

    /** The agent does one command after the other, so when it has answered the second the first is done. */
    private static void ask(DataOutputStream commands, boolean on) throws Exception {
        commands.write(CONTROL);
        commands.writeInt(0);
        commands.writeInt(2);
        commands.writeShort(on ? ALLOCATIONS_ON : ALLOCATIONS_OFF);
        commands.write(WANT_HEAP_SUMMARY);
        commands.writeInt(0);
        commands.writeInt(0);
        commands.flush();
    }

    /** Each answer is a file of its own: name of the format, size of ids, time, and records of which the summary is the last. */
    private static void passAnswer(DataInputStream answers) throws Exception {
        while (answers.readUnsignedByte() != 0) {}
        answers.readFully(new byte[4 + 8]);
        int tag;
        do {
            tag = answers.readUnsignedByte();
            answers.readInt();
            answers.readFully(new byte[answers.readInt()]);
        } while (tag != HEAP_SUMMARY);
    }
}
