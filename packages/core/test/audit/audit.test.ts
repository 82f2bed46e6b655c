import { type AuditMessage, isAuditPattern, otlpLogs, selects, syslogMessage } from "@seneschal/core/audit";
import fc from "fast-check";
import { expect, it } from "vitest";

const text = fc.string({ unit: "grapheme", maxLength: 30 });
const type = fc.stringMatching(/^[a-z]{1,8}(\.[a-z_]{1,12}){0,4}$/);
const messages: fc.Arbitrary<AuditMessage> = fc.record({
  version: fc.constant(1 as const),
  service: fc.constantFrom("gateway", "governance", "storage"),
  instance: text,
  seq: fc.integer({ min: 1 }),
  stream: text,
  stream_seq: fc.integer({ min: 1 }),
  id: fc.uuid(),
  time: fc
    .date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  type,
  actor: fc.oneof(text, fc.constant('a "quoted\\name] [x y="1'), fc.constant("two\r\nlines")),
  outcome: fc.constantFrom("success", "failure", "denied"),
  event: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null))),
});

/** RFC 5424, section 6, read by its grammar. */
const grammar =
  /^<(\d{1,3})>1 (\S+) ([\x21-\x7e]{1,255}) ([\x21-\x7e]{1,48}) ([\x21-\x7e]{1,128}) ([\x21-\x7e]{1,32}) \[([^ =\]"]{1,32})((?: [^ =\]"]{1,32}="(?:[^"\\\]]|\\["\\\]])*")*)\] (.*)$/s;

it("any event is one line of RFC 5424 whose structured data names it and whose message is all of it", () => {
  fc.assert(
    fc.property(messages, text, (message, host) => {
      const line = syslogMessage(message, host);
      expect(line).not.toMatch(/[\r\n]/);
      const [, priority, time, , app, service, id, name, data = "", json = ""] = grammar.exec(line) ?? [];
      expect([Number(priority) >> 3, Number(priority) & 7]).toEqual([13, message.outcome === "success" ? 6 : 4]);
      expect([time, app, service, id, name]).toEqual([
        ...[message.time, "seneschal", message.service, message.type.slice(0, 32), "seneschal@32473"],
      ]);
      const values = [...data.matchAll(/ ([a-z_]+)="((?:[^"\\\]]|\\["\\\]])*)"/g)];
      const read = Object.fromEntries(values.map(([, key, value = ""]) => [key, value.replace(/\\(["\\\]])/g, "$1")]));
      const plain = (value: unknown) => String(value).replace(/\p{Cc}/gu, " ");
      const { instance, seq, stream, stream_seq, actor, outcome } = message;
      const names = { instance, seq, stream, stream_seq, id: message.id, type: message.type, actor, outcome };
      expect(read).toEqual(Object.fromEntries(Object.entries(names).map(([key, value]) => [key, plain(value)])));
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(message)));
    }),
  );
});

interface OtlpRecord {
  readonly timeUnixNano: string;
  readonly severityNumber: number;
  readonly body: { readonly stringValue: string };
}

it("events are records of OTLP in their order, each with all of it as its body", () => {
  fc.assert(
    fc.property(fc.array(messages, { minLength: 1, maxLength: 5 }), (list) => {
      const { resourceLogs } = otlpLogs(list) as unknown as { resourceLogs: [{ scopeLogs: [{ logRecords: OtlpRecord[] }] }] };
      const records = resourceLogs[0].scopeLogs[0].logRecords;
      const bodies = records.map(({ body }) => JSON.parse(body.stringValue));
      expect(bodies).toEqual(JSON.parse(JSON.stringify(list)));
      for (const [i, { timeUnixNano, severityNumber }] of records.entries()) {
        expect(Number(BigInt(timeUnixNano) / 1_000_000n)).toBe(Date.parse(list[i]?.time ?? ""));
        expect(severityNumber).toBe(list[i]?.outcome === "success" ? 9 : 13);
      }
    }),
  );
  expect(otlpLogs([])).toEqual({ resourceLogs: [] });
});

it("a selection takes whose events are named and which, but for those that are left out", () => {
  const all = { organizations: [], events: [], except: [] };
  const event = { stream: "acme", type: "workspace.invite.accept" };
  const verdicts: readonly [object, boolean][] = [
    [{}, true],
    [{ organizations: ["acme"] }, true],
    [{ organizations: ["other"] }, false],
    [{ events: ["workspace.*"] }, true],
    [{ events: ["workspace.invite.*"] }, true],
    [{ events: ["workspace.invite.accept"] }, true],
    [{ events: ["workspace.invite"] }, false],
    [{ events: ["work.*", "key.*"] }, false],
    [{ events: ["workspace.*"], except: ["workspace.invite.*"] }, false],
    [{ except: ["encrypt", "decrypt"] }, true],
  ];
  for (const [more, verdict] of verdicts) expect(selects({ ...all, ...more }, event), JSON.stringify(more)).toBe(verdict);
});

it("a pattern that is a type takes that type alone, and a prefix all types below it and nothing else", () => {
  fc.assert(
    fc.property(type, type, (one, other) => {
      const takes = (pattern: string, of: string) =>
        selects({ organizations: [], events: [pattern], except: [] }, { stream: "s", type: of });
      expect([isAuditPattern(one), isAuditPattern(`${one}.*`), isAuditPattern(`${one}*`), isAuditPattern("*")]).toEqual([
        ...[true, true, false, false],
      ]);
      expect(takes(one, other)).toBe(one === other);
      expect(takes(`${one}.*`, other)).toBe(other.startsWith(`${one}.`));
      expect(takes(`${one}.*`, `${one}.${other}`)).toBe(true);
    }),
  );
});
