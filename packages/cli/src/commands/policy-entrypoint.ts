import { compile } from "@seneschal/rego/bundle";
import { InvalidArgumentError } from "commander";

/** Where an evaluation starts: what a policy without rules can be asked about. */
export function isEntrypoint(text: string): boolean {
  return compile([]).evaluate(text).kind !== "error";
}

/** An argument that must be one. */
export function entrypointOf(text: string): string {
  if (!isEntrypoint(text)) throw new InvalidArgumentError("expected a place below data, such as data.authz.allow");
  return text;
}
