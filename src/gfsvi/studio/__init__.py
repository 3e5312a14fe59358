"""The studio: a local page on which a prior is built, looked at, and left as code.

The state of the page is a `Workspace`, plain data that travels with every request. The server
keeps nothing about a page but the tables that were opened and the fits that were begun, so that
several pages cannot disturb each other.
"""
