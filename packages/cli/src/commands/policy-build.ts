import { resolve } from "node:path";
import { CodedError, utf8Encode } from "@seneschal/kernel";
import { compileToJavaScript } from "@seneschal/rego/bundle";
import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { replaceFile } from "../durable-file.ts";
import { loaded } from "../policy/policy-files.ts";
import { collect, type DataOptions, policyOf, withData } from "../policy/policy-set.ts";

interface BuildOptions extends DataOptions {
  readonly entrypoint?: readonly string[];
  readonly output: string;
}

/** `policy build`: a policy compiled ahead to a JavaScript module. */
export function addBuild(policy: Command, { host, result }: CommandContext): void {
  withData(policy.command("build").description("compile ahead to a JavaScript module, which needs no compiler to evaluate"))
    .argument("[paths...]", ".rego files or directories")
    .option("-e, --entrypoint <path>", "a document that it answers for, such as data.authz.allow; may be repeated", collect)
    .option("-o, --output <file>", "the module", "policy.js")
    .action(async (paths: string[], options: BuildOptions) => {
      const { entrypoint: entrypoints = [], output } = options;
      if (entrypoints.length === 0)
        throw new CodedError("usage", "--entrypoint is missing: name a document, such as data.authz.allow");
      const { sources, data, bundles, options: how } = await policyOf(host, paths, options);
      const given = Object.keys(data).length === 0 ? {} : { data };
      const text = loaded(() => compileToJavaScript(sources, { ...how, ...given, entrypoints, bundles }));
      const bytes = utf8Encode(text);
      await replaceFile(resolve(host.cwd, output), output, bytes, 0o644);
      result(
        { file: output, bytes: bytes.length, entrypoints },
        `${output}: ${bytes.length} bytes for ${entrypoints.join(", ")}`,
      );
    });
}
