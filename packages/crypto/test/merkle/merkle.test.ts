import { base64, bytesEqual, fromHex, hex, nobleCrypto, utf8 } from "@seneschal/crypto";
import { seeded, slowConsistencyProof, slowInclusionProof, slowRoot } from "@seneschal/crypto/arbitraries";
import {
  CompactRange,
  checkpointText,
  consistencyRanges,
  cosignNote,
  emptyRoot,
  inclusionRanges,
  judgeGrowth,
  judgeOffer,
  leafHash,
  MerkleTree,
  nodeHash,
  noteVerifierKey,
  parseCheckpoint,
  parseVerifierKey,
  rangeNodes,
  signNote,
  verifyConsistency,
  verifyInclusion,
  verifyNote,
  verifySubtreeConsistency,
  verifySubtreeInclusion,
  witnessVerifierKey,
} from "@seneschal/crypto/merkle";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const leaves = Array.from({ length: 131 }, (_, i) => utf8(`entry ${i}`));
const tree = new MerkleTree();
const roots = [tree.root()];
for (const leaf of leaves) {
  tree.append(leaf);
  roots.push(tree.root());
}

test("roots and proofs equal the definitions of RFC 6962 2.1 for small trees", () => {
  for (let size = 0; size <= 20; size++) {
    const d = leaves.slice(0, size);
    expect(hex(tree.root(size))).toBe(hex(slowRoot(d)));
    for (let m = 0; m < size; m++) expect(tree.inclusionProof(m, size).map(hex)).toEqual(slowInclusionProof(m, d).map(hex));
    for (let m = 1; m < size; m++) expect(tree.consistencyProof(m, size).map(hex)).toEqual(slowConsistencyProof(m, d).map(hex));
  }
});

test("the empty root and the reference tree of RFC 6962 implementations", () => {
  expect(hex(emptyRoot())).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const reference = new CompactRange();
  for (const data of ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]) {
    reference.append(fromHex(data));
  }
  expect(hex(reference.root())).toBe("5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328");
});

test("every inclusion proof up to 130 leaves verifies, and for no other leaf, index or size", () => {
  for (let size = 1; size <= 130; size++) {
    for (let index = 0; index < size; index++) {
      const claim = { index, size, leaf: leafHash(leaves[index]!), proof: tree.inclusionProof(index, size), root: roots[size]! };
      expect(verifyInclusion(claim)).toBe(true);
      if (index % 7 === 0) {
        expect(verifyInclusion({ ...claim, leaf: leafHash(utf8("other")) })).toBe(false);
        if (size > 1) expect(verifyInclusion({ ...claim, index: (index + 1) % size })).toBe(false);
        expect(verifyInclusion({ ...claim, root: roots[size + 1]! })).toBe(false);
      }
    }
  }
});

test("every consistency proof up to 130 leaves verifies, and for no other root", () => {
  for (let newSize = 1; newSize <= 130; newSize++) {
    for (let oldSize = 1; oldSize <= newSize; oldSize++) {
      const claim = {
        oldSize,
        newSize,
        oldRoot: roots[oldSize]!,
        newRoot: roots[newSize]!,
        proof: tree.consistencyProof(oldSize, newSize),
      };
      expect(verifyConsistency(claim)).toBe(true);
      if (oldSize < newSize && oldSize % 5 === 0) {
        expect(verifyConsistency({ ...claim, oldRoot: roots[oldSize - 1]! })).toBe(false);
        expect(verifyConsistency({ ...claim, newRoot: roots[newSize - 1]! })).toBe(false);
      }
    }
  }
});

test("any changed byte of a proof, root or leaf is detected", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 130 }), fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }), (size, a, at, xor) => {
      const flip = (bytes: Uint8Array) => bytes.map((b, i) => (i === at % bytes.length ? b ^ xor : b));
      const index = a % size;
      const inclusion = {
        index,
        size,
        leaf: leafHash(leaves[index]!),
        proof: tree.inclusionProof(index, size),
        root: roots[size]!,
      };
      expect(verifyInclusion({ ...inclusion, leaf: flip(inclusion.leaf) })).toBe(false);
      expect(verifyInclusion({ ...inclusion, root: flip(inclusion.root) })).toBe(false);
      expect(verifyInclusion({ ...inclusion, proof: inclusion.proof.map((p, i) => (i === 0 ? flip(p) : p)) })).toBe(false);
      const oldSize = 1 + (a % (size - 1));
      const consistency = {
        oldSize,
        newSize: size,
        oldRoot: roots[oldSize]!,
        newRoot: roots[size]!,
        proof: tree.consistencyProof(oldSize, size),
      };
      const last = consistency.proof.length - 1;
      expect(verifyConsistency({ ...consistency, proof: consistency.proof.map((p, i) => (i === last ? flip(p) : p)) })).toBe(
        false,
      );
      expect(verifyConsistency({ ...consistency, oldRoot: flip(consistency.oldRoot) })).toBe(false);
    }),
  );
});

