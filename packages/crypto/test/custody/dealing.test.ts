import type { CommitmentAct, StartAct } from "@seneschal/crypto/custody";
import { expect, test } from "vitest";
import { acceptsCommitment } from "../../src/custody/dealing.ts";
import { begun, refreshOf } from "./rig.ts";

/** The start of a refresh and the commitment of its first seat. */
function refreshing(total: number, threshold: number): { readonly start: StartAct; readonly act: CommitmentAct } {
  const { start, shares } = refreshOf(total, threshold);
  const { entries } = begun(start, shares).step(1);
  return { start, act: entries.find(({ act }) => act.type === "commitment")!.act as CommitmentAct };
}

test("a commitment to a refresh is judged by the threshold and its own points: each costs the same, however many seats there are", () => {
  const { start, act } = refreshing(4, 3);
  if (start.kind !== "refresh") throw new Error("a refresh was asked for");
  const asked = new Set<string | symbol>();
  const crk = new Proxy(start.crk, {
    get(target, name: string) {
      asked.add(name);
      return target[name];
    },
  });
  expect(acceptsCommitment({ ...start, crk }, 1, act)).toBe(true);
  expect([...asked]).toEqual(["threshold"]);
  for (const commitments of [
    [act.commitments[1]!, ...act.commitments.slice(1)],
    [...act.commitments.slice(0, 2), act.commitments[0]!],
    act.commitments.slice(1),
    act.commitments.slice(0, 2),
    [...act.commitments, act.commitments[1]!],
  ]) {
    expect(acceptsCommitment(start, 1, { ...act, commitments })).toBe(false);
  }
});
