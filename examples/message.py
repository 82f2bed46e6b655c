"""Messages that no gateway on the way can read: what docs/gateway.md says of their bodies, with Python and `cryptography` alone.

HPKE in auth mode (RFC 9180 section 5.1.3) by hand, which `cryptography` does not have: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.
"""
import base64, hashlib, hmac, json, os
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ENVELOPE = ("sender_org_id", "sender_id", "recipient_org_id", "recipient_id", "subject")
KEM, HPKE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x02"

def associated(message):  # enough of RFC 8785 for texts: names are ASCII
    return json.dumps({k: message[k] for k in ENVELOPE}, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

def extract(suite, salt, label, key): return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + key, hashlib.sha256)

def expand(suite, key, label, info, length):  # one block is enough: 32 bytes at most
    return hmac.digest(key, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info + b"\x01", hashlib.sha256)[:length]

def cipher(shared_points, enc, recipient, sender):
    """The AEAD, and the nonce of its first and only message."""
    secret = expand(KEM, extract(KEM, b"", b"eae_prk", shared_points), b"shared_secret", enc + recipient + sender, 32)
    context = b"\x02" + extract(HPKE, b"", b"psk_id_hash", b"") + extract(HPKE, b"", b"info_hash", b"seneschal/message/v1")
    secret = extract(HPKE, secret, b"secret", b"")
    return AESGCM(expand(HPKE, secret, b"key", context, 32)), expand(HPKE, secret, b"base_nonce", context, 12)

def public(secret): return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()

def agree(secret, key): return X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(key))

def seal(sender_secret, recipient_key, message, plaintext, ephemeral=None):
    """The body of a message whose envelope is given: base64."""
    ephemeral = ephemeral or os.urandom(32)
    enc = public(ephemeral)
    points = agree(ephemeral, recipient_key) + agree(sender_secret, recipient_key)
    aead, nonce = cipher(points, enc, recipient_key, public(sender_secret))
    return base64.b64encode(enc + aead.encrypt(nonce, plaintext, associated(message))).decode()

def unseal(recipient_secret, sender_key, message):
    """What a message says; raises InvalidTag where it is not from that key to this one, or anything of its envelope differs."""
    body = base64.b64decode(message["body"])
    points = agree(recipient_secret, body[:32]) + agree(recipient_secret, sender_key)
    aead, nonce = cipher(points, body[:32], public(recipient_secret), sender_key)
    return aead.decrypt(nonce, body[32:], associated(message))
