"""The study that shows texts as tokens: named texts, excerpts of documents, and the worst documents."""
