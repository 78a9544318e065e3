"""The papers that the toolkit implements, and the tables of scores that they have published."""
