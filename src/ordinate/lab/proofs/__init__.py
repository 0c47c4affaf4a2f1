"""Proofs: a scan compared with the exact machine of its task, at every length."""

from ordinate.lab.proofs.certificate import check_certificate, is_certificate
from ordinate.lab.proofs.prove import Proof, prove, prove_model

__all__ = ["Proof", "check_certificate", "is_certificate", "prove", "prove_model"]
