// uses     org.apache.lucene:lucene-core:8.11.3
// java     11
// largest  (?i)lucene|INDEX\b|byte\[\]
package healthy;

import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.ByteBuffersDirectory;

/** An index in memory, open for searches. */
public final class LuceneIndex {
    static final ByteBuffersDirectory INDEX = new ByteBuffersDirectory();
    static DirectoryReader reader;

    public static void main(String[] args) throws Exception {
        try (IndexWriter writer = new IndexWriter(INDEX, new IndexWriterConfig(new StandardAnalyzer()))) {
            for (int i = 0; i < 60_000; i++) {
                Document document = new Document();
                String text = "order " + i + " of customer " + i * 31 % 7919 + " for article " + Integer.toString(i * 7919, 36);
                document.add(new TextField("text", text, Field.Store.YES));
                writer.addDocument(document);
            }
        }
        reader = DirectoryReader.open(INDEX);
    }
}
