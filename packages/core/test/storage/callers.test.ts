import { adminRolesOf, callerOf, callerSubject, handshakeRefusal, tenantAsked, validityRefusal } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { organizationalUnits } from "../../src/arbitraries/index.ts";

const roles = /^(store-server|store-keyserver|storage-admin|tenant-.+)$/;

test("a certificate with one role is that caller, whatever other units it has; with none or two it is nobody", () => {
  fc.assert(
    fc.property(organizationalUnits, (units) => {
      const own = units.filter((unit) => roles.test(unit));
      const caller = callerOf({ name: "app", units });
      if (own.length !== 1) return void expect(caller).toBeUndefined();
      expect(caller?.id).toBe("app");
      const subject = callerSubject(caller as NonNullable<typeof caller>);
      expect(subject.roles).toHaveLength(1);
      expect(subject.org).toBe(own[0]?.startsWith("tenant-") ? own[0].slice("tenant-".length) : "cluster");
    }),
  );
});

test("nobody is an admin whose certificate does not say so, at either interface", () => {
  fc.assert(
    fc.property(organizationalUnits, (units) => {
      const says = units.includes("storage-admin");
      expect(adminRolesOf(units)).toEqual(says ? ["cluster-admin"] : []);
      const caller = callerOf({ name: "app", units });
      if (caller !== undefined) expect(callerSubject(caller).roles.includes("cluster-admin")).toBe(says);
    }),
  );
});

test("a certificate passes that TLS has verified and whose time it is, and no other", () => {
  const error = fc.constantFrom(undefined, "CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  fc.assert(
    fc.property(fc.boolean(), error, fc.nat(9), fc.nat(9), fc.nat(9), (authorized, problem, notBefore, notAfter, now) => {
      const passes = handshakeRefusal({ authorized, ...(problem !== undefined && { error: problem }) }) === undefined;
      expect(passes).toBe(authorized && problem !== "CERT_HAS_EXPIRED" && problem !== "CERT_NOT_YET_VALID");
      expect(validityRefusal({ notBefore, notAfter }, now) === undefined).toBe(notBefore <= now && now <= notAfter);
    }),
  );
  expect(handshakeRefusal(undefined)).toBe("certificate_missing");
});

test("a tenant that names nobody asks about itself; whoever names one asks about that", () => {
  const tenant = { kind: "tenant", id: "app", tenant: "acme" } as const;
  expect([tenantAsked(tenant, ""), tenantAsked(tenant, "beta")]).toEqual(["acme", "beta"]);
  expect([tenantAsked({ kind: "server", id: "n1" }, ""), tenantAsked({ kind: "server", id: "n1" }, "beta")]).toEqual([
    "",
    "beta",
  ]);
});
