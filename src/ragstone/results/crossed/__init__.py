"""Crossed scores of many experiments: effects of factors, and sensitivity to choices."""
