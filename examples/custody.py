"""Custody, byte by byte: what docs/custody.md says of keys, cards, sealed shares and transcripts, with Python and `cryptography` 48 alone.

    python custody.py TRANSCRIPT      what a stranger can say of it, as JSON; ends with 1 unless it holds

That a line is an entry, its members each of its size, and the seats of step 3 it takes for granted. Variable time: for public values.
"""
import base64, hashlib, json, sys, unicodedata
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, hpke
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SUITE = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_256_GCM)
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
b64 = base64.b64decode

def text(data): return base64.b64encode(data).decode()

def jcs(value):  # enough of RFC 8785 for these documents: ASCII names, texts, whole numbers
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

def is_name(given):
    unseen = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return (1 <= len(given) <= 128 and unicodedata.is_normalized("NFC", given)
            and not any(unicodedata.category(c) in unseen for c in given))

def without(value, name): return {k: v for k, v in value.items() if k != name}

# The group of Ed25519, extended coordinates (RFC 8032 section 5.1.4). Slow, and in variable time: for public values.
ZERO = (0, 1, 1, 0)

def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P

def mul(n, p):
    q = ZERO
    while n:
        q, p, n = add(q, p) if n & 1 else q, add(p, p), n >> 1
    return q

def same(p, q): return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0

def encode(p):
    x, y = (v * pow(p[2], -1, P) % P for v in p[:2])
    return (y | (x & 1) << 255).to_bytes(32, "little")

def decode(data):
    """A point, or None: canonical encodings only (RFC 8032 section 5.1.3)."""
    n = int.from_bytes(data, "little")
    y, sign = n & (2**255 - 1), n >> 255
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P == -u % P: x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or v * x * x % P != u or (x == 0 and sign): return None
    if x & 1 != sign: x = P - x
    return x, y, 1, x * y % P

BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))

def group(data, zero=False):
    """A point of the prime-order group; the neutral one only where it must be."""
    p = decode(data)
    return p if p and same(mul(L, p), ZERO) and (zero or not same(p, ZERO)) else None

def signed(key, message, signature):
    p = decode(key)
    if not p or same(mul(8, p), ZERO): return False
    try: Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature: return False
    return True

def card_holds(card):
    message = b"seneschal/custodian-card/v1\0" + jcs(without(card, "proofs"))
    u = int.from_bytes(b64(card["agreement_key"]), "little")
    if u >= P or u == P - 1: return False
    edwards = ((u - 1) * pow(u + 1, -1, P) % P).to_bytes(32, "little")
    return (signed(b64(card["signing_key"]), message, b64(card["proofs"]["signing"]))
            and signed(edwards, message, b64(card["proofs"]["agreement"])))

def fingerprint(card): return hashlib.sha256(jcs(without(card, "proofs"))).hexdigest()

def stretch(passphrase, salt, time, memory, lanes):
    kdf = Argon2id(salt=b64(salt), length=32, iterations=time, lanes=lanes, memory_cost=memory)
    return kdf.derive(unicodedata.normalize("NFKC", passphrase).encode())

def open_share(sealed, password, crk_id, epoch, index, public_key):
    """The envelope of a sealed share; the signing share stands at its end before the checksum."""
    key = stretch(password, sealed["salt"], sealed["kdf_time"], sealed["kdf_memory"], sealed["kdf_threads"])
    place = {"crk_id": crk_id, "epoch": epoch, "index": index, "public_key": public_key}
    data = b64(sealed["encrypted_data"])
    envelope = AESGCM(key).decrypt(data[1:13], data[13:], b"seneschal/crk-share/v1\0" + jcs(place))
    if data[0] != 1 or envelope[-8:] != hashlib.sha256(envelope[:-8]).digest()[:8]: raise ValueError("not a sealed share")
    return envelope

def own(keys, purpose):
    """The key for what a custodian keeps for itself, and the associated data."""
    key = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=b"seneschal/custodian-own/v1").derive(keys)
    return AESGCM(key), b"seneschal/custodian-own/v1\0" + jcs({"purpose": purpose})

def open_own(keys, purpose, sealed):
    aead, data = own(keys, purpose)
    if sealed[0] != 1: raise ValueError("of another version")
    return aead.decrypt(sealed[1:13], sealed[13:], data)

