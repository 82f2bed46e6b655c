"""Custody, byte by byte: what docs/custody.md says of keys, cards, sealed shares and transcripts, with Python and `cryptography` 48 alone.

    python custody.py TRANSCRIPT [KEY]    what a stranger can say of it, as JSON; ends with 1 unless it holds.
                                          KEY: where a gateway dealt, its `verifier_key`

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

def stated(statement, signing_key, org, for_org, identity, at):
    """Whether an organisation states this card, to that one and now (docs/gateway.md)."""
    message = b"seneschal/federation/v1\0" + jcs(without(statement, "signature"))
    card = statement["card"]
    return (signed(b64(signing_key), message, b64(statement["signature"]))
            and (statement["org_id"], card["org_id"], statement["for_org_id"], card["custodian_id"]) == (org, org, for_org, identity)
            and statement["at"] <= at + 300 and statement["expires_at"] >= at - 300 and card_holds(card))

def stretch(passphrase, salt, time, memory, lanes):
    kdf = Argon2id(salt=b64(salt), length=32, iterations=time, lanes=lanes, memory_cost=memory)
    return kdf.derive(unicodedata.normalize("NFKC", passphrase).encode())

def strong(passphrase):
    """Whether a key file may be sealed by it."""
    characters = unicodedata.normalize("NFKC", passphrase)
    return len(characters) >= 12 and len(set(characters)) >= 5

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

def open_key_file(line, secret):
    """By the passphrase, or by the 32 bytes that a security key or token answers."""
    file = json.loads(line)
    kdf, domain = file["kdf"], f"seneschal/custodian-key-file/v{file['version']}\0".encode()
    if file["version"] == 1: key = stretch(secret, kdf["salt"], kdf["time"], kdf["memory_kib"], kdf["parallelism"])
    else: key = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=domain + jcs(kdf)).derive(secret)
    head = domain + jcs(without(file, "ciphertext"))
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

def total(points):
    q = ZERO
    for p in points: q = add(q, p)
    return q

def lagrange(indexes, index, x=0):
    weight = 1
    for other in indexes:
        if other != index: weight = weight * (x - other) * pow(index - other, -1, L) % L
    return weight

class Ceremony:
    """What a transcript says so far: the rules of "What an entry may be", in their order."""
    def __init__(self, start, name):
        self.start, self.name, self.total = start, name, len(start["seats"])
        self.joined, self.committed, self.dealt, self.accepted, self.confirmed = {}, {}, {}, set(), set()
        self.status, self.hashes, self.round, self.transcript = "open", [], None, None
        self.witnessed, self.blame, self.public_key = False, None, None
        old, self.kind, self.repair = start.get("crk"), start["kind"], start["kind"] == "repair"
        self.threshold = start.get("threshold") or old["threshold"]
        self.old = [group(b64(c)) for c in old["commitments"]] if old else None
        # Who deals, who is given a share, who says where things are sealed to; and with the share of which index a seat deals.
        seats = list(range(1, self.total + 1))
        self.deals = dict(zip(seats, start.get("deals") or (seats if old else [0] * self.total)))
        self.dealers = [seat for seat in seats if not old or self.deals[seat]]
        self.receivers = [1] if self.repair else seats[: start.get("total_shares", self.total)]
        self.joiners, self.contributed = seats if self.repair else self.receivers, {}

    def dealt_to(self, sender): return [seat for seat in (self.dealers if self.repair else self.receivers) if seat != sender]
    def senders(self, to): return [seat for seat in self.dealers if seat != to] if to in self.joiners else []
    def key_number(self, sender, to): return self.senders(to).index(sender) if self.kind in ("reshare", "repair") else 0
    def weight(self, seat): return lagrange([self.deals[d] for d in self.dealers], self.deals[seat], self.start.get("index", 0))

    def sealed(self, sender, to):
        """The number of the entry in which one seat sealed something to another, and what; or None."""
        if self.repair and to == 1: return self.contributed.get(sender)
        if sender not in self.dealt: return None
        n, sealed = self.dealt[sender]
        return n, sealed[self.dealt_to(sender).index(to)]

    def committed_to(self, sender, to):
        """The point of which a sealed value is the logarithm."""
        if not self.repair: return at(self.committed[sender], to)
        if to > 1: return self.committed[sender][self.dealers.index(to)]
        return total(self.committed[helper][self.dealers.index(sender)] for helper in self.dealers)

    def commits(self, seat, act):
        """The points of a commitment, or None."""
        points = [group(b64(c), zero=k == 0 and not self.repair and bool(self.old)) for k, c in enumerate(act["commitments"])]
        if None in points: return None
        if not self.old: return points if proven(seat, points, b64(act["proof"])) else None
        if self.kind == "refresh": return points if same(points[0], ZERO) else None
        share = group(b64(self.start["crk"]["verifying_shares"][self.deals[seat] - 1]))
        return points if same(total(points) if self.repair else points[0], mul(self.weight(seat), share)) else None

    def made(self):
        """The commitments of the key that all have made."""
        if self.repair: return self.old
        sums = self.old if self.kind == "refresh" else [ZERO] * self.threshold
        for points in self.committed.values(): sums = [add(p, q) for p, q in zip(sums, points)]
        return sums

    def dealt_value(self, sender, receiver, secret):
        """The scalar that one seat sealed to another, or None: it does not open, or is not what was committed to."""
        place = {"ceremony": self.name, "from": sender, "to": receiver, "transcript": self.round}
        info = b"seneschal/custody-package/v1\0" + jcs(place)
        try: value = SUITE.decrypt(b64(self.sealed(sender, receiver)[1]), X25519PrivateKey.from_private_bytes(secret), info)
        except (InvalidTag, ValueError): return None
        n = int.from_bytes(value, "little")
        return n if len(value) == 32 and n < L and same(mul(n, BASE), self.committed_to(sender, receiver)) else None

    def fail(self, seat, entry, reason): self.status, self.blame = "failed", {"seat": seat, "entry": entry, "reason": reason}

    def act(self, n, author, act):
        """None, or why the entry is refused."""
        ids, kind = [card["custodian_id"] for card in self.start["seats"]], act["type"]
        seat = ids.index(author) + 1 if author in ids else 0
        if kind == "end":
            if author != self.start["starter"]["custodian_id"]: return "role"
            self.status = "ended"
        elif kind in ("witness", "confirmation"):
            if (author != self.start["witness"]["custodian_id"]) if kind == "witness" else seat not in self.receivers: return "role"
            if not self.transcript: return "order"
            if self.witnessed if kind == "witness" else seat in self.confirmed: return "repeated"
            if (act["transcript"], act["public_key"]) != (self.transcript, self.public_key): return "other_transcript"
            if kind == "witness": self.witnessed = True
            else: self.confirmed.add(seat)
        elif kind == "join":
            if seat not in self.joiners: return "role"
            keys = act.get("transport_keys") if self.kind in ("reshare", "repair") else [act[k] for k in ("transport_key",) if k in act]
            if not keys or ("transport_keys" in act and len(keys) != len(self.senders(seat))): return "malformed"
            if seat in self.joined: return "repeated"
            keys = [b64(key) for key in keys]
            try:
                for key in keys: X25519PrivateKey.from_private_bytes(b"\1" * 32).exchange(X25519PublicKey.from_public_bytes(key))
            except ValueError: return self.fail(seat, n, "transport_key")
            self.joined[seat] = keys
        elif kind == "commitment":
            if seat not in self.dealers: return "role"
            if ("proof" in act) == bool(self.old): return "malformed"
            if len(act["commitments"]) != (len(self.dealers) if self.repair else self.threshold): return "malformed"
            if seat in self.committed: return "repeated"
            points = self.commits(seat, act)
            if points is None: return self.fail(seat, n, "commitment")
            self.committed[seat] = points
        elif kind == "packages":
            if seat not in self.dealers: return "role"
            if len(act["sealed"]) != len(self.dealt_to(seat)): return "malformed"
            if not self.round: return "order"
            if seat in self.dealt: return "repeated"
            self.dealt[seat] = n, act["sealed"]
        elif kind == "contribution":
            if not self.repair or seat not in self.dealers: return "role"
            if len(self.dealt) < len(self.dealers): return "order"
            if seat in self.contributed: return "repeated"
            self.contributed[seat] = n, act["sealed"]
        elif kind == "accepted":
            if seat not in self.receivers: return "role"
            if len(self.contributed if self.repair else self.dealt) < len(self.dealers): return "order"
            if seat in self.accepted: return "repeated"
            self.accepted.add(seat)
        elif kind == "complaint":
            against, secret = act["against"], b64(act["transport_secret"])
            if seat not in self.joiners: return "role"
            if against not in self.senders(seat): return "malformed"
            sent = self.sealed(against, seat)
            if sent is None or seat in self.accepted or seat in self.contributed: return "order"
            public = X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
            own = public == self.joined[seat][self.key_number(against, seat)]
            if own and self.dealt_value(against, seat, secret) is None: self.fail(against, sent[0], "package")
            else: self.fail(seat, n, "complaint")

    def settle(self):
        if self.status != "open": return
        together = len(self.joined) == len(self.joiners) and len(self.committed) == len(self.dealers)
        if not self.round and together: self.round = self.hashes[-1]
        elif not self.transcript and len(self.accepted) == len(self.receivers):
            sums = self.made()
            if any(same(p, ZERO) for p in sums): self.status = "failed"
            else: self.transcript, self.public_key = self.hashes[-1], text(encode(sums[0]))
        elif len(self.confirmed) == len(self.receivers) and self.witnessed: self.status = "active"

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

def lines_of(file):
    """Each line's number and entry; None for what is not canonical."""
    lines = file.split(b"\n")
    for n, line in enumerate(lines[:-1] if lines[-1] == b"" else lines):
        yield n, None if n == len(lines) - 1 else read_canonical(line)

