/** A service below a path of a Fastify application, beside the application's own routes. */
import { buildService } from "@seneschal/app";
import { governanceService } from "@seneschal/app/governance";
import { plugin } from "@seneschal/server-fastify";
import fastify from "fastify";

const governance = await buildService(governanceService("./data"), { database: { kind: "memory" } });
await governance.start();

const app = fastify();
await app.register(plugin, { prefix: "/decisions", dispatch: governance.dispatch });
app.get("/hello", () => "the application's own");

const url = await app.listen({ port: 0, host: "127.0.0.1" });
const health = await fetch(`${url}/decisions/health`);
console.log("service:", health.status);
console.log("application:", await (await fetch(`${url}/hello`)).text());

await governance.stop();
await app.close();
if (health.status !== 200) throw new Error("the service should be healthy");
