"""The engine `spark`: worker threads whose nodes start jobs of Spark, for many times at once (docs/spark-pipelines.md).

Nothing here is imported before a run or a pipeline asks for Spark.
"""