def seated(seats, total):
    """Indexes in order, each of another identity."""
    indexes = [seat["index"] for seat in seats]
    return (indexes == sorted(set(indexes)) and max(indexes, default=0) <= total
            and len({seat["identity_id"] for seat in seats}) == len(seats))

def verify_dealt(file, gateway_key=None):
    """What the bytes of a file say of a ceremony in which a gateway dealt."""
    # A verifier key ends in base64 of a byte, which is the kind of key, and the key.
    if gateway_key: gateway_key = text(b64(gateway_key.split("+", 2)[2])[1:])
    start = dealt = transcript = witness = None
    seeds, shares, confirmed, status, prev, name, n = [], [], [], "open", text(bytes(32)), None, 0
    refused = lambda reason: {"valid": False, "refused": {"entry": n, "reason": reason}}
    for n, entry in lines_of(file):
        if entry is None: return refused("not_canonical")
        act, author = entry["act"], entry["author"]
        kind, one = act["type"], {"index": act.get("index"), "identity_id": author}
        if (kind == "start") != (start is None): return refused("start")
        if start and entry["ceremony"] != name: return refused("other_ceremony")
        if (entry["seq"], entry["prev"]) != (n, prev): return refused("chain")
        holders = [seat for seat in dealt["seats"] if seat["identity_id"] == author] if dealt else []
        key = (act if kind == "start" else start)["gateway_key"]
        if kind == "confirmation":
            if not holders or holders[0]["card"] is None: return refused("author")
            key = holders[0]["card"]["signing_key"]
        message = b"seneschal/custody-entry/v1\0" + jcs(without(entry, "signature"))
        if not signed(b64(key), message, b64(entry["signature"])): return refused("signature")
        if kind == "start":
            start, name = act, entry["ceremony"]
            if (act["threshold"] > act["total_shares"] or (act["required_shares"] > 0) != (act["kind"] == "rotated")
                    or not seated(act["seats"], act["total_shares"])): return refused("seats")
            if gateway_key and act["gateway_key"] != gateway_key: return refused("unknown_key")
        elif kind == "confirmation":
            if holders[0]["index"] in confirmed: return refused("repeated")
            if (act["transcript"], act["public_key"]) != (transcript, dealt["crk"]["public_key"]): return refused("other_transcript")
            confirmed = sorted([*confirmed, holders[0]["index"]])
        elif status != "open": return refused("closed")
        elif kind in ("seed", "share"):
            if start["kind"] != {"seed": "password", "share": "rotated"}[kind]: return refused("order")
            said = seeds if kind == "seed" else shares
            if any(x["index"] == act["index"] or x["identity_id"] == author for x in said): return refused("repeated")
            if kind == "seed":
                if any(x["index"] == act["index"] and x["identity_id"] != author for x in start["seats"]): return refused("author")
                if act["index"] > start["total_shares"]: return refused("seats")
            said.append(one)
        elif kind == "witness_named":
            if start["kind"] not in ("witnessed", "rotated"): return refused("order")
            if witness: return refused("repeated")
            if act["identity_id"] in [author, *(x["identity_id"] for x in shares)]: return refused("author")
            witness = act["identity_id"]
        elif kind == "dealt":
            enough = len(seeds) == (start["total_shares"] if start["kind"] == "password" else 0) and len(shares) >= start["required_shares"]
            if not enough or (start["kind"] in ("witnessed", "rotated") and witness is None): return refused("order")
            held = [{"index": x["index"], "identity_id": x["identity_id"]} for x in act["seats"]]
            if not seated(held, start["total_shares"]) or any(x not in held for x in [*start["seats"], *seeds]): return refused("seats")
            for seat in act["seats"]:
                card = seat["card"]
                if card and (card["org_id"], card["custodian_id"]) != (start["org_id"], seat["identity_id"]): return refused("card")
            crk, points = act["crk"], [group(b64(c), True) for c in act["crk"]["commitments"]]
            fits = ((crk["threshold"], crk["total_shares"]) == (start["threshold"], start["total_shares"])
                    and len(points) == crk["threshold"] and len(crk["verifying_shares"]) == crk["total_shares"]
                    and all(points) and crk["commitments"][0] == crk["public_key"]
                    and all(same(group(b64(v)) or ZERO, at(points, i)) for i, v in enumerate(crk["verifying_shares"], 1)))
            if not fits: return refused("crk")
            if not all(card_holds(x["card"]) for x in act["seats"] if x["card"]): return refused("card")
            status, dealt, transcript = "dealt", act, entry_hash(entry)
        else: status = "ended"
        prev = entry_hash(entry)
    if start is None: return refused("empty")
    return {"valid": True, "status": status, "transcript": transcript, "confirmed": confirmed,
            "public_key": dealt and dealt["crk"]["public_key"]}

def verify(file):
    """What the bytes of a file say."""
    c = load(file)
    if isinstance(c, dict): return {"valid": False, "refused": c}
    return {"valid": True, "status": c.status, "transcript": c.transcript, "blame": c.blame, "public_key": c.public_key}

if __name__ == "__main__":
    data = open(sys.argv[1], "rb").read()
    entry = read_canonical(data.split(b"\n")[0]) or {}
    dealt = entry.get("act", {}).get("kind") in ("dealt", "witnessed", "rotated", "password")
    verdict = verify_dealt(data, *sys.argv[2:3]) if dealt else verify(data)
    print(json.dumps(verdict))
    sys.exit(not verdict["valid"])
