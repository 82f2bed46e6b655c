"""A custodian of a root key in Python: keys, a seat or the witness's place in a ceremony, a password ceremony, signing (docs/custody.md, docs/signing.md).

    python custodian.py new acme ada ada.keys                                  the passphrase is asked for, or is in PASSPHRASE; a device's answer, in ANSWER (hex)
    python custodian.py card ada.keys                                          prints the card; its fingerprint on standard error
    python custodian.py act ceremony ada.keys ada.state [--join] [--confirm HASH] [--card FILE ...] [--held SHARE] [--share FILE]
                                                                               the transcript's file; with GATEWAY set, a ceremony's id there
    python custodian.py enroll ada.keys                                        the keys, with a gateway
    python custodian.py seed CEREMONY 1                                        of a password ceremony of the gateway
    python custodian.py open-share CRK 1 ada.share
    python custodian.py confirm CRK ada.keys LOG_KEY [--hash HASH]             what the gateway dealt, by the `verifier_key` of its audit log
    python custodian.py sign SESSION ada.share [--sign HASH]                   shows what is to be signed; signs what has this hash

The last five call a gateway: GATEWAY (its address), CA, CERT and KEY (files) in the environment. Variable time: shows the formats, and is no place
for a share of a key that matters.
"""
import argparse, getpass, os, ssl, sys, time, types, urllib.error, urllib.request
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from custody import *

def sha512(*parts): return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % L
def scalar(n): return (n % L).to_bytes(32, "little")
def number(data): return int.from_bytes(data, "little")
def drawn(): return number(os.urandom(64)) % L
def x25519(secret): return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
def need(holds, otherwise):
    if not holds: sys.exit(otherwise)
def passphrase(what="passphrase: "): return os.environ.get("PASSPHRASE") or getpass.getpass(what)
def new_passphrase(what): need(strong(chosen := passphrase(what)), "a passphrase has at least 12 characters, 5 of them different"); return chosen

def write(name, data, flags=os.O_TRUNC):
    """Readable by its owner only, and on the disk before anything is said."""
    with os.fdopen(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_SYNC | flags, 0o600), "wb") as file: file.write(data)

def replace(name, data):
    write(name + ".new", data)
    os.replace(name + ".new", name)
# Keys and card
def xeddsa(secret, message):
    clamped = bytearray(secret)
    clamped[0] &= 0xF8
    clamped[31] = clamped[31] & 0x7F | 0x40
    k = number(clamped)
    point = bytearray(encode(mul(k, BASE)))
    if point[31] >> 7: k = -k
    point[31] &= 0x7F
    r = sha512(b"\xfe" + b"\xff" * 31, scalar(k), message, os.urandom(64))
    commitment = encode(mul(r, BASE))
    return commitment + scalar(r + sha512(commitment, bytes(point), message) * k)

def card_of(org, name, keys):
    signing = Ed25519PrivateKey.from_private_bytes(keys[:32])
    card = {"v": 1, "org_id": org, "custodian_id": name, "signing_key": text(signing.public_key().public_bytes_raw()), "agreement_key": text(x25519(keys[32:]))}
    message = b"seneschal/custodian-card/v1\0" + jcs(card)
    return {**card, "proofs": {"signing": text(signing.sign(message)), "agreement": text(xeddsa(keys[32:], message))}}

def new(args):
    keys = os.urandom(64)
    card = card_of(args.org, args.name, keys)
    need(is_name(args.org) and is_name(args.name) and card_holds(card), "not a name")
    kdf = {"name": "argon2id", "time": 3, "memory_kib": 65536, "parallelism": 4, "salt": text(os.urandom(16))}
    file = {"format": "seneschal/custodian-key-file", "version": 1, "card": card, "kdf": kdf, "nonce": text(os.urandom(12))}
    key = stretch(new_passphrase("new passphrase: "), kdf["salt"], kdf["time"], kdf["memory_kib"], kdf["parallelism"])
    file["ciphertext"] = text(AESGCM(key).encrypt(b64(file["nonce"]), keys, b"seneschal/custodian-key-file/v1\0" + jcs(file)))
    write(args.out, jcs(file) + b"\n", os.O_EXCL)

