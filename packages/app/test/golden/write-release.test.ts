import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { messagesOfToday } from "./messages.ts";
import { writeGateway } from "./write-gateway.ts";
import { writeGovernance } from "./write-governance.ts";
import { writeScheduler } from "./write-scheduler.ts";
import { writeStorage } from "./write-storage.ts";

const folder = new URL(".", import.meta.url).pathname;
const release = process.env["GOLDEN_RELEASE"];

// `npm run golden`, before a release: what `npm test` wrote and read as `today` stays under the release's number.
it.runIf(release !== undefined)(
  "the directory of a release is written once, and never again",
  async () => {
    expect(release).toMatch(/^\d+\.\d+$/);
    const directory = join(folder, release ?? "");
    expect(existsSync(directory), `${release} is there: what a release wrote is only read`).toBe(false);
    mkdirSync(directory);
    for (const write of [writeGateway, writeGovernance, writeScheduler, writeStorage]) await write(directory);
    writeFileSync(join(directory, "messages.json"), JSON.stringify(messagesOfToday(), undefined, 1));
  },
  600_000,
);
