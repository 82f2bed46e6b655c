/** `npm run openapi -- --service gateway|governance|scheduler|storage`: prints the OpenAPI document of a service. */
import { parseArgs } from "node:util";
import { type Contract, type ErrorTable, openapi } from "@seneschal/contract";

const SERVICES: Readonly<
  Record<string, { readonly title: string; readonly load: () => Promise<Readonly<Record<string, unknown>>> }>
> = {
  gateway: { title: "Seneschal key governance", load: () => import("@seneschal/contract/gateway") },
  governance: { title: "Seneschal data governance", load: () => import("@seneschal/contract/governance") },
  scheduler: { title: "Seneschal scheduler", load: () => import("@seneschal/contract/scheduler") },
  storage: { title: "Seneschal storage node", load: () => import("@seneschal/contract/storage") },
};

const { values } = parseArgs({ options: { service: { type: "string" } } });
const name = values.service ?? "";
const service = Object.hasOwn(SERVICES, name) ? SERVICES[name] : undefined;
if (service === undefined) {
  console.error(`usage: npm run openapi -- --service ${Object.keys(SERVICES).join("|")}`);
  process.exit(2);
}
const exported = await service.load();
const contract = exported[`${name}Contract`] as Contract | undefined;
const errors = exported[`${name}Errors`] as ErrorTable | undefined;
if (contract === undefined || errors === undefined) {
  console.error(`the contract of ${name} is not there yet`);
  process.exit(1);
}
process.stdout.write(`${JSON.stringify(openapi(contract, { title: service.title, version: "1.0.0", errors }), null, 2)}\n`);
