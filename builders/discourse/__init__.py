"""Item generators and configs from whole texts: those of ``discourse_tasks``, and shared ones."""