def show_card(args):
    card = json.load(open(args.keys))["card"]
    print(jcs(card).decode())
    print(fingerprint(card), file=sys.stderr)

# A ceremony
class Seat:
    """What one custodian says in one ceremony, from a state that is kept sealed between turns, and the share of the key that there is."""
    def __init__(self, c, state, held):
        self.c, self.state, self.seat, self.secrets = c, state, state["seat"], [b64(secret) for secret in state["transport"]]
        first, *rest = [int(k, 16) for k in state["drawn"]]
        if c.old and self.seat in c.dealers:
            need(held and held[0] == c.deals[self.seat], f"a {c.kind} needs --held, the share of index {c.deals[self.seat]} of the key that there is")
            first = 0 if c.kind == "refresh" else (c.weight(self.seat) * number(held[1]) - (sum(rest) if c.repair else 0)) % L
        self.held, self.drawn = number(held[1]) if held else 0, [first, *rest]

    def value(self, to):
        """What is dealt to a seat: of a repair the summand, else f(to), the constant term first."""
        if self.c.repair: return self.drawn[self.c.dealers.index(to)]
        return sum(k * to**power for power, k in enumerate(self.drawn)) % L

    def commitment(self):
        points = [encode(mul(k, BASE)) for k in self.drawn]
        act = {"type": "commitment", "commitments": [text(p) for p in points]}
        if self.c.old: return act
        r = int(self.state["nonce"], 16)
        commitment = encode(mul(r, BASE))
        challenge = sha512(b"FROST-ED25519-SHA512-v1dkg", scalar(self.seat), points[0], commitment)
        return {**act, "proof": text(commitment + scalar(r + challenge * self.drawn[0]))}

    def package(self, to, value):
        place = {"ceremony": self.c.name, "from": self.seat, "to": to, "transcript": self.c.round}
        key = X25519PublicKey.from_public_bytes(self.c.joined[to][self.c.key_number(self.seat, to)])
        return text(SUITE.encrypt(scalar(value), key, b"seneschal/custody-package/v1\0" + jcs(place)))

    def received(self):
        c, there = self.c, [sender for sender in self.c.senders(self.seat) if self.c.sealed(sender, self.seat)]
        return {sender: c.dealt_value(sender, self.seat, self.secrets[c.key_number(sender, self.seat)]) for sender in there}

    def next(self, confirm):
        """The next thing to say, or None."""
        c, seat, keys = self.c, self.seat, [text(x25519(secret)) for secret in self.secrets]
        if seat in c.joined and list(map(text, c.joined[seat])) != keys: sys.exit("somebody else acts with these keys, or the state was lost")
        if c.status != "open" or time.time() > c.start["expires_at"]: return None
        if not c.round:
            if seat in c.joiners and seat not in c.joined:
                return {"type": "join", **({"transport_keys": keys} if "deals" in c.start else {"transport_key": keys[0]})}
            return self.commitment() if seat in c.dealers and seat not in c.committed else None
        if seat in c.dealers and seat not in c.dealt:
            return {"type": "packages", "sealed": [self.package(to, self.value(to)) for to in c.dealt_to(seat)]}
        helps = c.repair and seat in c.dealers
        if seat in (c.joiners if helps else c.receivers) and seat not in (c.contributed if helps else c.accepted):
            received = self.received()
            wrong = next((sender for sender, value in received.items() if value is None), None)
            if wrong: return {"type": "complaint", "against": wrong, "transport_secret": text(self.secrets[c.key_number(wrong, seat)])}
            if len(received) < len(c.senders(seat)): return None
            if helps: return {"type": "contribution", "sealed": self.package(1, sum(received.values()) + self.value(seat))}
            return {"type": "accepted"}
        return confirmation("confirmation", c, confirm) if seat in c.receivers and seat not in c.confirmed else None

    def share(self):
        """Index and envelope of the share that the ceremony gives to the seat."""
        c, old, index = self.c, self.c.start.get("crk"), self.c.start.get("index", self.seat)
        own = self.value(self.seat) if self.seat in c.dealers else 0
        value = (sum(self.received().values()) + own + (self.held if c.kind == "refresh" else 0)) % L
        need(same(mul(value, BASE), at(c.made(), index)), "the share is not one of the key")
        broadcasts = [{"index": i, **without(c.acts[i], "type")} for i in sorted(c.acts)]
        set_id = b64(old["set_id"]) if old else hashlib.sha256(jcs(broadcasts)).digest()[:16]
        epoch = old["epoch"] + (not c.repair) if old else 1
        shares = old["total_shares"] if c.repair else len(c.receivers)
        body = b"SNS\1\2" + set_id + epoch.to_bytes(4, "big") + bytes([c.threshold, shares, index, 0, 32]) + scalar(value)
        return index, body + hashlib.sha256(body).digest()[:8]

