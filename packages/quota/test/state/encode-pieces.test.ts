import fc from "fast-check";
import { expect, test } from "vitest";
import { apply } from "../../src/apply/apply.ts";
import { anyHistory, type Step } from "../../src/arbitraries/index.ts";
import { encodePieces, encodeState } from "../../src/state/encoding.ts";
import { emptyState } from "../../src/state/state.ts";
import { runs } from "../runs.ts";

const size = fc.constantFrom(1, 7, 100, 1000, 100_000);

test("the pieces of a state are its encoding, whatever is applied between them", () => {
  fc.assert(
    fc.property(anyHistory(80), fc.nat(60), size, (history, cut, size) => {
      let state = emptyState();
      const go = ({ command, at }: Step): void => {
        const outcome = apply(state, command, at);
        if (outcome.ok) state = outcome.state;
      };
      for (const step of history.slice(0, cut)) go(step);
      const whole = encodeState(state);
      const rest = history.slice(cut);
      const pieces: Uint8Array[] = [];
      for (const piece of encodePieces(state, size)) {
        pieces.push(piece);
        const next = rest.shift();
        if (next !== undefined) go(next);
      }
      expect(Buffer.compare(Buffer.concat(pieces), whole)).toBe(0);
      expect(pieces.slice(0, -1).every(({ length }) => length >= size)).toBe(true);
    }),
    runs(100),
  );
});
