import fc from "fast-check";
import { expect, test } from "vitest";
import { Owners } from "../../src/state/owners.ts";
import { runs } from "../runs.ts";

const steps = fc.array(
  fc.record({
    from: fc.nat(4), // which earlier version is changed
    places: fc.uniqueArray(fc.nat(300), { maxLength: 20 }),
    owner: fc.option(fc.constantFrom("a", "b", "c")),
  }),
  { maxLength: 12 },
);

test("owners are a map from places that counts its changes; old versions stay as they were", () => {
  fc.assert(
    fc.property(steps, (history) => {
      const versions = [{ owners: Owners.none, model: new Map<number, { owner: string | null; turns: number }>() }];
      for (const { from, places, owner } of history) {
        const base = versions[Math.max(0, versions.length - 1 - from)]!;
        const model = new Map(base.model);
        for (const place of places) model.set(place, { owner, turns: (model.get(place)?.turns ?? 0) + 1 });
        versions.push({ owners: base.owners.set(places, owner), model });
      }
      const places = Array.from({ length: 301 }, (_, place) => place);
      for (const { owners, model } of versions)
        expect(places.map((place) => [owners.of(place), owners.turns(place)])).toEqual(
          places.map((place) => [model.get(place)?.owner ?? null, model.get(place)?.turns ?? 0]),
        );
    }),
    runs(100),
  );
});