def confirmation(kind, c, confirm):
    if not c.transcript or confirm is None: return None
    if confirm != c.transcript: sys.exit(f"THIS IS NOT THE TRANSCRIPT THAT THE OTHERS HAVE: nothing was confirmed; here: {c.transcript}")
    return {"type": kind, "transcript": c.transcript, "public_key": c.public_key}

def entry(keys, c, author, act):
    unsigned = {"v": 1, "ceremony": c.name, "seq": len(c.hashes), "prev": c.hashes[-1], "at": int(time.time()), "author": author, "act": act}
    signature = Ed25519PrivateKey.from_private_bytes(keys[:32]).sign(b"seneschal/custody-entry/v1\0" + jcs(unsigned))
    return jcs({**unsigned, "signature": text(signature)}) + b"\n"

def scan(name, known):
    """The ceremony of a file that only people whose cards are known take part in, if any are named."""
    data = fetch("GET", f"/custody/ceremonies/{name}/transcript") if "GATEWAY" in os.environ else open(name, "rb").read()
    c = load(data)
    if isinstance(c, dict): sys.exit(f"the transcript does not hold from entry {c['entry']} on: {c['reason']}")
    if known and not {fingerprint(card) for card in c.cards} <= known: sys.exit("the ceremony is of people whose cards were not named")
    acts = [(e["author"], e["act"]) for e in map(json.loads, data.splitlines())]
    ids = [card["custodian_id"] for card in c.start["seats"]]
    c.acts = {ids.index(author) + 1: act for author, act in acts if act["type"] == "commitment"}
    return data, c

def append(name, data, line):
    """False when somebody else was first at the gateway: the turn is taken again on what is there now."""
    if "GATEWAY" not in os.environ: replace(name, data + line)
    else:
        try: call("POST", f"/custody/ceremonies/{name}/entries", {"entry": json.loads(line)})
        except urllib.error.HTTPError as refused:
            answer = json.load(refused)["error"]
            need((answer.get("details") or {}).get("reason") == "chain", answer["message"])
            return False
    return True

def open_state(keys, c, name, join, signing_key):
    purpose = "ceremony/" + c.name
    if os.path.exists(name): return json.loads(open_own(keys, purpose, open(name, "rb").read()))
    seat = next((i for i, card in enumerate(c.start["seats"], 1) if card["signing_key"] == signing_key), None)
    if seat is None: sys.exit("these keys have no seat in the ceremony")
    if seat in c.joined: sys.exit("the seat is taken, and its state is not here")
    if not join: sys.exit("\n".join([f"{c.kind}, threshold {c.threshold}, {len(c.receivers)} are given a share, dealt by seats {c.dealers}", *map(fingerprint, c.cards), "add --join when this is as agreed"]))
    keys = len(c.senders(seat)) if "deals" in c.start else 1
    points = len(c.dealers) if c.repair else c.threshold
    return {"seat": seat, "seen": [], "transport": [text(os.urandom(32)) for _ in range(keys)], "drawn": [hex(drawn()) for _ in range(points)], "nonce": hex(drawn())}

def opened(name):
    line = open(name, "rb").read()
    return open_key_file(line, bytes.fromhex(os.environ["ANSWER"]) if "ANSWER" in os.environ else passphrase()), json.loads(line)["card"]