def open_key_file(line, passphrase):
    file = json.loads(line)
    kdf = file["kdf"]
    key = stretch(passphrase, kdf["salt"], kdf["time"], kdf["memory_kib"], kdf["parallelism"])
    head = b"seneschal/custodian-key-file/v1\0" + jcs(without(file, "ciphertext"))
    return AESGCM(key).decrypt(b64(file["nonce"]), b64(file["ciphertext"]), head)

def entry_hash(entry): return text(hashlib.sha256(b"seneschal/custody-chain/v1\0" + jcs(entry)).digest())

def proven(seat, commitments, proof):
    """The proof that the seat knows the constant term (FROST key generation, RFC 9591's suite)."""
    r, z = group(proof[:32]), int.from_bytes(proof[32:], "little")
    if not r or z >= L: return False
    h = hashlib.sha512(b"FROST-ED25519-SHA512-v1dkg" + seat.to_bytes(32, "little") + encode(commitments[0]) + proof[:32])
    challenge = int.from_bytes(h.digest(), "little") % L
    return same(mul(z, BASE), add(r, mul(challenge, commitments[0])))

def at(commitments, x):
    q = ZERO
    for c in reversed(commitments): q = add(mul(x, q), c)
    return q

class Ceremony:
    """What a transcript says so far: the rules of "What an entry may be", in their order."""
    def __init__(self, start, name):
        self.start, self.name, self.total = start, name, len(start["seats"])
        self.joined, self.committed, self.dealt, self.accepted, self.confirmed = {}, {}, {}, set(), set()
        self.status, self.hashes, self.round, self.transcript = "open", [], None, None
        self.witnessed, self.blame, self.public_key = False, None, None
        old = start.get("crk")
        self.threshold = old["threshold"] if old else start["threshold"]
        self.old = [group(b64(c)) for c in old["commitments"]] if old else None

    def dealt_value(self, sender, receiver, secret):
        """The scalar that one seat dealt to another, or None: the package does not open, or is off the polynomial."""
        place = {"ceremony": self.name, "from": sender, "to": receiver, "transcript": self.round}
        sealed = b64(self.dealt[sender][1][receiver - 1 if receiver < sender else receiver - 2])
        info = b"seneschal/custody-package/v1\0" + jcs(place)
        try: value = SUITE.decrypt(sealed, X25519PrivateKey.from_private_bytes(secret), info)
        except (InvalidTag, ValueError): return None
        n = int.from_bytes(value, "little")
        return n if len(value) == 32 and n < L and same(mul(n, BASE), at(self.committed[sender], receiver)) else None

    def fail(self, seat, entry, reason): self.status, self.blame = "failed", {"seat": seat, "entry": entry, "reason": reason}

    def act(self, n, author, act):
        """None, or why the entry is refused."""
        ids, kind = [card["custodian_id"] for card in self.start["seats"]], act["type"]
        seat = ids.index(author) + 1 if author in ids else 0
        if kind == "end":
            if author != self.start["starter"]["custodian_id"]: return "role"
            self.status = "ended"
        elif kind in ("witness", "confirmation"):
            if (author != self.start["witness"]["custodian_id"]) if kind == "witness" else not seat: return "role"
            if not self.transcript: return "order"
            if self.witnessed if kind == "witness" else seat in self.confirmed: return "repeated"
            if (act["transcript"], act["public_key"]) != (self.transcript, self.public_key): return "other_transcript"
            if kind == "witness": self.witnessed = True
            else: self.confirmed.add(seat)
        elif not seat: return "role"
        elif kind == "join":
            if seat in self.joined: return "repeated"
            key = b64(act["transport_key"])
            try: X25519PrivateKey.from_private_bytes(b"\1" * 32).exchange(X25519PublicKey.from_public_bytes(key))
            except ValueError: return self.fail(seat, n, "transport_key")
            self.joined[seat] = key
        elif kind == "commitment":
            if ("proof" in act) == bool(self.old) or len(act["commitments"]) != self.threshold: return "malformed"
            if seat in self.committed: return "repeated"
            points = [group(b64(c), zero=k == 0 and self.old is not None) for k, c in enumerate(act["commitments"])]
            fine = None not in points and (same(points[0], ZERO) if self.old else proven(seat, points, b64(act["proof"])))
            if not fine: return self.fail(seat, n, "commitment")
            self.committed[seat] = points
        elif kind == "packages":
            if len(act["sealed"]) != self.total - 1: return "malformed"
            if not self.round: return "order"
            if seat in self.dealt: return "repeated"
            self.dealt[seat] = n, act["sealed"]
        elif kind == "accepted":
            if len(self.dealt) < self.total: return "order"
            if seat in self.accepted: return "repeated"
            self.accepted.add(seat)
        elif kind == "complaint":
            against, secret = act["against"], b64(act["transport_secret"])
            if against == seat or against > self.total: return "malformed"
            if against not in self.dealt or seat in self.accepted: return "order"
            own = X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw() == self.joined[seat]
            if own and self.dealt_value(against, seat, secret) is None: self.fail(against, self.dealt[against][0], "package")
            else: self.fail(seat, n, "complaint")

    def settle(self):
        if self.status != "open": return
        if not self.round and len(self.joined) == len(self.committed) == self.total: self.round = self.hashes[-1]
        elif not self.transcript and len(self.accepted) == self.total:
            sums = self.old or [ZERO] * self.threshold
            for points in self.committed.values(): sums = [add(p, q) for p, q in zip(sums, points)]
            if any(same(p, ZERO) for p in sums): self.status = "failed"
            else: self.transcript, self.public_key = self.hashes[-1], text(encode(sums[0]))
        elif len(self.confirmed) == self.total and self.witnessed: self.status = "active"

