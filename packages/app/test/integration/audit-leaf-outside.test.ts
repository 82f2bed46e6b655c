import { spawnSync } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { cosignNote, witnessVerifierKey } from "@seneschal/crypto/merkle";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openRig, type Rig } from "../gateway/rig.ts";

const python = spawnSync("python3", ["-c", "import cryptography"]).status === 0;
if (!python) console.warn("no python3 with cryptography: audit leaves are not computed from outside");

/** The program of the documents, and what it says of events from its standard input. */
async function program(): Promise<string> {
  const page = await readFile(new URL("../../../../docs/gateway.md", import.meta.url), "utf8");
  const [tree, note] = ["leaf", "signed"].map(
    (name) => new RegExp(`\`\`\`python\n([^\`]*def ${name}\\([^\`]*)\`\`\``).exec(page)?.[1],
  );
  return `${tree}${note}
import sys
given = json.load(sys.stdin)
leaves = [leaf(event, given["stream"]) for event in given["events"]]
b64 = base64.b64decode
def proven(p): return included(bytes.fromhex(p["data_hash"]), p["index"], p["size"], [b64(h) for h in p["proof"]])
def grown(p): return consistent(p["first"], p["second"], b64(p["first_root"]), [b64(h) for h in p["proof"]])
print(json.dumps({"hashes": [l.hex() for l in leaves], "root": base64.b64encode(root(leaves)).decode(),
    "proven": [proven(p) == b64(p["root"]) for p in given["proofs"]],
    "grown": [grown(p) == b64(p["second_root"]) and root(leaves[:p["first"]]) == b64(p["first_root"]) for p in given["consistency"]],
    "signed": [signed(given["note"], key) for key in given["keys"]],
    "forged": [proven({**p, "index": p["index"] ^ 1}) == b64(p["root"]) for p in given["proofs"]]}))
`;
}

it.skipIf(!python)("the documents are enough to compute the leaves of the vectors, and their root", async () => {
  const input = await readFile(new URL("../gateway/audit-leaf-vectors.json", import.meta.url), "utf8");
  const { leaves, root } = JSON.parse(input) as { leaves: readonly { event: { data_hash: string } }[]; root: string };
  const page = await program();
  const judge = `${page.slice(0, page.indexOf("import sys"))}
import sys
given = json.load(sys.stdin)
leaves = [leaf(one["event"], given["stream"]) for one in given["leaves"]]
print(json.dumps({"hashes": [l.hex() for l in leaves], "root": base64.b64encode(root(leaves)).decode()}))`;
  const run = spawnSync("python3", ["-c", judge], { input, encoding: "utf8" });
  expect(run.stderr).toBe("");
  expect(JSON.parse(run.stdout)).toEqual({ hashes: leaves.map(({ event }) => event.data_hash), root });
});

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

it.skipIf(!python)(
  "the documents are enough to compute every leaf and the signed root of a log from its events, and to judge proofs of one event and of growth, and signatures of the log and of a witness",
  async () => {
    const ask = rig.admin("acme");
    for (const [index, name] of ["plain", "grüße", '引用 \u2028 "\\"'].entries()) {
      await ask("POST", "/api/v1/groups", { name, description: "", workspace_ids: [] });
      await rig.bearer({ sub: `needy-${index}`, org: "acme" })("POST", "/api/v1/emergency-access/request", { reason: name });
    }
    const { body: checkpoint } = await ask("GET", "/api/v1/audit/checkpoint");
    const [, size = "", root = ""] = String(checkpoint.checkpoint ?? checkpoint.note).split("\n");
    const { body: page } = await ask("GET", "/api/v1/audit?limit=1000");
    const events = (page.events as { sequence: number; data_hash: string; prev_hash: string }[])
      .filter(({ sequence }) => sequence <= Number(size))
      .sort((a, b) => a.sequence - b.sequence);
    expect(events.length).toBe(Number(size));
    expect(events.length).toBeGreaterThan(3);
    const got = async (path: string) => (await ask("GET", `/api/v1/audit/${path}`)).body;
    const proofs = await Promise.all(page.events.map(({ id }: { id: string }) => got(`${id}/proof`)));
    const consistency = await Promise.all(events.map(({ sequence }) => got(`checkpoint/consistency?first=${sequence}`)));
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const raw = new Uint8Array(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url"));
    const witness = { name: "w.example", publicKey: raw };
    const note = await cosignNote(checkpoint.note, witness, 1_700_000_000, (message) => sign(null, message, privateKey));
    const stranger = witnessVerifierKey({ name: "stranger", publicKey: raw });
    const keys = [checkpoint.verifier_key, witnessVerifierKey(witness), stranger];
    const input = JSON.stringify({ stream: "acme", events, proofs, consistency, note, keys });
    const run = spawnSync("python3", ["-c", await program()], { input, encoding: "utf8" });
    expect(run.stderr).toBe("");
    const hashes = events.map(({ data_hash }) => data_hash);
    const every = (value: boolean) => events.map(() => value);
    const verdicts = { signed: [true, 1_700_000_000, null], proven: every(true), grown: every(true), forged: every(false) };
    expect(JSON.parse(run.stdout)).toEqual({ hashes, root, ...verdicts });
    expect(events.slice(1).map(({ prev_hash }) => prev_hash)).toEqual(hashes.slice(0, -1));
  },
);
