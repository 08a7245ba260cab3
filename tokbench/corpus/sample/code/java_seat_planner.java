package theatre.booking;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Hands out blocks of adjoining seats in a rectangular hall.
 *
 * <p>The best block is the one nearest to the middle of the hall, where
 * stepping one row back costs as much as moving {@value #ROW_WEIGHT} seats.
 */
class SeatPlanner {
    static final int ROW_WEIGHT = 3;
    private static final char TAKEN = '█';
    private static final char FREE = '·';

    /** A run of seats side by side in one row. */
    static final class Block {
        final int row;
        final int first;
        final int length;

        Block(int row, int first, int length) {
            this.row = row;
            this.first = first;
            this.length = length;
        }

        double centre() {
            return first + (length - 1) / 2.0;
        }

        @Override
        public String toString() {
            char letter = (char) ('A' + row);
            return length == 1
                    ? String.format("%c%d", letter, first + 1)
                    : String.format("%c%d–%c%d", letter, first + 1, letter, first + length);
        }
    }

    interface BookingListener {
        void onBooked(long reference, Block block);

        default BookingListener andThen(BookingListener next) {
            return (reference, block) -> {
                onBooked(reference, block);
                next.onBooked(reference, block);
            };
        }
    }

    private final BitSet[] rows;
    private final int seatsPerRow;
    private final AtomicLong nextReference = new AtomicLong(0x1000L);
    private BookingListener listener = (reference, block) -> { };

    SeatPlanner(int rowCount, int seatsPerRow) {
        this.seatsPerRow = seatsPerRow;
        this.rows = new BitSet[rowCount];
        Arrays.setAll(rows, index -> new BitSet(seatsPerRow));
    }

    void addListener(BookingListener extra) {
        listener = listener.andThen(extra);
    }

    synchronized Block book(int partySize) {
        Block block = bestBlock(partySize).orElseThrow(
                () -> new NoSuchElementException("No room left for a party of " + partySize));
        rows[block.row].set(block.first, block.first + block.length);
        listener.onBooked(nextReference.getAndIncrement(), block);
        return block;
    }

    private Optional<Block> bestBlock(int size) {
        return IntStream.range(0, rows.length)
                .boxed()
                .flatMap(row -> freeBlocks(row, size))
                .min(Comparator.comparingDouble(this::distanceFromCentre));
    }

    private Stream<Block> freeBlocks(int row, int size) {
        return IntStream.rangeClosed(0, seatsPerRow - size)
                .filter(first -> {
                    int nextTaken = rows[row].nextSetBit(first);
                    return nextTaken == -1 || nextTaken >= first + size;
                })
                .mapToObj(first -> new Block(row, first, size));
    }

    private double distanceFromCentre(Block block) {
        double sideways = Math.abs(block.centre() - (seatsPerRow - 1) / 2.0);
        return sideways + ROW_WEIGHT * Math.abs(block.row - rows.length / 2);
    }

    String render() {
        StringBuilder plan = new StringBuilder();
        for (int row = 0; row < rows.length; row++) {
            plan.append((char) ('A' + row)).append(' ');
            for (int seat = 0; seat < seatsPerRow; seat++) {
                plan.append(rows[row].get(seat) ? TAKEN : FREE);
            }
            plan.append('\n');
        }
        return plan.toString();
    }

    public static void main(String[] args) {
        SeatPlanner hall = new SeatPlanner(6, 14);
        hall.addListener((reference, block) ->
                System.out.printf("Booking %06X: seats %s%n", reference, block));
        int[] parties = {4, 2, 6, 1, 9, 3};
        for (int party : parties) {
            hall.book(party);
        }
        System.out.println("Seated " + Arrays.stream(parties).sum() + " guests\n" + hall.render());
    }
}
