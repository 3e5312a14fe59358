"""What HTML pages share: templates, a style sheet, and pictures in the colours of the page."""
