"""From discourses to the tables of a build."""
