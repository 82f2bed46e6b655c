/** A Rego policy in front of the routes of an Express application: who is refused is told the reasons that the policy gives. */
import { once } from "node:events";
import { compile } from "@seneschal/rego";
import express, { type RequestHandler } from "express";

const source = `package http

default allow := false

allow if count(reasons) == 0

reasons contains "only officers export" if {
	input.path[0] == "exports"
	input.role != "officer"
}

reasons contains "nobody deletes" if input.method == "DELETE"
`;
const policy = compile([{ name: "http.rego", source }]); // once; throws with file, row and OPA's words for a policy that is wrong

const authorise: RequestHandler = ({ method, path, headers }, response, next) => {
  const input = { method, path: path.split("/").slice(1), role: headers["x-role"] ?? "none" };
  const allow = policy.evaluate("data.http.allow", input);
  if (allow.kind === "defined" && allow.value === true) return next();
  const reasons = policy.evaluate("data.http.reasons", input);
  response.status(403).json({ reasons: reasons.kind === "defined" ? reasons.value : [] });
};

const app = express();
app.use(authorise);
app.get("/exports/2026", (_, response) => void response.send("rows"));
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");

const { port } = server.address() as { port: number };
const ask = (role: string) => fetch(`http://127.0.0.1:${port}/exports/2026`, { headers: { "x-role": role } });
const [analyst, officer] = [await ask("analyst"), await ask("officer")];
console.log("analyst:", analyst.status, await analyst.text(), " officer:", officer.status, await officer.text());
server.close();
server.closeAllConnections();
if (analyst.status !== 403 || officer.status !== 200) throw new Error("only officers export");
