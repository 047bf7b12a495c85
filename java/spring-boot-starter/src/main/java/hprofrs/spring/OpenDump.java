package hprofrs.spring;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.springframework.core.io.AbstractResource;

/** A dump to be sent once. It is open and its file may be deleted: the disk has it until it was sent, or the JVM ends. */
final class OpenDump extends AbstractResource {
    private final long length;
    private final InputStream bytes;

    OpenDump(Path file) throws IOException {
        length = Files.size(file);
        bytes = Files.newInputStream(file, StandardOpenOption.READ);
    }

    @Override
    public InputStream getInputStream() {
        return bytes;
    }

    @Override
    public long contentLength() {
        return length;
    }

    @Override
    public boolean exists() {
        return true;
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public String getDescription() {
        return "heap dump";
    }
}
