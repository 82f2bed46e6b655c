import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

const page = fileURLToPath(new URL("../../../docs/governance.md", import.meta.url));

it("by the commands of docs/governance.md a service has its first key, and its catalogue a first resource", async () => {
  const root = await mkdtemp(join(tmpdir(), "seneschal-first-resource-"));
  const section = (await readFile(page, "utf8")).split("## The first key and the first resource")[1]?.split("\n## ")[0] ?? "";
  const blocks = [...section.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, language = "", body = ""]) => ({ language, body }));
  let url = "";
  let end = (): void => {};
  let served: Promise<number> | undefined;
  const answers: Record<string, unknown>[] = [];
  const type = async (line: string): Promise<void> => {
    const [, ...args] = line.replace("http://127.0.0.1:8444", url).split(" ");
    if (args[0] === "serve") {
      const host = scriptedHost({ cwd: root, interrupted: new Promise((resolve) => (end = resolve)) });
      const listening = new Promise<string>((resolve) => {
        Object.assign(host, { out: (text: string) => text.includes('"services"') && resolve(text) });
      });
      const here = [
        `data_dir=${join(root, "data")}`,
        "governance.server.port=0",
        "governance.classification.threads=0",
        "log.level=silent",
      ];
      served = run([...args, "--set", ...here], host);
      const text = await Promise.race([
        listening,
        served.then((code) => Promise.reject(new Error(`${code}: ${host.lines.join()}`))),
      ]);
      url = JSON.parse(text).services[0].url;
      return;
    }
    const host = scriptedHost({ cwd: root });
    const code = await run([...args, "--json"], host);
    expect([line, code, code === 0 ? "" : host.lines.join() + host.errors.join()]).toEqual([line, 0, ""]);
    if (args[0] === "governance") answers.push(host.json());
  };
  try {
    for (const { language, body } of blocks) {
      if (language === "sh") execFileSync("sh", ["-ec", body], { cwd: root });
      else if (language === "json") await writeFile(join(root, "users.json"), body);
      else for (const line of body.trim().split("\n")) await type(line);
    }
    expect(answers).toMatchObject([
      { api_key: expect.stringMatching(/^sgk_/), scopes: ["resources:write", "lineage:read"] },
      { resource_id: "crm.users" },
      { classification: { tier: "CONFIDENTIAL", tags: ["CRM", "PII"] }, columns: { email: { type: "text" } }, owners: ["ada"] },
    ]);
  } finally {
    end();
    await served;
    await rm(root, { recursive: true, force: true });
  }
});
