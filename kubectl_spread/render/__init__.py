"""Reports to text; a renderer takes a report and returns a str."""
