"""Karpenter's scheduler: which node or NodePool it takes for a Pod, and why not.

Source: karpenter pkg/controllers/provisioning/scheduling (v1.14.1). Not modelled: prices, reserved capacity, minValues,
dynamic resource allocation, several Pods in one batch.
"""
