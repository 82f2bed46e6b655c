import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { entityRecogniserSuite } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe } from "vitest";
import { openHttpRecogniser } from "../../src/recognisers/index.ts";
import { runner } from "../suite-runner.ts";

const python = spawnSync("python3", ["-c", "import http.server"]).status === 0;
if (!python) console.warn("no python3: the recogniser of examples/ is not tried");

const PROGRAM = fileURLToPath(new URL("../../../../examples/recogniser.py", import.meta.url));

describe.skipIf(!python)("the recogniser of examples/", () => {
  let dir = "";
  let child: ChildProcess;
  let url = "";
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "recogniser-"));
    const names = join(dir, "names.txt");
    await writeFile(names, "Zorkblat\nEmerald City\tGPE\n");
    child = spawn("python3", [PROGRAM, "--port", "0", "--names", names], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(createInterface(child.stdout as NodeJS.ReadableStream), "line");
    url = `http://127.0.0.1:${/\d+$/.exec(line as string)?.[0]}`;
  });
  afterAll(async () => {
    if (child.exitCode === null) {
      child.kill();
      await once(child, "exit");
    }
    await rm(dir, { recursive: true, force: true });
  });
  const open = async () =>
    openHttpRecogniser({ url, language: "en", entities: { PERSON: "PERSON", GPE: "LOCATION" }, timeout: 60_000 });

  entityRecogniserSuite(runner, {
    open,
    sample: { text: "from the Emerald City to here", value: "Emerald City", entity: "LOCATION" },
    nothing: "from there to here",
  });
});
