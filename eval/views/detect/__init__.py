"""What detection shows: tables on the terminal, a page, and the folders that it leaves."""
