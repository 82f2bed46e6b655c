/** Classification in a pipeline: a file column by column while it streams, and texts in batches on threads of their own. */
import { Readable } from "node:stream";
import { openClassifierThreads } from "@seneschal/adapters/classifier-threads";
import { classifyFile } from "@seneschal/adapters/classify-files";
import { DEFAULT_TIER_POLICY } from "@seneschal/governance";

// A stream of text: createReadStream("people.csv", "utf8") of node:fs, a response's body, the output of a query.
const rows = Readable.from(["city,contact\n", "Bern,ada@example.org\nOslo,grace@", "example.org\nRome,alan@example.org\n"]);
const report = await classifyFile(rows, { format: "csv" });
for (const { column, tier, tags } of report.columns) console.log(`${column.padEnd(8)} ${tier.padEnd(12)} ${tags.join(",")}`);

const threads = openClassifierThreads({ threads: 2 }, { policy: DEFAULT_TIER_POLICY, recognisers: [], sql: false });
const texts = ["what is the weather", "my ssn is 536-22-8726", "write to ada@example.org"];
const answers = await Promise.all(texts.map((query) => threads.answer({ query, context: {} }, "nightly job")));
const tiers = answers.map((answer) => ("result" in answer ? answer.result.tier : "unreadable"));
console.log(tiers.join(" "));
await threads.close();

if (report.columns.find(({ column }) => column === "contact")?.tier === "PUBLIC") throw new Error("addresses are personal data");
if (tiers[0] !== "PUBLIC" || tiers[1] === "PUBLIC") throw new Error("the number should be found");
