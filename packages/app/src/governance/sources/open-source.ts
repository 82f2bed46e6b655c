import { readText } from "@seneschal/adapters/files";
import { type DataSource, openPostgresSource, openS3Source } from "@seneschal/adapters/sources";
import { CodedError, checkArgument } from "@seneschal/kernel";
import type { SourceSettings } from "./settings.ts";

/** Opens a source for one scan. Its secrets are read anew, so that a new one counts at once. Rejects with `source_unavailable` for a file that cannot be read. */
export async function openSource(settings: SourceSettings): Promise<DataSource> {
  const { include, exclude, max_assets: maxAssets, timeout } = settings;
  const scope = { include, exclude, maxAssets, timeout, rows: settings.sample.rows };
  const ca = settings.ca_file === undefined ? {} : { ca: await text("ca_file", settings.ca_file) };
  if (settings.kind === "s3") {
    const { endpoint, region, bucket, prefix, access_key: accessKey, sample } = settings;
    const secretKey = (await text("secret_key_file", settings.secret_key_file)).trim();
    return openS3Source({ ...scope, ...ca, endpoint, region, bucket, prefix, accessKey, secretKey, bytes: sample.bytes });
  }
  const { host, port, database, user, password_file, tls } = settings;
  const password = password_file === undefined ? {} : { password: (await text("password_file", password_file)).trim() };
  return openPostgresSource({ ...scope, ...ca, ...password, host, port, database, user, tls: tls === "verify-full" });
}

/** Whether a source answers whom the settings name, as a scan would ask. Rejects with `source_unavailable`. */
export async function probeSource(settings: SourceSettings): Promise<void> {
  checkArgument("settings", settings, "object");
  const source = await openSource(settings);
  const signal = AbortSignal.timeout(settings.timeout);
  try {
    await source.probe(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CodedError("source_unavailable", `the source cannot be read: no answer within ${settings.timeout} ms`, {}, error);
  } finally {
    await source.close();
  }
}

async function text(setting: string, path: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    throw new CodedError("source_unavailable", `the source cannot be read: its ${setting} cannot`, {}, error);
  }
}
