"""The fast engines of the field, each a backend; all run published vocabularies."""