test("edits, removals, swaps and cut tails of a log change its root", () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 2, maxLength: 40 }), fc.nat(), (entries, at) => {
      const rootOf = (list: readonly string[]) => {
        const log = new CompactRange();
        for (const entry of list) log.append(utf8(entry));
        return hex(log.root());
      };
      const i = at % entries.length;
      const whole = rootOf(entries);
      expect(rootOf(entries.map((e, k) => (k === i ? `${e}!` : e)))).not.toBe(whole);
      expect(rootOf(entries.filter((_, k) => k !== i))).not.toBe(whole);
      expect(rootOf(entries.slice(0, -1))).not.toBe(whole);
      const j = (i + 1) % entries.length;
      if (entries[i] !== entries[j]) {
        const swapped = [...entries];
        [swapped[i], swapped[j]] = [entries[j]!, entries[i]!];
        expect(rootOf(swapped)).not.toBe(whole);
      }
    }),
  );
});

test("a compact range continues from its saved state and reports every perfect subtree once", () => {
  const seen = new Map<string, string>();
  let range = new CompactRange();
  leaves.forEach((leaf, i) => {
    range.appendHash(leafHash(leaf), (level, index, hash) => {
      expect(seen.has(`${level}/${index}`)).toBe(false);
      seen.set(`${level}/${index}`, hex(hash));
    });
    range = new CompactRange(range.size, range.hashes);
    expect(hex(range.root())).toBe(hex(roots[i + 1]!));
  });
  // The stored nodes answer every range of every proof.
  for (const { from, to } of [...inclusionRanges(77, 131), ...consistencyRanges(53, 131)]) {
    for (const { level, index } of rangeNodes({ from, to })) {
      expect(seen.get(`${level}/${index}`)).toBe(hex(slowRoot(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level))));
    }
  }
});

test("sizes beyond 2^31 and 2^32 keep their arithmetic", () => {
  const size = 2 ** 40 + 12345;
  const hashes = Array.from({ length: 7 }, (_, i) => leafHash(Uint8Array.of(i)));
  const range = new CompactRange(size, hashes);
  range.append(utf8("one more"));
  expect(range.size).toBe(size + 1);
  const index = 2 ** 39 + 5;
  const ranges = inclusionRanges(index, size);
  // The ranges and the leaf cover the tree exactly once.
  const covered = [...ranges, { from: index, to: index + 1 }].sort((a, b) => a.from - b.from);
  expect(covered.map((r) => r.from)).toEqual([0, ...covered.slice(0, -1).map((r) => r.to)]);
  expect(covered.at(-1)!.to).toBe(size);
  // A made-up proof folds to some root; the verifier must accept exactly that root.
  const proof = ranges.map((_, i) => leafHash(Uint8Array.of(i, 1)));
  let root = leafHash(utf8("leaf"));
  ranges.forEach((r, i) => {
    root = r.from > index ? nodeHash(root, proof[i]!) : nodeHash(proof[i]!, root);
  });
  expect(verifyInclusion({ index, size, leaf: leafHash(utf8("leaf")), proof, root })).toBe(true);
  expect(verifyInclusion({ index: index % 2 ** 32, size, leaf: leafHash(utf8("leaf")), proof, root })).toBe(false);
});

test("impossible sizes and states are refused", () => {
  const code = expect.objectContaining({ code: "log_invalid" });
  expect(() => inclusionRanges(5, 5)).toThrow(code);
  expect(() => inclusionRanges(-1, 5)).toThrow(code);
  expect(() => consistencyRanges(6, 5)).toThrow(code);
  expect(() => consistencyRanges(1.5, 5)).toThrow(code);
  expect(() => new CompactRange(3, [leafHash(utf8("a"))])).toThrow(code);
  expect(() => tree.root(tree.size + 1)).toThrow(code);
  expect(verifyInclusion({ index: 5, size: 5, leaf: roots[1]!, proof: [], root: roots[1]! })).toBe(false);
  expect(verifyConsistency({ oldSize: 0, newSize: 3, oldRoot: emptyRoot(), newRoot: roots[3]!, proof: [] })).toBe(false);
  expect(verifyConsistency({ oldSize: 0, newSize: 0, oldRoot: emptyRoot(), newRoot: emptyRoot(), proof: [] })).toBe(true);
});