def act(args):
    keys, card = opened(args.keys)
    known = {fingerprint(json.load(open(name))) for name in args.card or []}
    held = envelope(args.held) if args.held else None
    state = None
    while True:
        data, c = scan(args.transcript, known)
        if fingerprint(card) == fingerprint(c.start["witness"]):
            act = confirmation("witness", c, args.confirm) if c.status == "open" and not c.witnessed else None
        else:
            state = state or open_state(keys, c, args.state, args.join, card["signing_key"])
            if c.hashes[: len(state["seen"])] != state["seen"]: sys.exit("NOT THE TRANSCRIPT THAT WAS SEEN BEFORE, or an older part of it")
            state["seen"] = c.hashes
            seat = Seat(c, state, held)
            act = seat.next(args.confirm)
            aead, bound = own(keys, "ceremony/" + c.name)
            nonce = os.urandom(12)
            # Safe before a word is said: a seat without its last state has no part any more.
            replace(args.state, b"\1" + nonce + aead.encrypt(nonce, json.dumps(state).encode(), bound))
        if act is None: break
        if append(args.transcript, data, entry(keys, c, card["custodian_id"], act)): print("act:", act["type"])
    if c.status == "active" and state and (args.share or seat.seat not in c.receivers):
        if seat.seat in c.receivers:
            index, data = seat.share()
            write(args.share, json.dumps({"index": index, "data": text(data)}).encode() + b"\n", os.O_EXCL)
        os.remove(args.state)
    print(json.dumps({"status": c.status, "transcript": c.transcript, "blame": c.blame, "public_key": c.public_key}))

# With a gateway
def fetch(method, path, body=None):
    tls = ssl.create_default_context(cafile=os.environ["CA"])
    tls.load_cert_chain(os.environ["CERT"], os.environ["KEY"])
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["GATEWAY"] + "/api/v1" + path, data, {"content-type": "application/json"}, method=method)
    with urllib.request.urlopen(request, context=tls) as answer: return answer.read()
def call(method, path, body=None): return json.loads(fetch(method, path, body) or b"null")
def enroll(args):
    print(json.dumps({k: v for k, v in call("POST", "/custody/custodians", {"card": json.load(open(args.keys))["card"]}).items() if k in ("id", "fingerprint")}))
def seed(args):
    salt, kdf = text(os.urandom(16)), {"time": 3, "memory": 65536, "threads": 4}
    derived = stretch(new_passphrase("new password: "), salt, 3, 65536, 4)
    call("POST", f"/crk/generate-ceremony/{args.ceremony}/seed", {"index": args.index, "derived_key": text(derived), "salt": salt, "kdf_params": kdf})
def confirm(args):
    data = fetch("GET", f"/crk/{args.crk}/transcript")
    found, entries = verify_dealt(data, args.log_key), list(map(json.loads, data.splitlines()))
    need(found["valid"] and found["status"] == "dealt", f"the transcript does not hold: {found}")
    if args.hash is None: return print(json.dumps(found), entries[0]["act"], "add --hash as the others read it", sep="\n")
    keys, card = opened(args.keys)
    c = types.SimpleNamespace(name=entries[0]["ceremony"], hashes=list(map(entry_hash, entries)), **found)
    signed = entry(keys, c, card["custodian_id"], confirmation("confirmation", c, args.hash))
    print(json.dumps(call("POST", f"/crk/{args.crk}/transcript", {"entry": json.loads(signed)})))
def fetch_share(args):
    sealed = call("GET", f"/crk/shares/{args.crk}/{args.index}")
    need((crk := call("GET", "/organizations")["organizations"][0]["crk"])["id"] == args.crk, "not the organisation's root key")
    data = open_share(sealed, passphrase("password: "), args.crk, crk["version"], args.index, crk["public_key"])
    write(args.out, json.dumps({"index": args.index, "data": text(data)}).encode() + b"\n", os.O_EXCL)
