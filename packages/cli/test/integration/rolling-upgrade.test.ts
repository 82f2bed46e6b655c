import { expect, it } from "vitest";
import { postgresBinaries } from "../../../../tools/postgres-cluster.ts";
import { startLoadedGateways } from "./loaded-gateways.ts";

/** A checkout of the release before, with its dependencies installed. */
const before = process.env["RELEASE_BEFORE"];

it.skipIf(postgresBinaries() === undefined || before === undefined)(
  "two gateways of the release before become this release one after the other, under load and on one database: no request is answered but as documented, and nothing acknowledged is lost",
  { timeout: 900_000 },
  async () => {
    const gateways = await startLoadedGateways(before);
    const { again, more } = gateways;
    const here = new URL("../../../..", import.meta.url).pathname;
    try {
      await gateways.load(5000);
      for (let n = 0; n < 5; n++) await more();
      for (const at of [1, 0] as const) {
        await again(at, "SIGTERM", here);
        // The two releases serve side by side, then this one alone.
        for (let n = 0; n < 20; n++) await more();
      }
      const report = await gateways.end();
      console.log(JSON.stringify(report));
      expect(gateways.wrong).toEqual([]);
      await gateways.verify();
    } finally {
      await gateways.destroy();
    }
  },
);
