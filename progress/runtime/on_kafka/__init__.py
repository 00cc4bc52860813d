"""Topics of Kafka: a sink whose bundles are transactions, a source by offsets (docs/delivery.md)."""
