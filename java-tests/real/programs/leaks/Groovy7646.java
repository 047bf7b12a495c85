// report  GROOVY-7646
// leaks   org.codehaus.groovy:groovy-all:2.4.5
// mended  org.codehaus.groovy:groovy-all:2.4.8
// java    8
// options -XX:SoftRefLRUPolicyMSPerMB=0
// class   groovy.lang.GroovyClassLoader$InnerLoader
// number  800
// holder  ClassInfo\b|globalClassValue|globalClassSet|GroovyClassValue
// reason  (?i)class loaders?\b|metaspace|one class each|same class
// change  take a version that drops the classes of scripts, or compile each script once
package leaks;

import groovy.util.Eval;

public final class Groovy7646 {
    public static void main(String[] args) {
        for (int i = 0; i < 800; i++) {
            Eval.me("40 + " + i);
        }
    }
}
