/** Classify texts, and let a tier flow along lineage. */
import { createClassifier, LineageGraph } from "@seneschal/governance";

const classifier = createClassifier();
for (const text of ["what is the weather", "all customer emails", "my ssn is 536-22-8726"]) {
  const { tier, confidence, tags } = classifier.classify(text);
  console.log(`${tier.padEnd(12)} ${confidence.toFixed(2)}  ${tags.join(",").padEnd(16)} ${text.length} characters`);
}
const secret = classifier.classify("my ssn is 536-22-8726");
if (!secret.tags.includes("SSN")) throw new Error("the number should be found");
if (JSON.stringify(secret).includes("8726")) throw new Error("no answer repeats a value");

const graph = new LineageGraph();
graph.declare({ id: "crm.customers", direct: { tier: "CONFIDENTIAL", tags: ["PII"] } }, 0);
graph.setJobLinks("etl", [{ source: "crm.customers", target: "dwh.customers", operation: "ETL", masking: false }], 1);
const effective = graph.effective("dwh.customers");
console.log("dwh.customers inherits", effective?.tier, effective?.tags.join(","));
if (effective?.tier !== "CONFIDENTIAL") throw new Error("the tier should flow downstream");
