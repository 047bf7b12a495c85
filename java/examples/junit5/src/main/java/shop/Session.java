package shop;

/** What a shop knows of a visitor. */
final class Session {
    final byte[] basket = new byte[1024];
}
