/** A service below a path of a server of node:http; what is not the service's is the server's own. */
import { once } from "node:events";
import { createServer } from "node:http";
import { buildService } from "@seneschal/app";
import { governanceService } from "@seneschal/app/governance";
import { handler } from "@seneschal/server-node";

const governance = await buildService(governanceService("./data"), { database: { kind: "memory" } });
await governance.start();

const decisions = handler(governance.dispatch, { basePath: "/decisions", unmatched: "next" });
const server = createServer((request, response) => decisions(request, response, () => response.end("the server's own")));
server.listen(0, "127.0.0.1");
await once(server, "listening");

const { port } = server.address() as { port: number };
const health = await fetch(`http://127.0.0.1:${port}/decisions/health`);
console.log("service:", health.status);
console.log("server:", await (await fetch(`http://127.0.0.1:${port}/hello`)).text());

await governance.stop();
server.close();
server.closeAllConnections();
if (health.status !== 200) throw new Error("the service should be healthy");
