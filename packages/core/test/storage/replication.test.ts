import {
  afterSending,
  destinationArn,
  destinationKey,
  destinationOfArn,
  lanesOf,
  type NoRoom,
  placeOfReplica,
  type ReplicationRule,
  type ReplicationState,
  replicationOutcomes,
  replicationStatus,
  roomAfter,
  rulesCovering,
  waitsForRoom,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";

const name = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,8}$/);
const bucket = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{1,8}[a-z0-9]$/);
const destination = fc.record({ name, bucket });
const part = fc.stringMatching(/^[ab]{0,2}$/);
const tag = fc.constantFrom({ key: "k", value: "v" }, { key: "k", value: "w" }, { key: "l", value: "v" });
const rule: fc.Arbitrary<ReplicationRule> = fc.record({
  id: fc.constant("r"),
  enabled: fc.boolean(),
  form: fc.constant("filter" as const),
  filter: fc.record({ prefix: part, tags: fc.array(tag, { maxLength: 1 }) }, { requiredKeys: [] }),
  priority: fc.nat(9),
  destination: fc.record({ name: fc.constantFrom("west", "north"), bucket: fc.constantFrom("one", "two") }),
  deleteMarkers: fc.boolean(),
});
const version = fc.record(
  {
    key: part,
    tags: fc.array(tag, { maxLength: 2 }),
    delete_marker: fc.boolean(),
    replica: fc.boolean(),
    encryption: fc.constantFrom({ kind: "aws:kms" }, { kind: "customer" }),
  },
  { requiredKeys: ["key"] },
);

test("a destination is read back from its ARN, and from MinIO's form of it; nothing else is one", () => {
  fc.assert(
    fc.property(destination, (one) => {
      expect(destinationOfArn(destinationArn(one))).toEqual(one);
      expect(destinationOfArn(`arn:minio:replication::${one.name}:${one.bucket}`)).toEqual(one);
    }),
  );
  for (const odd of ["", "west", "arn:aws:s3:::one", "arn:seneschal:sqs::one:webhook", "arn:seneschal:replication::w:a/b"])
    expect(destinationOfArn(odd)).toBeUndefined();
});

test("each destination has one rule at most, enabled, of the greatest priority, about the version; copies and what is under a key of its own have none", () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 6 }), version, (rules, one) => {
      const found = rulesCovering(rules, one);
      const about = ({ enabled, filter }: ReplicationRule) =>
        enabled &&
        one.key.startsWith(filter.prefix ?? "") &&
        (filter.tags ?? []).every(({ key, value }) => one.tags?.some((t) => t.key === key && t.value === value) === true);
      const expected = new Map<string, number>();
      for (const each of rules.filter(about))
        expected.set(
          destinationKey(each.destination),
          Math.max(each.priority ?? 0, expected.get(destinationKey(each.destination)) ?? 0),
        );
      if (one.replica === true || one.encryption !== undefined) expected.clear();
      for (const each of found) {
        expect(about(each)).toBe(true);
        expect(each.priority).toBe(expected.get(destinationKey(each.destination)));
        expect(one.delete_marker !== true || each.deleteMarkers).toBe(true);
        expect(expected.delete(destinationKey(each.destination))).toBe(true);
      }
      if (one.delete_marker !== true) expect(expected.size).toBe(0);
    }),
  );
});

test("a version says FAILED when one destination does not take it, or what is said of it, PENDING while one has it not, COMPLETED when all have", () => {
  const state = fc.constantFrom<ReplicationState>("PENDING", "COMPLETED", "FAILED", "UNDESCRIBED");
  fc.assert(
    fc.property(fc.dictionary(name, state), fc.boolean(), (replication, replica) => {
      const states = new Set(Object.values(replication));
      const expected = replica
        ? "REPLICA"
        : states.has("FAILED") || states.has("UNDESCRIBED")
          ? "FAILED"
          : states.has("PENDING")
            ? "PENDING"
            : states.has("COMPLETED")
              ? "COMPLETED"
              : undefined;
      expect(replicationStatus({ replication, replica })).toBe(expected);
    }),
  );
});

