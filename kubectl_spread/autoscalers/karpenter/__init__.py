"""Karpenter's scheduler: which node or NodePool it takes for a Pod, and why not; modules have its own file names.

Source: karpenter pkg/controllers/provisioning/scheduling (v1.14.1). Not modelled: prices, reserved capacity, volumes,
NodeOverlays, dynamic resource allocation, several Pods in one batch, other policies for preferences and minValues.
"""
