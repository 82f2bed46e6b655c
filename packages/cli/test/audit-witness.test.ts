import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { base64, fromHex } from "@seneschal/crypto";
import {
  checkpointText,
  cosignNote,
  MerkleTree,
  type NoteKey,
  noteVerifierKey,
  parseVerifierKey,
  signNote,
  verifyNote,
  witnessVerifierKey,
} from "@seneschal/crypto/merkle";
import { type AuditRecord, auditHash } from "@seneschal/quota";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

/** Whoever runs a log, and may lie about it. */
interface Log {
  tree: MerkleTree;
  key: { readonly note: NoteKey; readonly sign: (message: Uint8Array) => Uint8Array };
  /** Said in place of a proof. */
  proof?: string[];
  /** As the other service answers. */
  governance?: true;
  /** The scheduler's, in place of the tree. */
  chain?: readonly AuditRecord[];
  /** The number of requests after which its connections are cut. */
  cut?: number;
  /** Cosigned checkpoints that the service shows. */
  witnesses?: readonly {
    readonly org_id: string;
    readonly size: number;
    readonly cosigned_at: string;
    readonly note: string;
    readonly verifier_key: string;
  }[];
}

function newKey(): Log["key"] {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  const note = { name: "seneschal-audit", publicKey: new Uint8Array(Buffer.from(x, "base64url")) };
  return { note, sign: (message) => sign(null, message, privateKey) };
}

function treeOf(...entries: readonly number[]): MerkleTree {
  const tree = new MerkleTree();
  for (const entry of entries) tree.append(Uint8Array.of(entry));
  return tree;
}

/** Entries that are chained as the scheduler does it. */
function chainOf(...users: readonly string[]): readonly AuditRecord[] {
  let hash = "";
  return users.map((user, at) => {
    const entry = {
      seq: at + 1,
      at: 1_700_000_000_000 + at,
      action: "work",
      user,
      resourceType: "t",
      resourceId: "r",
      details: {},
    };
    hash = auditHash(hash, entry);
    return { ...entry, hash };
  });
}

