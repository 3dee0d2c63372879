"""What each command does: read the cluster, ask the engine, build the report. Knows neither typer nor kubernetes."""
