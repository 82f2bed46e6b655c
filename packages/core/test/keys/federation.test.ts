import { isCoded } from "@seneschal/kernel";
import { describe, expect, it } from "vitest";
import { establishFederation, stepFederation } from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const signed = (serial_number: string) => ({
  certificate: `PEM ${serial_number}`,
  serial_number,
  expires_at: "2027-01-02T00:00:00.000Z",
});
const theirs = { kind: "import", certificate: "PEM ours", expires_at: "2027-01-02T00:00:00.000Z" } as const;
const partner = { id: "f", org: "acme", partner_org_id: "globex", partner_url: "https://globex.example", partner_cert: "CA" };

describe("federation", () => {
  it("is active at once with the partner's CSR, else pending until a certificate is imported", () => {
    const active = establishFederation({ ...partner, signed: signed("01") }, now);
    expect(active).toMatchObject({
      status: "active",
      serial_number: "01",
      outbound_ready: false,
      established_at: active.created_at,
    });
    const pending = establishFederation(partner, now);
    expect(pending).toMatchObject({ status: "pending", established_at: null });
    expect(stepFederation(pending, theirs, now + 1).state).toMatchObject({ status: "active", outbound_ready: true });
  });

  it("renewal revokes the certificate it replaces, and is for active federations only", () => {
    const active = establishFederation({ ...partner, signed: signed("01") }, now);
    const renewed = stepFederation(active, { kind: "renew", signed: signed("02") }, now + 1);
    expect(renewed.state.serial_number).toBe("02");
    expect(renewed.effects).toEqual([{ kind: "revoke_certificate", serial: "01" }]);
    const pending = establishFederation(partner, now);
    expect(() => stepFederation(pending, { kind: "renew", signed: signed("02") }, now)).toThrow(/pending/);
  });

  it("revocation takes the certificate and the workspaces, and is the end", () => {
    const revoked = stepFederation(establishFederation({ ...partner, signed: signed("01") }, now), { kind: "revoke" }, now + 1);
    expect(revoked.state).toMatchObject({ status: "revoked", outbound_ready: false });
    expect(revoked.effects).toEqual([{ kind: "revoke_certificate", serial: "01" }, { kind: "leave_workspaces" }]);
    for (const input of [
      theirs,
      { kind: "revoke" },
      { kind: "renew", signed: signed("03") },
      { kind: "sign", signed: signed("03") },
    ] as const) {
      const refused = () => stepFederation(revoked.state, input, now + 2);
      expect(refused).toThrow();
      try {
        refused();
      } catch (error) {
        expect(isCoded(error, "STATE_CONFLICT")).toBe(true);
      }
    }
  });
});
