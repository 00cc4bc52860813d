"""What a browser is sent: a page, its style, and its script in modules of one idea each."""
