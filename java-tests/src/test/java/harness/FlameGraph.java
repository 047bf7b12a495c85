package harness;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;

/** The boxes of a flame graph (SVG), as a person sees them: a caller is below what it calls and as wide. */
public final class FlameGraph {
    /** A box. */
    public static final class Box {
        public final String name;
        /** The number in its title; its width must be in proportion. */
        public final long amount;
        private final double left;
        private final double width;
        private final double top;
        private final double height;

        Box(String title, Element rectangle) {
            int parenthesis = title.lastIndexOf(" (");
            name = title.substring(0, parenthesis);
            amount = Long.parseLong(title.substring(parenthesis + 2).split(" ")[0].replace(",", ""));
            left = percent(rectangle, "x");
            width = percent(rectangle, "width");
            top = Double.parseDouble(rectangle.getAttribute("y"));
            height = Double.parseDouble(rectangle.getAttribute("height"));
        }

        private static double percent(Element rectangle, String attribute) {
            return Double.parseDouble(rectangle.getAttribute(attribute).replace("%", ""));
        }

        private boolean isOn(Box below) {
            double middle = left + width / 2;
            boolean isNext = top < below.top && below.top - top < 2 * height;
            return isNext && below.left <= middle && middle <= below.left + below.width;
        }

        @Override
        public String toString() {
            return name + " " + amount + " (" + width + "%)";
        }
    }

    public final List<Box> boxes = new ArrayList<>();

    public FlameGraph(Path svg) {
        NodeList groups = parse(svg).getElementsByTagName("g");
        for (int i = 0; i < groups.getLength(); i++) {
            Element group = (Element) groups.item(i);
            if (group.getParentNode().getNodeName().equals("svg") && ((Element) group.getParentNode()).getAttribute("id").equals("frames")) {
                String title = group.getElementsByTagName("title").item(0).getTextContent();
                boxes.add(new Box(title, (Element) group.getElementsByTagName("rect").item(0)));
            }
        }
    }

    private static Element parse(Path svg) {
        try {
            DocumentBuilder builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
            // What the picture's type is defined by is on the net, and not needed.
            builder.setEntityResolver((publicId, systemId) -> new InputSource(new StringReader("")));
            return builder.parse(svg.toFile()).getDocumentElement();
        } catch (ParserConfigurationException | SAXException | IOException e) {
            throw new AssertionError(svg + " is no picture", e);
        }
    }

    /** The widest of the boxes with nothing on them. */
    public Box widestLeaf() {
        return boxes.stream().filter(box -> boxes.stream().noneMatch(other -> other.isOn(box)))
                .max(Comparator.comparingDouble(box -> box.width)).orElseThrow();
    }

    /** The names from the bottom up to this box. */
    public List<String> stack(Box box) {
        List<String> below = boxes.stream().filter(box::isOn).findFirst().map(this::stack).orElseGet(ArrayList::new);
        below.add(box.name);
        return below;
    }

    /** The width of the boxes at the bottom, which are all. */
    public double share(Box box) {
        double all = boxes.stream().filter(one -> boxes.stream().noneMatch(one::isOn)).mapToDouble(one -> one.width).sum();
        return box.width / all;
    }

    @Override
    public String toString() {
        return boxes.stream().map(Box::toString).collect(Collectors.joining("\n"));
    }
}
