/** `npm run openapi -- --service gateway|governance|scheduler|storage`: prints the OpenAPI document of a service. */
import { parseArgs } from "node:util";
import { openapi } from "@seneschal/contract";
import { SERVICE_NAMES, serviceContract } from "./service-contracts.ts";

const { values } = parseArgs({ options: { service: { type: "string" } } });
const service = await serviceContract(values.service ?? "");
if (service === undefined) {
  console.error(`usage: npm run openapi -- --service ${SERVICE_NAMES.join("|")}`);
  process.exit(2);
}
const { contract, ...info } = service;
process.stdout.write(`${JSON.stringify(openapi(contract, { ...info, version: "1.0.0" }), null, 2)}\n`);
