import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

const page = fileURLToPath(new URL("../../../docs/operating.md", import.meta.url));

/** The section's blocks: the file that it shows, and the commands that it says to type. */
async function section(): Promise<{ readonly yaml: string; readonly commands: readonly string[] }> {
  const text = (await readFile(page, "utf8")).split("## Install and first start")[1]?.split("\n## ")[0] ?? "";
  const blocks = [...text.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, language, body]) => ({ language, body: body ?? "" }));
  const commands = blocks.filter(({ language }) => language === "").flatMap(({ body }) => body.trim().split("\n"));
  return { yaml: blocks.find(({ language }) => language === "yaml")?.body ?? "", commands };
}

it("what bootstrap says to do next names the configuration's file and port and the server's name", async () => {
  const root = await mkdtemp(join(tmpdir(), "seneschal-next-"));
  try {
    const gateway = { server: { port: 0, tls_cert: join(root, "cert.pem"), tls_key: join(root, "key.pem") } };
    await writeFile(join(root, "c.json"), JSON.stringify({ data_dir: root, auth: { mtls: { enabled: true } }, gateway }));
    const host = scriptedHost({ cwd: root });
    const args = ["--org", "acme", "--email", "ada@acme.example", "--server-name", "gw.example", "-c", "c.json"];
    expect(await run(["bootstrap", ...args], host)).toBe(0);
    const next = host.lines.join("\n").split("Next:")[1] ?? "";
    expect(next).toMatch(/^ {2}seneschal serve -c c\.json$/m);
    expect(next).toMatch(/^ {2}seneschal org show --url https:\/\/gw\.example:0 /m);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

it("an empty machine comes to a served organisation by the commands of docs/operating.md", async () => {
  const root = await mkdtemp(join(tmpdir(), "seneschal-first-start-"));
  let url = "";
  // The machine's directories are below one of ours, and its port is any that is free.
  const here = (text: string): string =>
    text.replace(/\/(?:etc|var|root)\/[\w./-]*/g, (path) => `${root}${path}`).replaceAll("https://localhost:8443", url);
  const { yaml, commands } = await section();
  const file = here("/etc/seneschal/seneschal.yaml");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, here(yaml));
  let end = (): void => {};
  let served: Promise<number> | undefined;
  try {
    expect(commands.map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      "seneschal init",
      "seneschal bootstrap",
      "seneschal config",
      "seneschal serve",
      "seneschal org",
      "seneschal gateway",
    ]);
    for (const line of commands) {
      const [, ...args] = here(line).split(" ");
      if (args[0] === "serve") {
        const host = scriptedHost({ cwd: root, interrupted: new Promise((resolve) => (end = resolve)) });
        const listening = new Promise<string>((resolve) => {
          const { out } = host;
          Object.assign(host, {
            out: (text: string) => {
              out(text);
              if (text.includes('"services"')) resolve(text);
            },
          });
        });
        served = run([...args, "--set", "gateway.server.port=0", "log.level=silent"], host);
        const text = await Promise.race([listening, served.then((code) => Promise.reject(new Error(`${code}: ${host.errors}`)))]);
        url = `https://localhost:${new URL(JSON.parse(text).services[0].url).port}`;
        continue;
      }
      const host = scriptedHost({ cwd: root });
      const code = await run([...args, "--json"], host);
      expect([line, code, code === 0 ? "" : host.lines.join() + host.errors.join()]).toEqual([line, 0, ""]);
      if (args[0] === "org") expect(host.json()).toMatchObject({ organizations: [{ id: "acme" }] });
      if (args[0] === "gateway") expect(host.json()).toMatchObject({ workspaces: [{ name: "first" }] });
    }
    for (const index of [1, 2, 3]) await access(here(`/root/acme/share-${index}.json`));
  } finally {
    end();
    await served;
    await rm(root, { recursive: true, force: true });
  }
});