describe("a witness of an audit log", () => {
  let dir: string;
  let url: string;
  let server: Server;
  let log: Log;
  let witness: string;

  const answer = async (path: URL): Promise<object | undefined> => {
    const { tree, key, chain } = log;
    if (chain !== undefined) return ofScheduler(path, chain, key);
    if (tree.size === 0 && path.pathname === "/api/v1/audit/checkpoint") return undefined;
    const text = checkpointText({ origin: "seneschal.audit/i/acme", size: tree.size, root: tree.root() });
    const note = await signNote(text, key.note, key.sign);
    const signed = { org_id: "acme", note, public_key: base64(key.note.publicKey), verifier_key: noteVerifierKey(key.note) };
    if (log.governance) return ofGovernance(path, signed);
    if (path.pathname === "/api/v1/audit/checkpoint")
      return { size: tree.size, root: base64(tree.root()), ...signed, witnesses: log.witnesses ?? [] };
    if (path.pathname === "/api/v1/audit/verify")
      return { valid: true, since: null, until: null, flaw: null, sequence: null, accepted_gaps: [] };
    const [first, second] = [Number(path.searchParams.get("first")), Number(path.searchParams.get("second"))];
    const roots = { first_root: base64(tree.root(first)), second_root: base64(tree.root(second)) };
    return { first, second, ...roots, proof: log.proof ?? tree.consistencyProof(first, second).map(base64), ...signed };
  };

  const ofScheduler = async (
    { pathname, searchParams }: URL,
    chain: readonly AuditRecord[],
    { note: name, sign }: Log["key"],
  ) => {
    const newest = chain.at(-1);
    const [size, head] = [newest?.seq ?? 0, newest?.hash ?? ""];
    if (pathname === "/api/v1/audit/checkpoint") {
      const signed = { entries: size, head, timestamp: "2026-01-01T00:00:00.000Z", signature: "", public_key: "" };
      if (newest === undefined) return signed;
      const text = checkpointText({ origin: "log", size, root: fromHex(head), extensions: ["sha256-chain"] });
      return { ...signed, note: await signNote(text, name, sign), verifier_key: noteVerifierKey(name) };
    }
    const through = Number(searchParams.get("through"));
    const shown = chain.filter(({ seq }) => seq <= through).reverse();
    return shown.slice(0, 3).map(({ seq, at, user: user_id, resourceType: resource_type, resourceId: resource_id, ...rest }) => {
      const entry = { id: String(seq), timestamp: new Date(at).toISOString(), user_id, resource_type, resource_id };
      return { ...entry, action: rest.action, details: rest.details, hash: rest.hash };
    });
  };

  const ofGovernance = ({ pathname, searchParams }: URL, signed: { note: string; verifier_key: string }): object => {
    const { tree } = log;
    const { note: checkpoint, verifier_key } = signed;
    const state = { size: tree.size, root: base64(tree.root()) };
    if (pathname === "/api/v1/audit/checkpoint")
      return { ...state, checkpoint, verifier_key, timestamp: "2026-01-01T00:00:00.000Z" };
    const verdict = { checkpoints: 1, first_bad_checkpoint: null, missing: 0, checked_client_checkpoint: false };
    if (pathname === "/api/v1/audit/verify") return { valid: true, records: tree.size, root: state.root, ...verdict };
    const [first, second] = [Number(searchParams.get("first")), Number(searchParams.get("second"))];
    const roots = { first_root: base64(tree.root(first)), second_root: state.root };
    return { first, second, ...roots, proof: tree.consistencyProof(first, second).map(base64) };
  };

  const call = async (...args: readonly string[]) => {
    const host = scriptedHost({ cwd: dir });
    const code = await run([...args, "--json"], host);
    return { code, told: host.json() };
  };
  const witnessed = (...more: readonly string[]) =>
    call("audit", "witness", "acme.checkpoint", "--witness-key", "w.pem", "--name", "w.example", "--url", url, ...more);
  const verified = (...more: readonly string[]) =>
    call("audit", "verify", "--checkpoint", "acme.checkpoint", "--url", url, ...more);
  const kept = () => readFile(join(dir, "acme.checkpoint"), "utf8");

  beforeAll(async () => {
    server = createServer((request, response) => {
      if (log.cut !== undefined && log.cut-- <= 0) return void request.socket.destroy();
      void answer(new URL(request.url ?? "", "http://log")).then((body) => {
        const code = log.governance ? "RESOURCE_NOT_FOUND" : "NOT_FOUND";
        const gone = { error: { code, message: "not found", details: {}, request_id: "r" } };
        response
          .writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" })
          .end(JSON.stringify(body ?? gone));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "witness-"));
    log = { tree: treeOf(1, 2, 3, 4, 5), key: newKey() };
    const made = await call("audit", "witness-key", "--name", "w.example", "--out", "w.pem");
    witness = String(made.told["verifier_key"]);
    expect([made.code, (await stat(join(dir, "w.pem"))).mode & 0o077]).toEqual([0, 0]);
    return () => rm(dir, { recursive: true, force: true });
  });

  it("signs the log that it sees first, and from then on what goes on from there; verification says since when it is proven", async () => {
    expect(await witnessed()).toMatchObject({ code: 0, told: { witnessed: true, growth: "first", size: 5, kept_size: null } });
    const keys = [log.key.note, parseVerifierKey(witness).key];
    expect(verifyNote(await kept(), keys)).toMatchObject({
      signedBy: ["seneschal-audit"],
      cosignedAt: { "w.example": expect.any(Number) },
    });
    expect(await witnessed()).toMatchObject({ code: 0, told: { growth: "same" } });
    log.tree = treeOf(1, 2, 3, 4, 5, 6, 7, 8);
    const proven = { growth: "grown", size: 5, cosigned: { "w.example": expect.stringMatching(/^20.*Z$/) } };
    expect(await verified("--witness", witness)).toMatchObject({ code: 0, told: { valid: true, proven } });
    expect(await witnessed()).toMatchObject({ code: 0, told: { growth: "grown", size: 8, kept_size: 5 } });
    expect(verifyNote(await kept(), keys).text.split("\n")[1]).toBe("8");
  });

  it("does the same for the log of data governance, which has no range", async () => {
    log.governance = true;
    const service = ["--service", "governance"];
    expect(await witnessed(...service)).toMatchObject({ code: 0, told: { growth: "first", size: 5 } });
    log.tree = treeOf(1, 2, 3, 4, 5, 6);
    expect(await verified("--witness", witness, ...service)).toMatchObject({
      code: 0,
      told: { proven: { growth: "grown", size: 5 } },
    });
    expect(await witnessed(...service)).toMatchObject({ code: 0, told: { growth: "grown", size: 6 } });
    log.tree = treeOf(1, 2, 3);
    expect(await verified("--witness", witness, ...service)).toMatchObject({ code: 1, told: { proven: { growth: "put_back" } } });
    expect(await verified(...service, "--since", "2026-01-01T00:00:00Z")).toMatchObject({ code: 2 });
  });

  it.each<[string, (before: Log) => Partial<Log>]>([
    ["put_back", () => ({ tree: treeOf(1, 2, 3, 4) })],
    ["put_back", () => ({ tree: treeOf() })],
    ["forked", () => ({ tree: treeOf(1, 2, 9, 4, 5) })],
    ["unproven", () => ({ tree: treeOf(1, 2, 9, 4, 5, 6) })],
    ["unproven", () => ({ tree: treeOf(1, 2, 3, 4, 5, 6), proof: [] })],
    ["other_key", () => ({ tree: treeOf(1, 2, 3, 4, 5, 6), key: newKey() })],
  ])(
    "signs nothing and keeps what it has when the log is %s, and verification against what was kept says no",
    async (growth, lie) => {
      await witnessed();
      const before = await kept();
      log = { ...log, ...lie(log) };
      expect(await witnessed()).toMatchObject({ code: 1, told: { witnessed: false, growth } });
      expect(await verified("--witness", witness)).toMatchObject({ code: 1, told: { valid: true, proven: { growth } } });
      expect(await kept()).toBe(before);
    },
  );

  describe("of the scheduler, which is a chain", () => {
    const scheduler = ["--service", "scheduler"];
    const five = ["a", "b", "c", "d", "e"];
    beforeEach(async () => {
      log.chain = chainOf(...five);
      expect(await witnessed(...scheduler)).toMatchObject({ code: 0, told: { growth: "first", size: 5 } });
    });

    it("signs what its entries lead to from what was kept, and verification hashes all of it", async () => {
      expect(await witnessed(...scheduler)).toMatchObject({ code: 0, told: { growth: "same" } });
      log.chain = chainOf(...five, "f", "g", "h", "i", "j", "k", "l");
      const proven = { growth: "grown", size: 5, cosigned: { "w.example": expect.stringMatching(/^20.*Z$/) } };
      expect(await verified("--witness", witness, ...scheduler)).toMatchObject({ code: 0, told: { valid: true, proven } });
      expect(await witnessed(...scheduler)).toMatchObject({ code: 0, told: { growth: "grown", size: 12, kept_size: 5 } });
      expect(
        verifyNote(await kept(), [parseVerifierKey(witness).key])
          .text.split("\n")
          .slice(1, 2),
      ).toEqual(["12"]);
      expect(await verified(...scheduler, "--since", "2026-01-01T00:00:00Z")).toMatchObject({ code: 2 });
    });

    const longer = chainOf(...five, "f", "g", "h", "i");
    const changed = (seq: number, change: Partial<AuditRecord>) =>
      longer.map((entry) => (entry.seq === seq ? { ...entry, ...change } : entry));
    it.each<[what: string, growth: string, readonly AuditRecord[], valid: boolean]>([
      ["put back", "put_back", chainOf("a", "b", "c", "d"), true],
      ["emptied", "put_back", [], true],
      ["another one of that length", "forked", chainOf("a", "b", "x", "d", "e"), true],
      ["another one that is longer", "unproven", chainOf("a", "b", "x", "d", "e", "f"), true],
      ["changed in an entry since", "unproven", changed(7, { user: "x" }), false],
      ["changed in the first entry since", "unproven", changed(6, { details: { x: 1 } }), false],
      ["changed in a hash", "unproven", changed(7, { hash: "0".repeat(64) }), false],
      ["cut between what was seen and what is new", "unproven", longer.filter(({ seq }) => seq > 7), false],
      ["without one entry", "unproven", longer.filter(({ seq }) => seq !== 7), false],
    ])("signs nothing and keeps what it has of one that is %s", async (_, growth, chain, valid) => {
      const before = await kept();
      log.chain = chain;
      expect(await witnessed(...scheduler)).toMatchObject({ code: 1, told: { witnessed: false, growth } });
      expect(await verified("--witness", witness, ...scheduler)).toMatchObject({ code: 1, told: { valid, proven: { growth } } });
      expect(await kept()).toBe(before);
    });

    it("finds by verification what was changed or cut before what it kept, which its own run does not read", async () => {
      for (const chain of [longer.filter(({ seq }) => seq > 4), changed(2, { user: "x" })]) {
        log.chain = chain;
        expect(await verified(...scheduler)).toMatchObject({ code: 1, told: { valid: false, proven: { growth: "grown" } } });
      }
    });

    it("that ends at any request has kept what it had, and goes on from there", async () => {
      const before = await kept();
      log.chain = chainOf(...five, "f", "g", "h", "i", "j", "k");
      for (let requests = 0; ; requests++) {
        log.cut = requests;
        const { code } = await witnessed(...scheduler);
        if (code === 0) break;
        expect([code, await kept()]).toEqual([3, before]);
      }
      delete log.cut;
      expect(await witnessed(...scheduler)).toMatchObject({ code: 0, told: { growth: "same", size: 11 } });
    });
  });

  it("takes another key than the expected one for no log of that name, at the first time too, and keeps nothing of it", async () => {
    expect(await witnessed("--log-key", noteVerifierKey(newKey().note))).toMatchObject({
      code: 1,
      told: { growth: "other_key" },
    });
    await expect(kept()).rejects.toMatchObject({ code: "ENOENT" });
    expect(await witnessed("--log-key", noteVerifierKey(log.key.note))).toMatchObject({ code: 0 });
  });

  it("goes on from no file but its own, and verification from none that lacks an asked cosignature", async () => {
    await witnessed();
    const note = await kept();
    for (const [other, what] of [
      [note.split("\n").slice(0, -2).join("\n").concat("\n"), "without its cosignature"],
      [note.replace("\n5\n", "\n4\n"), "changed"],
      ["", "empty"],
    ]) {
      await writeFile(join(dir, "acme.checkpoint"), other as string);
      expect(await witnessed(), what).toMatchObject({ code: 2, told: { error: { code: "file_invalid" } } });
      expect(await verified("--witness", witness), what).toMatchObject({ code: 2, told: { error: { code: "file_invalid" } } });
    }
    for (const key of ["no key", noteVerifierKey(log.key.note)]) {
      await writeFile(join(dir, "acme.checkpoint"), note);
      expect(await verified("--witness", key), key).toMatchObject({ code: 2, told: { error: { code: "usage" } } });
    }
    expect(await call("audit", "verify", "--witness", witness, "--url", url)).toMatchObject({ code: 2 });
  });

  it("is refused a key that is none, a name that no note can carry, and a second key in the first one's place", async () => {
    await writeFile(join(dir, "none.pem"), "none");
    const as = (key: string, name: string) => call("audit", "witness", "c", "--witness-key", key, "--name", name, "--url", url);
    expect(await as("none.pem", "w")).toMatchObject({ code: 2, told: { error: { code: "file_invalid" } } });
    expect(await as("w.pem", "a b")).toMatchObject({ code: 2 });
    expect(await call("audit", "witness-key", "--name", "w", "--out", "w.pem")).toMatchObject({
      code: 2,
      told: { error: { code: "file_exists" } },
    });
  });

  it("verification holds the log against what federated partners have cosigned, and says what is proven by that", async () => {
    log = { tree: treeOf(1, 2, 3), key: newKey() };
    const partner = newKey();
    const witness = { ...partner.note, name: "seneschal.witness/globex" };
    const cosigned = async (size: number, root: Uint8Array) => {
      const text = checkpointText({ origin: "seneschal.audit/i/acme", size, root });
      const note = await cosignNote(await signNote(text, log.key.note, log.key.sign), witness, 1_700_000_000, partner.sign);
      const cosigned_at = "2023-11-14T22:13:20.000Z";
      return { org_id: "globex", size, cosigned_at, note, verifier_key: witnessVerifierKey(witness) };
    };
    const verify = () => call("audit", "verify", "--url", url);
    log.witnesses = [await cosigned(2, log.tree.root(2))];
    expect(await verify()).toMatchObject({
      code: 0,
      told: {
        witnesses: [{ org_id: "globex", growth: "grown", size: 2, cosigned: { [witness.name]: "2023-11-14T22:13:20.000Z" } }],
      },
    });
    log.witnesses = [await cosigned(9, log.tree.root(2))];
    expect(await verify()).toMatchObject({ code: 1, told: { witnesses: [{ growth: "put_back" }] } });
    log.witnesses = [await cosigned(3, log.tree.root(2))];
    expect(await verify()).toMatchObject({ code: 1, told: { witnesses: [{ growth: "forked" }] } });
    const [shown] = log.witnesses;
    if (shown !== undefined) log.witnesses = [{ ...shown, note: shown.note.replace("\n3\n", "\n2\n") }];
    expect((await verify()).code).not.toBe(0);
  });
});
