package engines;

import subject.Say;

/**
 * A program that changes one thing of its heap for each word it hears. The words are short, as they leave traces in the
 * heap themselves. Runs on Java 8.
 */
public class Changing {
    static final long[] NUMBERS = {1, 2, 3};
    static final Cell FIRST = new Cell(new Cell(new Cell(null)));
    static final Object[] CELLS = {new Cell(null), new Cell(null), new Cell(null)};
    static short count = 7;

    static class Cell {
        int value = 1;
        final Cell next;

        Cell(Cell next) {
            this.next = next;
        }
    }

    /** Has what a cell has. */
    static final class LikeCell extends Cell {
        LikeCell() {
            super(null);
        }
    }

    public static void main(String[] args) {
        CELLS.clone()[0] = new LikeCell();               // so that the class is there from the beginning
        for (String word = Say.ready(); !word.equals("exit"); word = Say.hear()) {
            change(word);
            Say.line("CHANGED", word);
        }
    }

    private static void change(String word) {
        switch (word) {
            case "f": FIRST.next.next.value = 2; break;
            case "e": NUMBERS[2] = 4; break;
            case "s": count = 8; break;
            case "i": CELLS[0] = CELLS[1]; break;
            case "c": CELLS[2] = new LikeCell(); break;
            default: throw new IllegalArgumentException(word);
        }
    }
}
