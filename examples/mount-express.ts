/** A service below a path of an Express application, beside the application's own routes. */
import { once } from "node:events";
import { buildService } from "@seneschal/app";
import { governanceService } from "@seneschal/app/governance";
import { middleware } from "@seneschal/server-express";
import express from "express";

const governance = await buildService(governanceService("./data"), { database: { kind: "memory" } });
await governance.start();

const app = express();
app.use("/decisions", middleware(governance.dispatch));
app.get("/hello", (_, response) => void response.send("the application's own"));
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");

const { port } = server.address() as { port: number };
const health = await fetch(`http://127.0.0.1:${port}/decisions/health`);
console.log("service:", health.status);
console.log("application:", await (await fetch(`http://127.0.0.1:${port}/hello`)).text());

await governance.stop();
server.close();
server.closeAllConnections();
if (health.status !== 200) throw new Error("the service should be healthy");
