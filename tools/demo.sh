#!/bin/sh
# The demo: the H2 database, a real application, under the agent. It fills a table; one dump is asked for with
# SIGQUIT while it holds the data, one is made when it ends. The command answers what kept the memory, and makes a page.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
agent=$root/target/quick/libhprof_rs.so
hprof=$root/target/quick/hprof
work=$root/target/demo

rm -rf "$work"
mkdir -p "$work"
# Debian's package is unpacked, not installed; elsewhere Maven has the library.
if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
    (cd "$work" && apt-get -qq download libh2-java && dpkg-deb -x libh2-java_*.deb .)
    h2=$(ls "$work"/usr/share/java/h2-*.jar)
else
    mvn --batch-mode --no-transfer-progress -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
        -Dartifact=com.h2database:h2:2.3.232 -DoutputDirectory="$work"
    h2=$work/h2-2.3.232.jar
fi
mkfifo "$work/sql"

run() { printf '\n$ %s\n' "$*"; "$@"; }

echo '$ java -agentpath:target/quick/libhprof_rs.so=heap=dump,file=target/demo/h2.hprof -jar h2.jar   (its SQL shell)'
java -agentpath:"$agent"=heap=dump,file="$work/h2.hprof" -cp "$h2" \
    org.h2.tools.Shell -url jdbc:h2:mem:demo <"$work/sql" >"$work/shell.out" 2>"$work/shell.err" &
java=$!
trap 'kill $java 2>/dev/null || true' EXIT
exec 3>"$work/sql"

# wait_for PATTERN FILE: until the line is there; the process that should write it must be alive.
wait_for() {
    until grep -q "$1" "$2"; do
        kill -0 $java 2>/dev/null || { cat "$work/shell.out" "$work/shell.err" >&2; exit 1; }
        sleep 0.1
    done
}

echo "CREATE TABLE person AS SELECT x id, 'name ' || x name, RAND() score FROM SYSTEM_RANGE(1, 300000);" >&3
echo "SELECT 'rows: ' || COUNT(*) FROM person WHERE score < 2;" >&3
wait_for 'rows: 300000' "$work/shell.out"
run kill -QUIT $java
wait_for 'dumped.*h2.hprof' "$work/shell.err"
echo 'quit' >&3
exec 3>&-
wait $java
trap - EXIT
cat "$work/shell.err"

run "$hprof" check "$work/h2.hprof"
run "$hprof" check "$work/h2.1.hprof"
run "$hprof" histo "$work/h2.hprof" --top 5
run "$hprof" leaks "$work/h2.hprof"
run "$hprof" report "$work/h2.hprof" -o "$work/h2.html"
cat <<END

The dumps are target/demo/h2.hprof (SIGQUIT) and target/demo/h2.1.hprof (at exit). To open the page:

    xdg-open target/demo/h2.html
END
