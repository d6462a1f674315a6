"""Documents: files of people, parsed into text with pages and headings, as a corpus."""
