// uses     org.antlr:antlr4:4.9.3
// java     11
// largest  (?i)antlr
package healthy;

import org.antlr.v4.tool.Grammar;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;

/** A parser that has seen many texts: its tables are warm. */
public final class AntlrTables {
    static Grammar grammar;

    public static void main(String[] args) throws Exception {
        grammar = new Grammar("grammar Sum; sum : part (('+'|'-') part)*; part : one (('*'|'/') one)*;"
                + " one : NUMBER | NAME | NAME '(' (sum (',' sum)*)? ')' | '(' sum ')'; NUMBER : [0-9]+; NAME : [a-z]+; SPACE : [ \\n]+ -> skip;");
        for (int i = 0; i < 2000; i++) {
            String text = "f(" + i + ", (a + b" + (i % 7 == 0 ? "" : "c") + ") * 3) - g()";
            grammar.createParserInterpreter(new CommonTokenStream(grammar.createLexerInterpreter(CharStreams.fromString(text)))).parse(0);
        }
    }
}
