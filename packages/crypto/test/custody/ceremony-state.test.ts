import { CeremonyState } from "@seneschal/crypto/custody";
import { expect, test } from "vitest";
import { begun, startOf } from "./rig.ts";

/** Every view of a ceremony in which the seats spoke in this order, and the state of a client that saw it to its end. */
function seen(order: readonly number[]) {
  const { relay, states, step } = begun(startOf(3, 2));
  for (let round = 0; round < 4; round++) for (const seat of order) for (const entry of step(seat).entries) relay.post(entry);
  return { views: relay.views, state: CeremonyState.fromBytes(states[0]!.after(relay.view).toBytes()) };
}

test("a transcript that is no part of what was seen is a fork, shorter, as long or longer; only a true part is behind", () => {
  const { views, state } = seen([1, 2, 3]);
  const other = seen([2, 1, 3]);
  expect(views).toHaveLength(other.views.length);
  for (const [i, view] of views.entries()) {
    expect(state.compare(view)).toBe(i === views.length - 1 ? "continues" : "behind");
    // The first entry is the start, which both have.
    expect(state.compare(other.views[i]!)).toBe(i === 0 ? "behind" : "forked");
    expect(other.state.after(other.views[i]!).compare(views.at(-1)!)).toBe(i === 0 ? "continues" : "forked");
  }
});
