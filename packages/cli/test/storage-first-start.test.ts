import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { expect, it } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

const page = fileURLToPath(new URL("../../../docs/storage.md", import.meta.url));

it("an empty machine comes to a storage node that keeps objects by the file and the commands of docs/storage.md", async () => {
  const root = await mkdtemp(join(tmpdir(), "seneschal-storage-start-"));
  const text = (await readFile(page, "utf8")).split("\n## One node\n")[1]?.split("\n## ")[0] ?? "";
  const blocks = [...text.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, language, body]) => ({ language, body: body ?? "" }));
  const yaml = blocks.find(({ language }) => language === "yaml")?.body ?? "";
  const commands = blocks.filter(({ language }) => language === "").flatMap(({ body }) => body.trim().split("\n"));
  let url = "";
  const here = (line: string): string =>
    line
      .replace(/(?<![\w.:/])\/(?:etc|var|srv|root)\/[\w./-]*/g, (path) => `${root}${path}`)
      .replaceAll("http://localhost:9090", url);
  const [file, token] = [here("/etc/seneschal/seneschal.yaml"), here("/root/storage-token")];
  for (const path of [file, token]) await mkdir(dirname(path), { recursive: true });
  let end = (): void => {};
  let served: Promise<number> | undefined;
  let endpoint = "";
  let keys = { access_key: "", secret_key: "" };
  try {
    expect(commands.map((line) => line.split(" ").slice(0, 3).join(" "))).toEqual([
      "openssl rand -hex",
      'tr -d "\\n"',
      "seneschal init --data",
      "seneschal config check",
      "seneschal serve -c",
      "seneschal storage create-tenant",
      "seneschal storage create-credential",
      "seneschal storage get-cluster",
    ]);
    for (const line of commands) {
      const [program, ...args] = here(line).split(" ");
      if (program === "openssl") {
        await writeFile(token, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
        continue;
      }
      if (program === "tr") {
        const sum = createHash("sha256")
          .update((await readFile(token, "utf8")).replaceAll("\n", ""))
          .digest("hex");
        // Smaller than the page's disks, which no test has.
        await writeFile(
          file,
          here(yaml)
            .replace(/0{64}/, sum)
            .replaceAll("1000000000000", String(64 << 20)),
          { mode: 0o600 },
        );
        continue;
      }
      if (args[0] === "serve") {
        const host = scriptedHost({ cwd: root, interrupted: new Promise((resolve) => (end = resolve)) });
        const listening = new Promise<string>((resolve) => {
          Object.assign(host, { out: (said: string) => void (said.includes('"services"') && resolve(said)) });
        });
        const free = ["--set", "storage.server.port=0", "storage.s3.port=0", "log.level=silent"];
        served = run([...args, ...free], host);
        const said = await Promise.race([listening, served.then((code) => Promise.reject(new Error(`${code}: ${host.errors}`)))]);
        const [service] = JSON.parse(said).services;
        url = service.url;
        endpoint = service.listeners.s3;
        continue;
      }
      const host = scriptedHost({ cwd: root });
      const code = await run([...args, "--json"], host);
      expect([line, code, code === 0 ? "" : host.lines.join() + host.errors.join()]).toEqual([line, 0, ""]);
      if (args[0] === "config") expect(host.json()).toMatchObject({ findings: [] });
      if (args[1] === "create-credential") keys = host.json() as typeof keys;
      if (args[1] === "get-cluster") {
        const { health, active_alerts } = host.json() as { health: string; active_alerts: { subject: string }[] };
        // How full the machine's own disk is, is none of the page's affair.
        expect([health, active_alerts.filter(({ subject }) => subject !== "system disk")]).toEqual(["healthy", []]);
      }
    }
    const credentials = { accessKeyId: keys.access_key, secretAccessKey: keys.secret_key };
    const s3 = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials });
    const Body = new Uint8Array(100_000).fill(7);
    await s3.send(new CreateBucketCommand({ Bucket: "photos" }));
    await s3.send(new PutObjectCommand({ Bucket: "photos", Key: "k", Body }));
    const got = await s3.send(new GetObjectCommand({ Bucket: "photos", Key: "k" }));
    expect(await got.Body?.transformToByteArray()).toEqual(Body);
    s3.destroy();
  } finally {
    end();
    await served;
    await rm(root, { recursive: true, force: true });
  }
});
