"""Runs each question of docs/sql.md over a folder of exports and prints the answers as JSON.

Usage: questions.py duckdb|spark PAGE FOLDER
"""

import json
import pathlib
import re
import sys
import threading

# DuckDB answers each question in less than a second.
LIMIT_SECONDS = 30


def questions(page):
    """The name and the text of each SQL block, in order."""
    blocks = re.findall(r"```sql\n-- (\w+)\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks, f"{page} has no questions"
    return blocks


def tables(folder):
    """Each table with the pattern of its files."""
    names = {file.stem for file in folder.glob("*/*.parquet")}
    return {name: f"{folder}/*/{name}.parquet" for name in sorted(names)}


def duckdb(folder):
    """Runs a question in DuckDB."""
    import duckdb

    connection = duckdb.connect()
    for name, files in tables(folder).items():
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{files}'")

    def run(text):
        # A join in the wrong order takes minutes, also of small dumps.
        limit = threading.Timer(LIMIT_SECONDS, connection.interrupt)
        limit.start()
        try:
            answer = connection.execute(text)
            names = [column[0] for column in answer.description]
            return [dict(zip(names, row)) for row in answer.fetchall()]
        finally:
            limit.cancel()

    return run


def spark(folder):
    """Runs a question in Spark, on this machine alone."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    for name, files in tables(folder).items():
        session.read.parquet(files).createOrReplaceTempView(name)

    def run(text):
        text = text.replace(" AS MATERIALIZED (", " AS (")
        return [row.asDict() for row in session.sql(text).collect()]

    return run


def plain(value):
    """Dates, and decimals, which engines make of sums."""
    return int(value) if type(value).__name__ == "Decimal" and value == int(value) else str(value)


def main():
    engine, page, folder = sys.argv[1:]
    run = {"duckdb": duckdb, "spark": spark}[engine](pathlib.Path(folder))
    answers = {name: run(text) for name, text in questions(pathlib.Path(page))}
    print(json.dumps(answers, default=plain))


if __name__ == "__main__":
    main()
