import { stat, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CodedError } from "@seneschal/kernel";
import { type FormatOptions, format, RegoCompileError, type RegoVersion } from "@seneschal/rego/bundle";
import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import { sourcesOf } from "../policy/policy-files.ts";

interface FmtOptions {
  readonly write?: boolean;
  readonly list?: boolean;
  readonly fail?: boolean;
  readonly v0Compatible?: boolean;
  readonly v0V1?: boolean;
  readonly dropV0Imports?: boolean;
}

/** `policy fmt`, with the options of `opa fmt`. */
export function addFmt(policy: Command, { host, result, exit }: CommandContext): void {
  policy
    .command("fmt")
    .description("write sources in the layout of opa fmt; standard input without paths")
    .argument("[paths...]", ".rego files or directories")
    .option("-w, --write", "overwrite the files")
    .option("-l, --list", "name the files that would change")
    .option("--fail", "exit with 1 if a file would change")
    .option("--v0-compatible", "read and write Rego v0")
    .option("--v0-v1", "read Rego v0, write what v0 and v1 read alike")
    .option("--drop-v0-imports", "leave out the imports that v1 does not need")
    .action(async (paths: string[], options: FmtOptions) => {
      if (options.v0Compatible === true && options.v0V1 === true) {
        throw new CodedError("usage", "--v0-compatible and --v0-v1 exclude each other");
      }
      const version: RegoVersion = options.v0Compatible === true || options.v0V1 === true ? "v0" : "v1";
      const to: FormatOptions = { ...(options.v0V1 === true ? { to: "v1" } : {}), dropV0Imports: options.dropV0Imports === true };
      const files = paths.length === 0 ? [{ name: "stdin", source: await host.stdin() }] : await sourcesOf(host, paths);
      const formatted = files.map(({ name, source }) => {
        const { text, problems } = format({ name, source, version }, to);
        if (text === undefined) throw new RegoCompileError(problems);
        return { name, text, changed: text !== source };
      });
      if (options.write === true) {
        for (const { name, text, changed } of formatted)
          if (changed && paths.length > 0) await overwrite(resolve(host.cwd, name), text);
      }
      const changed = formatted.filter((file) => file.changed).map(({ name }) => name);
      const shown = options.list === true || (options.write === true && paths.length > 0);
      result(
        { changed, ...(shown ? {} : { files: formatted.map(({ name, text }) => ({ name, text })) }) },
        shown
          ? changed.join("\n")
          : formatted
              .map(({ text }) => text)
              .join("")
              .replace(/\n$/, ""),
      );
      if (options.fail === true && changed.length > 0) exit(exitCode.no);
    });
}

async function overwrite(path: string, text: string): Promise<void> {
  const { mode } = await stat(path);
  await writeFile(path, text, { mode });
}
