/** Quotas as a pure state machine, and an hour of work under a hard quota in simulated time. */
import { apply, type Command, emptyState } from "@seneschal/quota";
import { parseTrace, plotText, simulate } from "@seneschal/quota/simulate";

let state = emptyState();
const commands: Command[] = [
  { kind: "tenant.create", id: "c1", by: "root", tenant: "physics", settings: { maxNodes: 2 } },
  { kind: "tenant.update", id: "c2", by: "root", tenant: "physics", settings: { maxNodes: 4 }, why: "new grant" },
];
for (const command of commands) {
  const outcome = apply(state, command, 0);
  if (!outcome.ok) throw new Error(outcome.message);
  state = outcome.state;
}
const physics = state.tenants.get("physics");
if (physics?.maxNodes !== 4) throw new Error("the limit should be 4");

const again = apply(state, commands[1] as Command, 1);
console.log("the same command again is answered, not applied:", again.ok && again.repeat);

const stranger = apply(state, { kind: "tenant.update", id: "c3", by: "root", tenant: "none", settings: { maxNodes: 1 } }, 2);
console.log("an unknown tenant:", stranger.ok ? "changed" : stranger.message);

const hour = simulate(
  parseTrace(`cluster nodes=2
tenant name=physics max_nodes=2
submit at=0 id=a tenant=physics runtime=3600
submit at=60 id=b tenant=physics runtime=1800
submit at=120 id=c tenant=physics runtime=600`),
);
console.log(plotText(hour));
if (hour.jobs.some(({ end }) => end === null)) throw new Error("everything should have run");
