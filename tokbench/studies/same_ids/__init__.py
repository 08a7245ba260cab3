"""The study of tokenizers that are declared the same (``same_as``): their ids are compared on every document."""
