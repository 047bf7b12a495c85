package planted;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;

/** A container's loader of one deployed application, which has classes of its own. */
public final class WebappLoader extends URLClassLoader {
    final int deployment;
    private boolean isStopped;

    WebappLoader(int deployment) {
        super(new URL[] {WebappLoader.class.getProtectionDomain().getCodeSource().getLocation()}, WebappLoader.class.getClassLoader());
        this.deployment = deployment;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith("planted.WebApp") || name.equals(WebappLoader.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? findClass(name) : loaded;
        }
    }

    /** As a container does that undeploys. */
    void stop() throws IOException {
        isStopped = true;
        close();
    }

    @Override
    public String toString() {
        return "deployment " + deployment + (isStopped ? ", stopped" : "");
    }
}
