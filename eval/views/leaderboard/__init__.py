"""A leaderboard as a static site."""
