/** Compile a Rego policy, ask it, and hear why it said no. */
import { check, compile } from "@seneschal/rego";

const source = `package export

default allow := false

allow if {
	input.purpose == "audit"
	input.rows <= data.limit
}
`;
const sources = [{ name: "export.rego", source }];
const context = { data: { limit: 100 } };

const policy = compile(sources);
const ask = (input: object) => policy.evaluate("data.export.allow", input, context);
const allowed = ask({ purpose: "audit", rows: 10 });
const denied = ask({ purpose: "audit", rows: 1000 });
if (allowed.kind !== "defined" || allowed.value !== true) throw new Error("10 rows should be allowed");
if (denied.kind !== "defined" || denied.value !== false) throw new Error("1000 rows should be denied");
console.log("10 rows:", allowed.value, " 1000 rows:", denied.value);

const { rules } = policy.explain("data.export.allow", { purpose: "audit", rows: 1000 }, context);
console.log("why not:", JSON.stringify(rules.find(({ held }) => !held)));

const problems = check([{ name: "typo.rego", source: "package p\n\nallow if inptu.x\n" }]);
if (problems.length === 0) throw new Error("the typo should be found");
for (const { file, row, message } of problems) console.log(`${file}:${row}: ${message}`);