def read_canonical(line):
    """The value of which a line is the canonical JSON, or None. No number of these documents has a fraction."""
    def refuse(_): raise ValueError
    try:
        value = json.loads(line, parse_float=refuse, parse_constant=refuse)
        return value if jcs(value) == line else None
    except (ValueError, RecursionError): return None

def load(file):
    """The ceremony of a file's bytes, or what is refused."""
    c, lines, n = None, file.split(b"\n"), 0
    refused = lambda reason: {"entry": n, "reason": reason}
    if len(file) > 2**24: return refused("too_large")
    for n, line in enumerate(lines[:-1] if lines[-1] == b"" else lines):
        if n == len(lines) - 1: return refused("not_canonical")  # it does not end
        if len(line) > 2**19: return refused("too_large")
        entry = read_canonical(line)
        if entry is None: return refused("not_canonical")
        act, author = entry["act"], entry["author"]
        if (act["type"] == "start") != (c is None): return refused("start")
        cards = [*act["seats"], act["witness"], act["starter"]] if c is None else c.cards
        if c and entry["ceremony"] != c.name: return refused("other_ceremony")
        if (entry["seq"], entry["prev"]) != (n, c.hashes[-1] if c else text(bytes(32))): return refused("chain")
        if c is None:
            if not all(map(card_holds, cards)): return refused("card")
            c = Ceremony(act, entry["ceremony"])
            c.cards = cards
        key = next((b64(card["signing_key"]) for card in cards if card["custodian_id"] == author), None)
        if key is None or (n == 0 and author != act["starter"]["custodian_id"]): return refused("author")
        message = b"seneschal/custody-entry/v1\0" + jcs(without(entry, "signature"))
        if not signed(key, message, b64(entry["signature"])): return refused("signature")
        if entry["at"] > c.start["expires_at"]: return refused("expired")
        if c.status != "open": return refused("closed")
        reason = c.act(n, author, act) if n else None
        if reason: return refused(reason)
        c.hashes.append(entry_hash(entry))
        c.settle()
    return refused("empty") if c is None else c

def verify(file):
    """What the bytes of a file say."""
    c = load(file)
    if isinstance(c, dict): return {"valid": False, "refused": c}
    return {"valid": True, "status": c.status, "transcript": c.transcript, "blame": c.blame, "public_key": c.public_key}

if __name__ == "__main__":
    verdict = verify(open(sys.argv[1], "rb").read())
    print(json.dumps(verdict))
    sys.exit(not verdict["valid"])
