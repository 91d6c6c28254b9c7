"""What a page contains, as read by the standard library."""

import html.parser


class Reader(html.parser.HTMLParser):
    """What a page contains: its text, its tags, and that the tags nest."""

    VOID = frozenset({"meta", "link", "input", "br", "hr", "img", "col"})

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
