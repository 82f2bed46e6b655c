import { canonicalJson } from "@seneschal/crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { auditText } from "../../src/gateway/ground/audit/leaf.ts";

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
