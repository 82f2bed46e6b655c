import type { JsonObject } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apply, receiptOf } from "../../src/apply/apply.ts";
import { anyCommand, REQUEST } from "../../src/arbitraries/index.ts";
import type { Command, SubmitAllocation } from "../../src/command.ts";
import { decodeState, encodeState } from "../../src/state/encoding.ts";
import { emptyState, type QuotaState } from "../../src/state/state.ts";
import { Scenario } from "../scenario.ts";

const DAY = 24 * 3_600_000;

/** A submission of 3 nodes under a key of the caller's, where 2 are allowed. */
function tooMuch(): { readonly state: QuotaState; readonly ask: SubmitAllocation } {
  const s = new Scenario().tenant("physics", { maxNodes: 2 }).nodes(3);
  const request = { ...REQUEST, nodes: 3, minNodes: 3 };
  return {
    state: s.state,
    ask: { kind: "allocation.submit", id: "key:1", by: "ada", digest: "d", asked: s.at, allocation: "a", request },
  };
}

describe("an answer under an id that a caller chose is the answer", () => {
  test("a refusal is remembered: room that comes later changes nothing for that key", () => {
    const { state, ask } = tooMuch();
    const no = apply(state, ask, state.at);
    expect(no).toMatchObject({ ok: false, code: "quota_exceeded" });
    const raised = apply(
      (no.state ?? state) as QuotaState,
      { kind: "tenant.update", id: "u", by: "root", tenant: "physics", settings: { maxNodes: 9 } },
      state.at + 1,
    );
    if (!raised.ok) throw new Error(raised.message);
    const later = apply(raised.state, ask, state.at + 2);
    expect(later).toEqual({ ...no, state: undefined });
    expect(apply(raised.state, { ...ask, digest: "other" }, state.at + 2)).toMatchObject({ code: "idempotency_mismatch" });
    expect(apply(raised.state, { ...ask, id: "key:2" }, state.at + 2)).toMatchObject({ ok: true });
  });

  test("without a key a refusal leaves the state as it was", () => {
    const { state, ask } = tooMuch();
    const { digest: _, ...plain } = ask;
    expect(apply(state, plain, state.at)).not.toHaveProperty("state");
  });

  test("over any history every key has one answer, also through a snapshot", () => {
    fc.assert(
      fc.property(
        fc.array(anyCommand, { maxLength: 40 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
        (commands, keys) => {
          let state = emptyState();
          const answers = new Map<string, unknown>();
          for (const command of commands) {
            const key = `key:${keys.next().value}`;
            const asked = { by: "root", ...command, id: key, digest: "d" } as Command;
            if (answers.has(key)) state = decodeState(encodeState(state));
            const outcome = apply(state, asked, state.at + 1);
            const next = outcome.state ?? state;
            const answer = outcome.ok
              ? { ok: true, result: outcome.result }
              : { ok: false, code: outcome.code, details: outcome.details };
            if (answers.has(key)) {
              expect(answer).toEqual(answers.get(key));
              expect(next).toBe(state);
            }
            answers.set(key, JSON.parse(JSON.stringify(answer)));
            state = next;
          }
        },
      ),
    );
  });

  test("an answer that is kept changes nothing but what a repeat of its id is told", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (answer, other) => {
        const { state } = tooMuch();
        const keep = { kind: "answer.keep", id: "key:k", by: "root", digest: "d" } as const;
        const out = apply(state, { ...keep, answer: answer as JsonObject }, state.at);
        if (!out.ok) throw new Error(out.message);
        expect([out.result, out.events, receiptOf(out.state, "key:k")]).toEqual([answer, [], { digest: "d", result: answer }]);
        expect({ ...out.state, receipts: state.receipts }).toEqual(state);
        expect(apply(out.state, { ...keep, answer: { other } as JsonObject }, state.at)).toMatchObject({
          repeat: true,
          result: answer,
        });
      }),
    );
  });

  test("what was asked before the oldest answers that are kept is refused, as it may have been answered", () => {
    const { state, ask } = tooMuch();
    let later = state;
    for (let day = 1; day <= 3; day++) {
      const out = apply(
        later,
        { kind: "tenant.create", id: `day ${day}`, by: "root", tenant: `t${day}`, settings: {} },
        state.at + day * DAY,
      );
      if (!out.ok) throw new Error(out.message);
      later = out.state;
    }
    expect(later.receipts.horizon).toBeGreaterThan(ask.asked ?? 0);
    expect(apply(later, ask, later.at)).toMatchObject({ ok: false, code: "request_expired" });
    expect(apply(later, { ...ask, asked: later.at }, later.at)).toMatchObject({ code: "quota_exceeded" });
  });
});
