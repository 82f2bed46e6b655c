import { readText } from "@seneschal/adapters/files";
import { embeddedPolicyEngine, opaBuild, opaServerPolicyEngine, opaWasmPolicyEngine } from "@seneschal/adapters/policy";
import { checkArgument } from "@seneschal/kernel";
import type { PolicyEngine } from "@seneschal/kernel/ports";
import * as z from "zod";
import { duration } from "./config/duration.ts";
import { file } from "./config/file.ts";

const embedded = z.strictObject({ kind: z.literal("embedded") });
/** An OPA server over REST. */
const opa = z.strictObject({
  kind: z.literal("opa"),
  url: z.url({ protocol: /^https?$/ }),
  /** Its bearer token. */
  token_file: file("text").optional(),
  timeout: duration("1s"),
});
/** `opa build -t wasm`, run by OPA's SDK in the serving thread: for policies of the operator's own. */
const wasm = z.strictObject({ kind: z.literal("wasm"), opa: z.string().min(1).default("opa") });

/** Which engine decides where policies are those of organisations, who write what they like. */
export const policyEngineSetting = z.discriminatedUnion("kind", [embedded, opa]).default({ kind: "embedded" });
/** Which engine decides where policies are the operator's. */
export const operatorPolicyEngineSetting = z.discriminatedUnion("kind", [embedded, opa, wasm]).default({ kind: "embedded" });

/**
 * The engine that a setting chooses. The embedded one compiles first in any case, in its threads and within their deadline: policies that
 * ask for what it does not offer, `http.send` among it, reach no other engine.
 */
export async function openPolicyEngine(
  setting: z.output<typeof operatorPolicyEngineSetting>,
  workers: { readonly threads?: number; readonly deadline?: number } = {},
): Promise<PolicyEngine> {
  checkArgument("setting", setting, "object");
  if (setting.kind === "wasm") return opaWasmPolicyEngine({ build: opaBuild(setting.opa) });
  const own = embeddedPolicyEngine(workers);
  if (setting.kind === "embedded") return own;
  const { url, token_file, timeout } = setting;
  const token = token_file === undefined ? undefined : (await readText(token_file)).trim();
  const server = opaServerPolicyEngine({ url, timeout, before: own, ...(token === undefined ? {} : { token }) });
  return {
    ...server,
    state: () => own.state?.(),
    async close() {
      await server.close();
      await own.close();
    },
  };
}