def envelope(name):
    """Index and signing share of a share's file."""
    data = b64(json.load(open(name))["data"])
    need(data[:5] == b"SNS\1\2" and data[-8:] == hashlib.sha256(data[:-8]).digest()[:8], "no FROST share, or a damaged one")
    return data[27], data[-40:-8]

def meaning(message, session):
    """What is to be signed, read from the bytes; the gateway shows the same, or nothing is signed."""
    told = session["signs"]
    if not message.startswith(b"seneschal/") and told is None: return "bytes: " + ascii(message.decode(errors="backslashreplace"))
    purpose, _, payload = message.partition(b"\0")
    document = read_canonical(payload)
    need(document is not None and told and document == told["payload"], "the bytes are not the canonical form of what the gateway shows")
    if told["body"] is not None: need(hashlib.sha256(jcs(told["body"])).hexdigest() == document["body_sha256"], "the body is not the operation's")
    return json.dumps({"purpose": purpose.decode(), **document, "body": told["body"]}, indent=2)

def sign(args):
    """RFC 9591, FROST(Ed25519, SHA-512): one pair of nonces, in this process only."""
    index, share = envelope(args.share)
    session = call("GET", f"/crk/signing-sessions/{args.session}")
    message = b64(session["round"]["message"])
    print(meaning(message, session))
    if args.sign is None: return print("add --sign", hashlib.sha256(message).hexdigest(), "when this is what is meant")
    need(args.sign == hashlib.sha256(message).hexdigest(), "the session is to sign something else: nothing was signed")
    public = group(b64(session["crk"]["verifying_shares"][index - 1]))
    need(public and same(mul(number(share), BASE), public), "the share is not one of the session's key")
    hiding, binding = (sha512(b"FROST-ED25519-SHA512-v1nonce", os.urandom(32), share) for _ in range(2))
    mine = {"index": index, "hiding": text(encode(mul(hiding, BASE))), "binding": text(encode(mul(binding, BASE)))}
    session = call("POST", f"/crk/signing-sessions/{args.session}/commit", mine)
    while session["status"] == "committing":
        time.sleep(0.2)
        session = call("GET", f"/crk/signing-sessions/{args.session}")
    need(b64(session["round"]["message"]) == message and mine in session["commitments"], "not what was committed to")
    commitments = sorted(session["commitments"], key=lambda c: c["index"])
    listed = b"".join(scalar(c["index"]) + b64(c["hiding"]) + b64(c["binding"]) for c in commitments)
    prefix = b64(session["crk"]["public_key"]) + b"".join(hashlib.sha512(b"FROST-ED25519-SHA512-v1" + tag + data).digest() for tag, data in ((b"msg", message), (b"com", listed)))
    factor = {c["index"]: sha512(b"FROST-ED25519-SHA512-v1rho", prefix, scalar(c["index"])) for c in commitments}
    nonces = total(add(group(b64(c["hiding"])), mul(factor[c["index"]], group(b64(c["binding"])))) for c in commitments)
    challenge = sha512(encode(nonces), b64(session["crk"]["public_key"]), message)
    part = scalar(hiding + binding * factor[index] + lagrange(list(factor), index) * number(share) * challenge)
    call("POST", f"/crk/signing-sessions/{args.session}/sign", {"index": index, "share": text(part)})

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    def command(name, run, *positional, **options):
        (sub := commands.add_parser(name)).set_defaults(run=run)
        for each in positional: sub.add_argument(each, type=int if each == "index" else str)
        for each, more in options.items(): sub.add_argument("--" + each, **more)
    command("new", new, "org", "name", "out")
    command("card", show_card, "keys")
    flags = {"join": {"action": "store_true"}, "confirm": {}, "card": {"nargs": "+"}, "held": {}, "share": {}}
    command("act", act, "transcript", "keys", "state", **flags)
    command("enroll", enroll, "keys")
    command("seed", seed, "ceremony", "index")
    command("confirm", confirm, "crk", "keys", "log_key", hash={})
    command("open-share", fetch_share, "crk", "index", "out")
    command("sign", sign, "session", "share", sign={})
    (args := parser.parse_args()).run(args)
