/** A service as a function from Request to Response, as Hono, Bun, Deno and the edge take it. */
import { buildService } from "@seneschal/app";
import { governanceService } from "@seneschal/app/governance";
import { fetchHandler } from "@seneschal/server-fetch";

const governance = await buildService(governanceService("./data"), { database: { kind: "memory" } });
await governance.start();

// With Hono: app.all("/decisions/*", ({ req }) => decisions(req.raw)). With Deno: Deno.serve(decisions).
const decisions = fetchHandler(governance.dispatch, { basePath: "/decisions", remoteAddress: "unknown" });
const health = await decisions(new Request("http://localhost/decisions/health"));
console.log(health.status, await health.text());

await governance.stop();
if (health.status !== 200) throw new Error("the service should be healthy");
