import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { sourceOptions } from "../source-options.ts";

test("threads that load a file for the first time at once all get it", async () => {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-source-"));
  try {
    await writeFile(join(dir, "package.json"), '{"type":"module"}');
    // Nobody has seen their content: nothing is kept of them.
    const names = Array.from({ length: 30 }, (_, i) => `part${i}.ts`);
    for (const name of names) await writeFile(join(dir, name), `export const text = ${JSON.stringify(dir + name)} as string;\n`);
    const file = join(dir, "thread.ts");
    const loads = names.map((name) => `(await import("./${name}")).text`);
    await writeFile(file, `import { parentPort } from "node:worker_threads";\nparentPort?.postMessage([${loads.join()}]);\n`);
    const said = Array.from({ length: 8 }, async () => {
      const thread = new Worker(file, { execArgv: [...sourceOptions] });
      try {
        return await new Promise((resolve, reject) => thread.once("message", resolve).once("error", reject));
      } finally {
        await thread.terminate();
      }
    });
    expect(await Promise.all(said)).toEqual(Array(8).fill(names.map((name) => dir + name)));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
