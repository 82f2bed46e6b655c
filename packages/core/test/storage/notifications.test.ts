import {
  eventMessage,
  eventsNamed,
  type NotificationRule,
  rulesFor,
  rulesOverlap,
  webhookArn,
  webhookOfArn,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";

const families = ["s3:ObjectCreated:*", "s3:ObjectRemoved:*", "s3:LifecycleExpiration:*"];
const every = families.flatMap(eventsNamed);
const part = fc.stringMatching(/^[ab]{0,3}$/);
const rule: fc.Arbitrary<NotificationRule> = fc.record({
  id: fc.constant("r"),
  webhook: fc.constant("hook"),
  events: fc.subarray([...families, ...every.map((name) => `s3:${name}`)], { minLength: 1, maxLength: 3 }),
  prefix: part,
  suffix: part,
});

test("rules that one event of one key is told by both of overlap", () => {
  fc.assert(
    fc.property(rule, rule, fc.constantFrom(...every), part, (a, b, event, key) => {
      const both = rulesFor([a, b], event, key).length === 2;
      expect([rulesOverlap(a, b), rulesOverlap(b, a)]).toEqual(both ? [true, true] : [expect.any(Boolean), rulesOverlap(a, b)]);
    }),
  );
});

test("rules that overlap have an event and a key in common", () => {
  fc.assert(
    fc.property(rule, rule, (a, b) => {
      fc.pre(rulesOverlap(a, b));
      const longer = (x = "", y = "") => (x.length > y.length ? x : y);
      const key = longer(a.prefix, b.prefix) + longer(a.suffix, b.suffix);
      expect(every.some((event) => rulesFor([a, b], event, key).length === 2)).toBe(true);
    }),
  );
});

test("names stand for events exactly as S3 has them", () => {
  expect(every).toHaveLength(8);
  for (const name of ["s3:*", "s3:ObjectCreated", "ObjectCreated:Put", "s3:objectcreated:*", "s3:ObjectCreated:*:*", ""])
    expect([name, eventsNamed(name)]).toEqual([name, []]);
});

test("an ARN names the webhook that it was made of, and nothing else does", () => {
  expect(webhookOfArn(webhookArn("hook-1"))).toBe("hook-1");
  expect(webhookOfArn("arn:minio:sqs:us-east-1:hook:webhook")).toBe("hook");
  for (const arn of ["hook", "arn:aws:sqs:us-east-1:1:hook", "arn:seneschal:sqs::Hook:webhook", "arn:seneschal:sqs::a:b:webhook"])
    expect([arn, webhookOfArn(arn)]).toEqual([arn, undefined]);
});

test("sequencers sort as texts as their commits do; a key is encoded so that it decodes to itself", () => {
  const base = { rule: "r", event: "ObjectCreated:Put", at: 0, bucket: "b", tenant: "t", region: "r" } as const;
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), fc.string({ unit: "grapheme" }), (a, b, key) => {
      const [one, two] = [a, b].map((sequence) => eventMessage({ ...base, key }, sequence).Records[0].s3.object);
      expect(Math.sign(a - b)).toBe(one!.sequencer < two!.sequencer ? -1 : one!.sequencer > two!.sequencer ? 1 : 0);
      expect(one!.key).toMatch(/^[\w.*+%/-]*$/);
      expect(decodeURIComponent(one!.key.replaceAll("+", " "))).toBe(key);
    }),
  );
});
