import { execFile, spawnSync } from "node:child_process";
import { appendFile, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

const page = fileURLToPath(new URL("../../../docs/operating.md", import.meta.url));
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
const openssl = (args: readonly string[]) => promisify(execFile)("openssl", args);

it.skipIf(!hasOpenssl)(
  "the gateway's server CA comes below a company's by the commands of docs/operating.md, and who trusts the company's root alone is served",
  async () => {
    const text = (await readFile(page, "utf8")).split("## The gateway's CAs below the company's")[1]?.split("\n## ")[0] ?? "";
    const blocks = [...text.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, language, body]) => ({ language, body: body ?? "" }));
    const commands = blocks.filter(({ language }) => language === "").flatMap(({ body }) => body.trim().split("\n"));
    const root = await mkdtemp(join(tmpdir(), "seneschal-company-ca-"));
    const here = (line: string): string => line.replace(/\/(?:etc|root)\/[\w./-]*/g, (path) => `${root}${path}`);
    const config = here("/etc/seneschal/seneschal.yaml");
    const [cert, key, company] = [join(root, "cert.pem"), join(root, "key.pem"), here("/root/company")];
    const cli = async (args: readonly string[], host = scriptedHost({ cwd: root })) => ({ code: await run(args, host), host });
    let end = (): void => {};
    let served: Promise<number> | undefined;
    try {
      await mkdir(dirname(config), { recursive: true });
      await mkdir(company, { recursive: true });
      const gateway = { server: { port: 0, tls_cert: cert, tls_key: key } };
      await writeFile(
        config,
        JSON.stringify({ data_dir: root, services: ["gateway"], auth: { mtls: { enabled: true } }, gateway }),
      );
      const out = here("/root/acme");
      const first = ["--org", "acme", "--email", "ada@acme.example", "--server-name", "localhost", "--out", out, "-c", config];
      expect((await cli(["bootstrap", ...first])).code).toBe(0);
      const named = [
        "-subj",
        "/CN=Company Root",
        "-days",
        "3650",
        "-keyout",
        `${company}/root-key.pem`,
        "-out",
        `${company}/root.pem`,
      ];
      await openssl(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", ...named]);

      expect(commands.map((line) => line.split(" ")[0])).toEqual(["seneschal", "openssl", "cat", "seneschal"]);
      for (const line of commands) {
        const [program, ...args] = here(line).split(" ");
        if (program === "openssl") await openssl(args);
        else if (program === "cat") {
          const [leaf = "", above = "", , chain = ""] = args;
          await copyFile(leaf, chain);
          await appendFile(chain, await readFile(above));
        } else {
          const { code, host } = await cli([...args, "--json"]);
          expect([line, code, code === 0 ? "" : host.lines.join() + host.errors.join()]).toEqual([line, 0, ""]);
          if (args[1] === "set-signed")
            expect(host.json()).toMatchObject({ authority: "servers", root: "CN=Company Root", unfit: [] });
        }
      }

      const host = scriptedHost({ cwd: root, interrupted: new Promise((resolve) => (end = resolve)) });
      const listening = new Promise<string>((resolve) => {
        Object.assign(host, { out: (said: string) => void (said.includes('"services"') && resolve(said)) });
      });
      served = run(["serve", "-c", config, "--set", "log.level=silent"], host);
      const said = await Promise.race([listening, served.then((code) => Promise.reject(new Error(`${code}: ${host.errors}`)))]);
      const url = `https://localhost:${new URL(JSON.parse(said).services[0].url).port}`;
      const identity = ["--cert", join(out, "admin.pem"), "--key", join(out, "admin-key.pem"), "--json"];
      const show = (ca: string) => cli(["org", "show", "--url", url, "--ca", ca, ...identity]);
      // The chain is put behind the port's certificate once it has started, and taken in.
      let told = await show(`${company}/root.pem`);
      for (let n = 0; n < 1200 && told.code !== 0; n++) {
        await wait(50);
        told = await show(`${company}/root.pem`);
      }
      expect([told.code, told.host.errors.at(-1)]).toEqual([0, undefined]);
      expect(told.host.json()).toMatchObject({ organizations: [{ id: "acme" }] });
      expect((await show(join(out, "ca.pem"))).code).toBe(0);
    } finally {
      end();
      await served;
      await rm(root, { recursive: true, force: true });
    }
  },
);
