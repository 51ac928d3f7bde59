"""Readers of Wikimedia's dump files: pages in XML, tables in SQL, checksums."""
