"""The application cost: what texts cost under many vocabularies."""