test("what is neither taken nor refused is sent again, later each time, and within a minute", () => {
  expect(afterSending("taken", 9)).toEqual({ state: "COMPLETED" });
  expect(afterSending("refused", 0)).toEqual({ state: "FAILED" });
  expect(afterSending("denied", 8)).toEqual({ state: "PENDING", waits: "key", waitsMs: 60_000 });
  expect(afterSending("denied", 9)).toEqual({ state: "FAILED" });
  for (const outcome of replicationOutcomes)
    fc.assert(
      fc.property(fc.nat(50), (failures) => {
        const [sent, described] = [afterSending(outcome, failures), afterSending(outcome, failures, true)];
        // What is there stays there, whatever becomes of what is said of it.
        expect(described.state).toBe(sent.state === "FAILED" ? "UNDESCRIBED" : sent.state);
        if (outcome === "full" || outcome === "withheld" || outcome === "unreached") expect(sent.state).toBe("PENDING");
      }),
    );
  const waits = (outcome: "unreached" | "withheld" | "full") =>
    Array.from({ length: 9 }, (_, failures) => {
      const after = afterSending(outcome, failures);
      return after.state === "PENDING" ? after.waitsMs : 0;
    });
  for (const outcome of ["unreached", "withheld", "full"] as const)
    expect(waits(outcome)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

test("a bucket without room for some is sent all smaller ones meanwhile and every one of them again, one that is too large keeps none that fits, and few are sent in vain", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { minLength: 1, maxLength: 40 }), fc.nat(20), (sizes, free) => {
      let room: NoRoom | undefined;
      let now = 0;
      let waiting = sizes;
      const fits = new Set(sizes.filter((size) => size <= free));
      for (let turn = 0; turn < 30 && waiting.some((size) => fits.has(size)); turn++) {
        let vain = 0;
        const left: number[] = [];
        for (const size of waiting) {
          const until = waitsForRoom(room, size, now);
          expect(until === undefined || until > now).toBe(true);
          if (until === undefined && size <= free) {
            if (room !== undefined && size >= room.size) room = undefined;
            continue;
          }
          left.push(size);
          if (until !== undefined) {
            expect(size).toBeGreaterThanOrEqual(room?.size ?? Number.POSITIVE_INFINITY);
            continue;
          }
          vain += 1;
          room = roomAfter(room, size, now);
          expect(room.until - now).toBeLessThanOrEqual(60_000);
        }
        expect(vain).toBeLessThanOrEqual(new Set(waiting).size);
        waiting = left;
        now = room?.until ?? now;
      }
      expect(waiting.filter((size) => fits.has(size))).toEqual([]);
    }),
  );
});

/** A version in a model of a cluster: what is known of it, and what waits to be copied of it. */
interface Version {
  readonly version: string;
  readonly ordinal: number;
  readonly key: string;
  readonly marker: boolean;
  readonly replica: boolean;
  state?: ReplicationState;
  /** How often its sending was denied. */
  denials: number;
}

/** A bucket by the laws above, which copies to another one. Its memory is what a crash leaves of it. */
class Site {
  readonly versions = new Map<string, Version>();
  readonly current = new Map<string, Version>();
  /** Written down with the versions. */
  waiting: Version[] = [];
  /** What was taken here, in the order in which it came. */
  readonly heard: string[] = [];
  readonly rules: readonly ReplicationRule[];
  /** Whoever copies here may not write this key now. */
  denied = new Set<string>();
  now = 0;
  constructor(rules: readonly ReplicationRule[]) {
    this.rules = rules;
  }
  write(key: string, marker: boolean, random: string): void {
    const ordinal = Math.max(this.now, (this.current.get(key)?.ordinal ?? -1) + 1);
    const version = `${ordinal.toString(16).padStart(12, "0")}${random}`;
    const made: Version = { version, ordinal, key, marker, replica: false, denials: 0 };
    if (rulesCovering(this.rules, { key, delete_marker: marker }).length > 0) {
      made.state = "PENDING";
      this.waiting.push(made);
    }
    this.versions.set(version, made);
    this.current.set(key, made);
  }
  take({ state: _, ...sent }: Version): "taken" | "refused" | "denied" {
    if (sent.key === "refused") return "refused";
    if (this.denied.has(sent.key)) return "denied";
    if (this.versions.has(sent.version)) return "taken";
    const made = { ...sent, replica: true };
    expect(rulesCovering(this.rules, { key: sent.key, delete_marker: sent.marker, replica: true })).toEqual([]);
    if (placeOfReplica(this.current.get(sent.key), made) === "current") this.current.set(sent.key, made);
    this.versions.set(sent.version, made);
    this.heard.push(`${sent.key} ${sent.version}`);
    return "taken";
  }
  /** Sends what waits; `fate`: what becomes of each sending, on its way or before the answer is written down. */
  copy(other: Site, fate: () => "arrives" | "lost" | "answer lost" | "crash"): void {
    for (const lane of lanesOf(this.waiting)) {
      for (const one of lane) {
        const end = fate();
        const outcome = end === "lost" ? "unreached" : other.take(one);
        if (end === "crash") return;
        const heard = end === "answer lost" ? "unreached" : outcome;
        const after = afterSending(heard, heard === "denied" ? one.denials : 0);
        if (heard === "denied") one.denials++;
        if (after.state === "PENDING") break;
        one.state = after.state;
        this.waiting = this.waiting.filter((waiting) => waiting !== one);
      }
    }
  }
}

