import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { canonicalJson } from "@seneschal/crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type AuditEvent, auditLeaf, auditText } from "../../src/gateway/ground/audit/event.ts";

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

it("the leaves of the page's vectors are what the gateway computes, the stream included, and their root", async () => {
  const file = await readFile(new URL("audit-leaf-vectors.json", import.meta.url), "utf8");
  const { stream, leaves, root } = JSON.parse(file) as {
    readonly stream: string;
    readonly leaves: readonly { readonly event: AuditEvent & Shown; readonly text: string }[];
    readonly root: string;
  };
  type Shown = { readonly sequence: number; readonly data_hash: string; readonly prev_hash: string };
  const hashes = leaves.map(({ event: { sequence, data_hash, prev_hash: _, ...event }, text }) => {
    const leaf = { stream, stream_seq: sequence, event };
    expect(auditText(leaf)).toBe(text);
    const hash = auditLeaf(leaf, sha256);
    expect(Buffer.from(hash).toString("hex")).toBe(data_hash);
    return hash;
  });
  expect(leaves.map(({ event }) => event.prev_hash)).toEqual(["", ...leaves.slice(0, -1).map(({ event }) => event.data_hash)]);
  const [first, second, third] = hashes as [Uint8Array, Uint8Array, Uint8Array];
  const node = (...parts: readonly Uint8Array[]) => sha256(Buffer.concat([Uint8Array.of(1), ...parts]));
  expect(Buffer.from(node(node(first, second), third)).toString("base64")).toBe(root);
});

const names = ["actor", "actor_type", "event_type", "id", "org_id", "purpose", "request_id", "result", "timestamp", "workspace"];
const well = fc.string({ unit: "grapheme" });

it("the fast canonical text of an audit event is the canonical JSON of all its fields, whatever they are", () => {
  const ours = fc.record(Object.fromEntries(names.map((name) => [name, well])));
  const metadata = fc.dictionary(
    well,
    fc.oneof(
      well,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(well),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    ),
  );
  const strange = fc.dictionary(fc.constantFrom("extra", "sequences", "actor", "id"), fc.oneof(well, fc.integer()));
  fc.assert(
    fc.property(ours, metadata, strange, fc.boolean(), well, fc.nat(), (fields, meta, more, foreign, stream, stream_seq) => {
      const event = { ...fields, metadata: meta, ...(foreign ? more : {}) };
      const expected = canonicalJson({ ...event, stream, sequence: stream_seq });
      expect(auditText({ stream, stream_seq, event: event as never })).toBe(expected);
    }),
  );
});
