/** A heap of which each object is known, and of which a part is written all the time; until it is ended. */
public class Cells {
    static final int COUNT = 20_000;

    static final class Cell {
        final long number;
        Cell next;
        volatile long written;

        Cell(long number, Cell next) {
            this.number = number;
            this.next = next;
        }
    }

    static Cell first;

    public static void main(String[] args) throws Exception {
        for (int number = 0; number < COUNT; number++) {
            first = new Cell(number, first);
        }
        System.out.println("READY");
        while (true) {
            for (Cell cell = first; cell != null; cell = cell.next) {
                cell.written++;
            }
            Thread.sleep(1);
        }
    }
}
