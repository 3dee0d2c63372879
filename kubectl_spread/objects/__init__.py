"""The Kubernetes objects that this program reads, as frozen msgspec Structs with only the fields that it uses.

Unknown fields are ignored, so that newer API servers are no errors. Attribute names are the API's in snake_case.
"""
