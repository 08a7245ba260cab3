"""Charts as geometry; a template draws them as SVG."""
