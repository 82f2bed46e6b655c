/** `npm run openapi -- --service gateway|governance|scheduler|storage [--form 3.0]`: prints the OpenAPI document of a service, in 3.1 unless told. */
import { parseArgs } from "node:util";
import { openapi } from "@seneschal/contract";
import { SERVICE_NAMES, serviceContract } from "./service-contracts.ts";

const { values } = parseArgs({ options: { service: { type: "string" }, form: { type: "string", default: "3.1" } } });
const service = await serviceContract(values.service ?? "");
const { form } = values;
if (service === undefined || (form !== "3.1" && form !== "3.0")) {
  console.error(`usage: npm run openapi -- --service ${SERVICE_NAMES.join("|")} [--form 3.1|3.0]`);
  process.exit(2);
}
const { contract, ...info } = service;
process.stdout.write(`${JSON.stringify(openapi(contract, { ...info, form, version: "1.0.0" }), null, 2)}\n`);
