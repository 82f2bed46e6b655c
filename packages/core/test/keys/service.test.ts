import fc from "fast-check";
import { expect, test } from "vitest";
import { serviceCredentials } from "../../src/arbitraries/index.ts";
import {
  acceptsServiceAccount,
  milliseconds,
  opens,
  retireCredentials,
  rotateCredentials,
  type ServiceIdentity,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const day = 86_400_000;
const service: ServiceIdentity = {
  id: "s1",
  org_id: "acme",
  name: "billing",
  description: "",
  auth_method: "cert",
  active: true,
  last_auth_at: null,
  credentials: [],
  created_at: new Date(0).toISOString(),
  updated_at: new Date(0).toISOString(),
};

test("after any rotations one credential is in force, those before it for the overlap at most, and every certificate that went is revoked once", () => {
  const history = fc.array(fc.tuple(serviceCredentials(now), fc.nat(3 * day), fc.nat(2 * day)), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(history, (rotations) => {
      let current = service;
      let at = now;
      const revoked: string[] = [];
      const made: string[] = [];
      for (const [fresh, wait, overlap] of rotations) {
        at += wait;
        const unique = fresh.kind === "certificate" ? { ...fresh, serial_number: String(made.length) } : fresh;
        if (unique.kind === "certificate") made.push(unique.serial_number);
        const step = rotateCredentials(current, { ...unique, valid_until: null }, overlap, at);
        const [newest, ...before] = step.service.credentials;
        expect(newest?.valid_until).toBeNull();
        for (const { valid_until } of before) {
          expect(valid_until).not.toBeNull();
          expect(milliseconds(valid_until ?? "")).toBeGreaterThan(at);
        }
        for (const old of current.credentials.filter(({ valid_until }) => valid_until === null))
          if (overlap > 0) expect(step.service.credentials).toContainEqual({ ...old, valid_until: step.previous_valid_until });
        revoked.push(...step.revoked);
        current = step.service;
      }
      const end = retireCredentials(current, at + 5 * day);
      revoked.push(...end.revoked);
      expect(end.service.credentials.length).toBe(1);
      const left = end.service.credentials.flatMap((one) => (one.kind === "certificate" ? [one.serial_number] : []));
      expect([...revoked, ...left].sort()).toEqual([...made].sort());
    }),
  );
});

test("a token of the orchestrator counts from the whole second on in which a credential began, while that one holds and the service is active", () => {
  fc.assert(
    fc.property(
      fc.array(serviceCredentials(now), { maxLength: 4 }),
      fc.boolean(),
      fc.integer({ min: -5, max: 5 }).map((seconds) => now + seconds * 1000),
      (credentials, active, issuedAt) => {
        const fits = credentials.some(
          (one) =>
            one.kind === "service_account" &&
            (one.valid_until === null || milliseconds(one.valid_until) > now) &&
            Math.floor(milliseconds(one.issued_from) / 1000) <= issuedAt / 1000,
        );
        expect(acceptsServiceAccount({ ...service, active, credentials }, issuedAt, now)).toBe(active && fits);
      },
    ),
  );
});

test("a permission opens the actions that it names, and more permissions never open less", () => {
  const word = fc.constantFrom("*", "workspace", "audit", "read", "create");
  const permission = fc.record({ resource: word, action: word });
  fc.assert(
    fc.property(fc.array(permission, { maxLength: 3 }), permission, word, word, (some, more, resource, verb) => {
      const action = `${resource}:${verb}`;
      const named = some.some((one) => ["*", resource].includes(one.resource) && ["*", verb].includes(one.action));
      expect(opens(some, action)).toBe(named);
      expect(opens([...some, more], action) || !opens(some, action)).toBe(true);
      expect(opens([{ resource: "*", action: "*" }], action)).toBe(true);
    }),
  );
});
