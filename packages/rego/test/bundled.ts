import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";

/** A module in one file, as a bundler makes it for a page, and the files that it is made of. */
export async function bundled(text: string): Promise<{ readonly code: string; readonly files: readonly string[] }> {
  const options = {
    stdin: { contents: text, resolveDir: join(import.meta.dirname, "..") },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    conditions: ["@seneschal/source"],
    write: false,
    metafile: true,
  } satisfies BuildOptions;
  const { outputFiles, metafile } = await build(options);
  const [output] = Object.values(metafile.outputs);
  const files = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return { code: outputFiles[0]?.text ?? "", files: files.map(([name]) => name) };
}
