#!/bin/sh
# Draws docs/pause.svg from the first table of docs/benchmarks.md: our pause beside that of the JVM's own dump.
set -eu

cd "$(dirname "$0")/.."

awk '
BEGIN { FS = " *[|] *"; height = 62 }
/^### Objects linked in shuffled/ { exit }
match($0, /[0-9.]+ GB live/) { live = substr($0, RSTART, RLENGTH - 8) }
$2 ~ /^[0-9]+$/ { javas[++rows] = $2; ours[rows] = $3; theirs[rows] = $4; if ($4 > most) most = $4 }
function bar(y, class, name, millis,    width) {
    width = millis * factor
    if (width < 2) width = 2
    printf "  <text x=\"85\" y=\"%d\">%s</text>\n", y + 14, name
    printf "  <rect class=\"%s\" x=\"270\" y=\"%d\" width=\"%.1f\" height=\"18\"/>\n", class, y, width
    printf "  <text x=\"%.1f\" y=\"%d\">%.0f ms</text>\n", 278 + width, y + 14, millis
}
END {
    factor = 455 / most
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"830\" height=\"%d\" font-family=\"sans-serif\" font-size=\"14\">\n", 60 + height * rows
    print "  <desc>Made by tools/pause-chart.sh from docs/benchmarks.md</desc>"
    print "  <style>.ours { fill: #1a7f37 } .theirs { fill: #a0a8b0 } text { fill: #24292f }</style>"
    printf "  <rect width=\"830\" height=\"%d\" fill=\"#ffffff\"/>\n", 60 + height * rows
    printf "  <text x=\"16\" y=\"28\" font-size=\"16\">How long the application stands still during a heap dump (%s GB of live objects, G1)</text>\n", live
    for (row = 1; row <= rows; row++) {
        y = 46 + height * (row - 1)
        printf "  <text x=\"16\" y=\"%d\" font-weight=\"bold\">Java %s</text>\n", y + 14, javas[row]
        bar(y, "ours", "hprof-rs", ours[row])
        bar(y + 22, "theirs", "jcmd GC.heap_dump -all", theirs[row])
    }
    print "</svg>"
}' docs/benchmarks.md >docs/pause.svg
