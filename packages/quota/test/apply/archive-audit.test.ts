import { expect, test } from "vitest";
import { auditHash } from "../../src/apply/work.ts";
import { decodeState, encodeState } from "../../src/state/encoding.ts";
import { Scenario } from "../scenario.ts";

test("archived entries leave the state, and the rest continues them: one chain, also behind a snapshot", () => {
  const s = new Scenario().tenant("physics");
  for (let i = 0; i < 5; i++) s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: i } });
  const archived = [...s.state.audit.values()].slice(0, 4);
  s.ok({ kind: "audit.archive", through: 4 });
  s.state = decodeState(encodeState(s.state));
  s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 9 } });
  expect([...s.state.audit.values()].map(({ seq }) => seq)).toEqual([5, 6, 7]);
  let head = "";
  for (const { hash, ...entry } of [...archived, ...s.state.audit.values()]) {
    head = auditHash(head, entry);
    expect(head).toBe(hash);
  }
  expect(head).toBe(s.state.auditHead);
});

test("the newest entry stays, and nothing is archived twice", () => {
  const s = new Scenario().tenant("physics").tenant("biology");
  for (const through of [2, 3, -1, 0.5, Number.NaN])
    expect(s.refused({ kind: "audit.archive", through })).toMatchObject({
      code: through === -1 ? "stale_state" : "invalid_argument",
    });
  s.ok({ kind: "audit.archive", through: 1 });
  expect(s.refused({ kind: "audit.archive", through: 1 }).code).toBe("stale_state");
});
