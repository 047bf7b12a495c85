// report  JDK-8168469, bcgit/bc-java#1076
// leaks   org.bouncycastle:bcprov-jdk15on:1.60
// mended  use: one provider
// java    17
// class   org.bouncycastle.jce.provider.BouncyCastleProvider
// number  200
// holder  verificationResults|JceSecurity\b
// reason  (?i)\bequal\b|same provider|\bidentity\b|one for each
// change  keep one provider, or register it; Java 21 holds it by a weak reference
package leaks;

import javax.crypto.Cipher;
import org.bouncycastle.jce.provider.BouncyCastleProvider;

public final class Jdk8168469 {
    static final BouncyCastleProvider ONE = new BouncyCastleProvider();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 200; i++) {
            Cipher.getInstance("AES/CBC/PKCS5Padding", args.length > 0 ? ONE : new BouncyCastleProvider());
        }
    }
}
