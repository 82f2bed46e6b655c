/**
 * Takes the types out of TypeScript as it is loaded. Imports name their files as they are, so Node finds each by itself. What became of a
 * file is kept by its content: a command of ours loads a thousand files, and the tests start hundreds of processes and threads.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const kept = new URL("../node_modules/.cache/seneschal-source/", import.meta.url);
const options = { loader: "ts", format: "esm", target: "node20", sourcemap: "inline", sourcesContent: false };

export async function load(url, context, next) {
  // A test file comes with a query of its runner.
  const [file] = url.split("?", 1);
  if (!file.startsWith("file:") || !file.endsWith(".ts")) return next(url, context);
  const text = await readFile(new URL(file));
  const name = new URL(createHash("sha256").update(JSON.stringify(options)).update(file).update(text).digest("hex"), kept);
  const source = await readFile(name, "utf8").catch(() => transform(file, text, name));
  return { format: "module", source, shortCircuit: true };
}

async function transform(url, text, name) {
  const esbuild = await import("esbuild");
  const { code } = await esbuild.transform(text, { ...options, sourcefile: fileURLToPath(url) });
  await mkdir(kept, { recursive: true });
  // Others may read it while it is written, or write it too.
  const draft = new URL(`${name.href}.${randomUUID()}`);
  await writeFile(draft, code);
  await rename(draft, name);
  return code;
}
