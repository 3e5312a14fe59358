"""What pages share: pictures in the page's own colours, and the style sheet."""
