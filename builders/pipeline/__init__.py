"""The way from discourses to the tables of a build."""
