import { requireKey, stepTenant, type Tenant } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tenantCommands } from "../../src/arbitraries/index.ts";

const order = ["active", "shredding", "shredded"] as const;
const codes = ["AlreadyExists", "NotFound", "CryptoShredComplete"];

test("a tenant goes one way: once it is cut off no command gives it a key again, and no key is left behind", () => {
  fc.assert(
    fc.property(fc.array(tenantCommands), (commands) => {
      let tenant: Tenant | undefined;
      for (const [now, command] of commands.entries()) {
        const before = tenant;
        try {
          tenant = stepTenant(before, command, now)?.tenant ?? before;
        } catch (error) {
          expect(isCoded(error, ...codes)).toBe(true);
        }
        if (before === undefined || tenant === undefined) continue;
        expect(order.indexOf(tenant.state)).toBeGreaterThanOrEqual(order.indexOf(before.state));
        expect([tenant.id, tenant.dedup, tenant.created_at]).toEqual([before.id, before.dedup, before.created_at]);
        expect(tenant.kek === "").toBe(tenant.state !== "active");
      }
    }),
  );
});

test("what changes a tenant is in the audit log by a name of its own; a shred that is repeated is not", () => {
  const sealed = { kind: "create", id: "acme", kek: "one", dedup: true } as const;
  const made = stepTenant(undefined, sealed, 7);
  expect(made).toEqual({
    tenant: { id: "acme", state: "active", kek: "one", dedup: true, created_at: 7 },
    action: "tenant.create",
  });
  const rotated = stepTenant(made?.tenant, { kind: "rotate", kek: "two" }, 8);
  expect([rotated?.tenant.kek, rotated?.action]).toEqual(["two", "tenant.rotate_key"]);
  expect(stepTenant(rotated?.tenant, { kind: "confirm_shred" }, 8)).toBeUndefined();
  const cut = stepTenant(rotated?.tenant, { kind: "shred" }, 9);
  expect(cut?.action).toBe("tenant.crypto_shred");
  expect(stepTenant(cut?.tenant, { kind: "shred" }, 9)).toBeUndefined();
  const gone = stepTenant(cut?.tenant, { kind: "confirm_shred" }, 9);
  expect([gone?.tenant.state, gone?.action]).toEqual(["shredded", "tenant.crypto_shred.done"]);
  for (const command of [{ kind: "shred" }, { kind: "confirm_shred" }] as const)
    expect(stepTenant(gone?.tenant, command, 9)).toBeUndefined();
});

test("a tenant is made once, and its key is used and rotated only while it is active", () => {
  const tenant = { id: "acme", state: "active", kek: "one", dedup: true, created_at: 0 } as const;
  expect(() => stepTenant(tenant, { kind: "create", id: "acme", kek: "two", dedup: false }, 0)).toThrow("tenant acme exists");
  expect(() => requireKey(tenant)).not.toThrow();
  for (const state of ["shredding", "shredded"] as const) {
    const cut = { ...tenant, state, kek: "" };
    for (const use of [() => requireKey(cut), () => stepTenant(cut, { kind: "rotate", kek: "two" }, 0)])
      expect(use).toThrow(expect.objectContaining({ code: "CryptoShredComplete", details: { tenant: "acme" } }));
  }
  for (const command of [{ kind: "rotate", kek: "" }, { kind: "shred" }, { kind: "confirm_shred" }] as const)
    expect(() => stepTenant(undefined, command, 0)).toThrow("no such tenant");
});
