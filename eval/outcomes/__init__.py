"""What came out of a run, as three small tables: units, systems, outcomes."""