test("a subtree proof ties an aligned range to the tree and refuses unaligned ones", () => {
  const [start, end, size] = [8, 11, 23];
  const subtree = slowRoot(leaves.slice(start, end));
  const inside = {
    index: 9,
    start,
    end,
    leaf: leafHash(leaves[9]!),
    subtreeRoot: subtree,
    proof: slowInclusionProof(1, leaves.slice(start, end)),
  };
  expect(verifySubtreeInclusion(inside)).toBe(true);
  expect(verifySubtreeInclusion({ ...inside, start: 9 })).toBe(false);
  // By hand: [8,10) and leaf 10, then 11, then [12,16), [0,8), [16,23).
  const d = (from: number, to: number) => slowRoot(leaves.slice(from, to));
  const proof = [leafHash(leaves[10]!), leafHash(leaves[11]!), d(8, 10), d(12, 16), d(0, 8), d(16, 23)];
  const claim = { start, end, size, subtreeRoot: subtree, root: roots[size]!, proof };
  expect(verifySubtreeConsistency(claim)).toBe(true);
  expect(verifySubtreeConsistency({ ...claim, subtreeRoot: d(8, 12) })).toBe(false);
});

describe("signed notes (C2SP)", () => {
  const seed = seeded("log")(32);
  const key = { name: "audit.acme.example", publicKey: nobleCrypto.ed25519PublicKey(seed) };
  const sign = (message: Uint8Array) => nobleCrypto.ed25519Sign(seed, message);
  const checkpoint = { origin: key.name, size: 131, root: roots[131]!, extensions: ["epoch 3"] };

  test("a checkpoint survives the way through a note", async () => {
    const note = await signNote(checkpointText(checkpoint), key, sign);
    expect(parseCheckpoint(verifyNote(note, [key]).text)).toEqual(checkpoint);
    expect(note.split("\n").slice(0, 3)).toEqual([key.name, "131", base64(roots[131]!)]);
  });

  test("the verifier key of the Go checksum database has the known key id", () => {
    // sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8
    const golang = Buffer.from("Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8", "base64").subarray(1);
    expect(noteVerifierKey({ name: "sum.golang.org", publicKey: Uint8Array.from(golang) })).toBe(
      "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
    );
  });

  test("a verifier key is read as it was written, a log's and a witness's apart, and no changed character of it is", () => {
    for (const [text, signs] of [
      [noteVerifierKey(key), "notes"],
      [witnessVerifierKey(key), "cosignatures"],
    ] as const) {
      expect(parseVerifierKey(text)).toEqual({ key, signs });
      for (let i = 0; i < text.length; i++) {
        const changed = `${text.slice(0, i)}${text[i] === "f" ? "e" : "f"}${text.slice(i + 1)}`;
        expect(() => parseVerifierKey(changed), changed).toThrow(expect.objectContaining({ code: "log_invalid" }));
      }
    }
    for (const text of ["", "a", "a+b", `${noteVerifierKey(key)}=`, `${noteVerifierKey(key)}\n`])
      expect(() => parseVerifierKey(text), text).toThrow(expect.objectContaining({ code: "log_invalid" }));
  });

  test("a witness signs only what goes on from what it kept: every two sizes, every flipped bit of a proof, another log", () => {
    const at = (size: number) => ({ origin: "o", size, root: roots[size]! });
    expect(judgeGrowth(undefined, at(7), [])).toBe("first");
    for (let kept = 0; kept <= 24; kept++) {
      for (let size = 0; size <= 24; size++) {
        const proof = kept <= size ? tree.consistencyProof(kept, size) : [];
        const expected = size < kept ? "put_back" : size === kept ? "same" : "grown";
        expect(judgeGrowth(at(kept), at(size), proof)).toBe(expected);
        const other = { ...at(size), root: roots[size + 1]! };
        if (kept > 0 && size >= kept) expect(judgeGrowth(at(kept), other, proof)).toBe(size === kept ? "forked" : "unproven");
      }
    }
    const proof = tree.consistencyProof(7, 20);
    for (let bit = 0; bit < proof.length * 256; bit += 5) {
      const flipped = proof.map((hash) => Uint8Array.from(hash));
      flipped[bit >> 8]![(bit & 255) >> 3]! ^= 1 << (bit & 7);
      expect(judgeGrowth(at(7), at(20), flipped)).toBe("unproven");
    }
    const log_invalid = expect.objectContaining({ code: "log_invalid" });
    expect(() => judgeGrowth(at(7), { ...at(20), origin: "p" }, proof)).toThrow(log_invalid);
  });

  test("any changed character of the text spoils the note", async () => {
    const note = await signNote(checkpointText(checkpoint), key, sign);
    const end = note.lastIndexOf("\n\n");
    for (let i = 0; i < end; i++) {
      const changed = `${note.slice(0, i)}${note[i] === "A" ? "B" : "A"}${note.slice(i + 1)}`;
      expect(() => verifyNote(changed, [key])).toThrow(expect.objectContaining({ code: "log_invalid" }));
    }
  });

  test("unknown signers are ignored, but somebody known must have signed", async () => {
    const stranger = { name: "stranger", publicKey: nobleCrypto.ed25519PublicKey(seeded("s")(32)) };
    const note = await signNote(checkpointText(checkpoint), key, sign);
    expect(verifyNote(note, [key, stranger]).signedBy).toEqual([key.name]);
    expect(() => verifyNote(note, [stranger])).toThrow(expect.objectContaining({ code: "log_invalid" }));
    const renamed = { ...stranger, name: key.name };
    expect(() => verifyNote(note, [renamed])).toThrow(expect.objectContaining({ code: "log_invalid" }));
  });

  test("a witness's cosignature carries its time, and a changed time spoils it", async () => {
    const secret = seeded("witness")(32);
    const witness = { name: "witness.example", publicKey: nobleCrypto.ed25519PublicKey(secret) };
    const note = await cosignNote(await signNote(checkpointText(checkpoint), key, sign), witness, 1_700_000_000, (m) =>
      nobleCrypto.ed25519Sign(secret, m),
    );
    expect(verifyNote(note, [key, witness])).toMatchObject({
      signedBy: [key.name],
      cosignedAt: { "witness.example": 1_700_000_000 },
    });
    const line = note.trimEnd().split(" ").at(-1)!;
    const bytes = Buffer.from(line, "base64");
    bytes[11] = bytes[11]! ^ 1;
    expect(() => verifyNote(note.replace(line, bytes.toString("base64")), [key, witness])).toThrow(
      expect.objectContaining({ code: "log_invalid" }),
    );
  });

  test("texts that could be read two ways are refused", async () => {
    expect(() => checkpointText({ ...checkpoint, origin: "a\nb" })).toThrow(expect.objectContaining({ code: "log_invalid" }));
    expect(() => checkpointText({ ...checkpoint, origin: "" })).toThrow(expect.objectContaining({ code: "log_invalid" }));
    expect(() => checkpointText({ ...checkpoint, size: -1 })).toThrow(expect.objectContaining({ code: "log_invalid" }));
    expect(() => parseCheckpoint(`a\n007\n${base64(roots[1]!)}\n`)).toThrow(expect.objectContaining({ code: "log_invalid" }));
    await expect(signNote("no line break", key, sign)).rejects.toThrow(expect.objectContaining({ code: "log_invalid" }));
    await expect(signNote("a\n", { ...key, name: "a b" }, sign)).rejects.toThrow(
      expect.objectContaining({ code: "log_invalid" }),
    );
    expect(bytesEqual(roots[0]!, emptyRoot())).toBe(true);
  });
});

test("an offer that names another size than the witness has accuses nobody; one that names it is judged by it", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 130 }),
      fc.integer({ min: 1, max: 130 }),
      fc.integer({ min: 0, max: 130 }),
      (kept, size, first) => {
        const at = (n: number) => ({ origin: "log", size: n, root: roots[n] as Uint8Array });
        const known = kept === 0 ? undefined : at(kept);
        const proof = first > 0 && first < size ? tree.consistencyProof(first, size) : [];
        const judged = judgeOffer(known, at(size), first, proof);
        if (first !== kept) expect(judged).toBe("other_size");
        else if (kept === 0) expect(judged).toBe("first");
        else expect(judged).toBe(size < kept ? "put_back" : size === kept ? "same" : "grown");
      },
    ),
  );
});
