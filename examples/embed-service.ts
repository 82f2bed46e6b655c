/** The gateway in a process of your own: built with everything around it, served, called and stopped. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemRandom } from "@seneschal/adapters/system";
import { buildService, prepareData } from "@seneschal/app";
import { gatewayService } from "@seneschal/app/gateway";
import { serve } from "@seneschal/server-fastify";

const data = await mkdtemp(join(tmpdir(), "gateway-"));
await prepareData(data, systemRandom); // once: the key that unseals the vault, and the name of the instance

const gateway = await buildService(gatewayService(data), { auth: {} });
await gateway.start();
const server = await serve(gateway.dispatch, { port: 0 });

const ready = await fetch(`${server.url}/ready`);
const stranger = await fetch(`${server.url}/api/v1/workspaces`);
console.log("ready:", ready.status, " without a credential:", stranger.status);

await server.close();
await gateway.stop();
await rm(data, { recursive: true });
if (ready.status !== 200 || stranger.status !== 401) throw new Error("the gateway should be ready, and closed to strangers");
