import { CodedError } from "@seneschal/kernel";
import { compile, currentCapabilities } from "@seneschal/rego/bundle";
import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { capabilitiesOf, type PolicyOptions, sourceSetOf, withPolicy } from "../policy/policy-set.ts";

/** `policy deps`: what a query reads, as `opa deps` tells it. */
export function addDependencies(policy: Command, { host, result }: CommandContext): void {
  withPolicy(policy.command("deps").description("the base documents and the rules that a query depends on"))
    .argument("<query>", "for example data.authz.allow")
    .argument("[paths...]", ".rego files or directories")
    .action(async (query: string, paths: string[], options: PolicyOptions) => {
      const { sources, options: how } = await sourceSetOf(host, paths, options);
      const told = compile(sources, how).dependencies(query);
      const list = (name: string, refs: readonly string[]): readonly string[] => [`${name}:`, ...refs.map((ref) => `  ${ref}`)];
      result(told, [...list("base documents", told.base), ...list("virtual documents", told.virtual)].join("\n"));
    });
}

/** `policy capabilities`: what policies may use here, or by a file. */
export function addCapabilities(policy: Command, { host, result }: CommandContext): void {
  policy
    .command("capabilities")
    .description("the builtins and features that policies may use, in the form of opa capabilities")
    .option("--current", "those of this engine")
    .option("--file <file>", "those of a capabilities file that this engine has")
    .action(async (options: { readonly current?: boolean; readonly file?: string }) => {
      if ((options.current === true) === (options.file !== undefined)) throw new CodedError("usage", "give --current or --file");
      const given = options.file === undefined ? undefined : await capabilitiesOf(host, options.file);
      const document = currentCapabilities(given === undefined ? {} : { capabilities: given });
      result(document, JSON.stringify(document, null, 2));
    });
}
