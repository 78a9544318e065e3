"""The outcomes of a run as three small tables: units, systems, outcomes."""
