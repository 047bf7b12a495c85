// report  dom4j/dom4j#162
// leaks   org.dom4j:dom4j:2.1.4
// mended  use: one namespace
// java    17
// class   org.dom4j.Namespace org.dom4j.QName
// number  20000|40000
// holder  QNameCache\b|namespaceCache|NamespaceCache\b|noNamespaceCache
// reason  (?i)keeps its key|value (holds|refers to|keeps) (its|the) key|differ only in
// change  a weak map whose values hold their keys forgets nothing: do not make namespaces at run time
package leaks;

import org.dom4j.Element;
import org.dom4j.tree.BaseElement;

public final class Dom4j162 {
    public static void main(String[] args) {
        for (int i = 0; i < 20_000; i++) {
            Element element = new BaseElement("order");
            element.addElement("line", "http://shop.example/" + (args.length > 0 ? 0 : i));
        }
    }
}