test("histories of writes, copies, lost answers, denials and crashes end in the same versions here and there, in their order, and copy no copy", () => {
  const everything = (deleteMarkers: boolean): ReplicationRule[] => [
    { id: "r", enabled: true, form: "filter", filter: {}, priority: 1, destination: { name: "n", bucket: "bbb" }, deleteMarkers },
  ];
  const step = fc.record({
    at: fc.constantFrom(0 as const, 1 as const),
    act: fc.constantFrom("put", "put", "delete", "copy", "copy", "wait", "deny", "allow"),
    key: fc.constantFrom("a", "b", "denied", "refused"),
    random: fc.stringMatching(/^[0-9a-f]{20}$/),
    fates: fc.array(fc.constantFrom("arrives" as const, "lost" as const, "answer lost" as const, "crash" as const), {
      maxLength: 4,
    }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), fc.boolean(), (steps, both, markers) => {
      const sites = [new Site(everything(markers)), new Site(both ? everything(markers) : [])] as const;
      const [east, west] = sites;
      for (const { at, act, key, random, fates } of steps) {
        const [site, other] = at === 0 || !both ? [east, west] : [west, east];
        if (act === "put" || act === "delete") site.write(key, act === "delete", random);
        else if (act === "copy") {
          const arrives = fates.length === 0;
          site.copy(other, () => fates.pop() ?? "arrives");
          // What is denied holds up its own key alone.
          if (arrives) for (const waiting of site.waiting) expect(other.denied).toContain(waiting.key);
        } else if (act === "deny") other.denied.add(key);
        else if (act === "allow") other.denied.delete(key);
        else site.now += 1;
      }
      // One key stays denied; others are allowed in the end.
      for (const site of sites) site.denied = new Set(["denied"]);
      // Of each version that is denied ten tries are made, one after the other.
      for (const [site, other] of [
        [east, west],
        [west, east],
      ] as const)
        for (let tries = 0; tries < 10 * 60 && (tries === 0 || site.waiting.length > 0); tries++)
          site.copy(other, () => "arrives");
      for (const [site, other] of [
        [east, west],
        [west, east],
      ] as const) {
        expect(site.waiting).toEqual([]);
        for (const one of site.versions.values()) {
          const covered = site.rules.length > 0 && !one.replica && (markers || !one.marker);
          const failed = one.key === "refused" || one.denials === 10;
          expect(one.state).toBe(covered ? (failed ? "FAILED" : "COMPLETED") : undefined);
          expect(one.denials).toBeLessThanOrEqual(10);
          // An answer may have been lost on the way of what is denied since.
          if (covered && one.denials === 0) expect(other.versions.has(one.version)).toBe(!failed);
          if (one.state === "COMPLETED") expect(other.versions.has(one.version)).toBe(true);
        }
        // Of one key they came in their order, and each once.
        for (const key of ["a", "b", "denied"]) {
          const came = site.heard.filter((text) => text.startsWith(`${key} `));
          expect(came).toEqual([...new Set(came)].sort());
        }
      }
      if (markers && both)
        for (const key of ["a", "b"])
          if ([east, west].every((site) => [...site.versions.values()].every((one) => one.key !== key || one.state !== "FAILED")))
            expect(east.current.get(key)?.version).toBe(west.current.get(key)?.version);
    }),
    { numRuns: 500 },
  );
});
