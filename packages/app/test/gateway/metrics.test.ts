import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRig, type Rig } from "./rig.ts";

describe("the gateway's metrics", () => {
  let rig: Rig;
  let text: string;
  beforeAll(async () => {
    rig = await openRig();
    const acme = rig.admin("acme");
    const { body } = await acme("POST", "/api/v1/workspaces", { name: "measured" });
    await acme("POST", `/api/v1/workspaces/${body.id}/encrypt`, { plaintext: "AAAA" });
    rig.clock.set(rig.clock.now() + 60_000);
    text = (await rig.anonymous("GET", "/metrics")).text;
  });
  afterAll(() => rig.close());

  it("count every kind of event from zero, so that the first one is seen to grow", () => {
    for (const type of ["emergency.access", "backup.create", "auth.failure"]) {
      expect(text).toContain(`gateway_audit_events_total{event_type="${type}"} 0`);
    }
  });

  it("are fed by what happens, and carry no ids", () => {
    for (const sample of [
      /^gateway_keys_rotation_age_seconds (6[0-9]|[7-9][0-9])/m,
      /^gateway_vault_connection_up 1$/m,
      /^gateway_vault_operations_total\{operation="encrypt",result="success"\} [1-9]/m,
      /^gateway_audit_write_duration_seconds_count [1-9]/m,
      /^gateway_db_query_duration_seconds_count\{operation="commit"\} [1-9]/m,
      /^gateway_policy_evaluation_duration_seconds_count [1-9]/m,
      /^gateway_federation_connections_active\{status="healthy"\} 0$/m,
      /^gateway_keys_operations_total\{operation="encrypt",result="success"\} 1$/m,
    ]) {
      expect(text).toMatch(sample);
    }
    // Nobody's certificate ends: nothing is said, or an alert would hear 0.
    expect(text).not.toMatch(/^gateway_federation_certificate_expiry_seconds[ {]/m);
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}/);
  });
});
