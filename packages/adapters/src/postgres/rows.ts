import type { JsonObject } from "@seneschal/kernel";
import {
  auditCollection,
  auditDocument,
  auditKeyId,
  type CompiledCollection,
  currentDocument,
  entryKey,
} from "@seneschal/kernel/store";
import type pg from "pg";

/** So many rows are read, indexed and written at once. */
const PAGE = 1000;

/** The table of a collection. */
export function tableOf(namespace: string, coll: string): string {
  return coll === auditCollection ? `${namespace}.audit` : `${namespace}.d_${coll}`;
}

/** The column of an index: values, zero byte, id; null where the document is not in it. */
export function keyBytes(key: string | undefined, id: string): Buffer | null {
  return key === undefined ? null : Buffer.from(entryKey(key, id), "latin1");
}

/** A row, as it is indexed. */
export interface PageRow {
  readonly id: string;
  readonly keyId: string;
  readonly doc: JsonObject;
}

/** The next rows of a table by their ids; `last` is the id of the page's last where there may be more. */
export async function readRows(
  client: pg.ClientBase,
  ns: string,
  collection: CompiledCollection,
  { after = "", where = "true" }: { readonly after?: string | undefined; readonly where?: string },
): Promise<{ readonly page: readonly PageRow[]; readonly last: string | undefined }> {
  const page = await pageOf(client, tableOf(ns, collection.name), collection, { after, where });
  return { page, last: page.length < PAGE ? undefined : page.at(-1)?.id };
}

async function pageOf(
  client: pg.ClientBase,
  table: string,
  collection: CompiledCollection,
  { after, where }: { readonly after: string; readonly where: string },
): Promise<readonly PageRow[]> {
  if (collection.name === auditCollection) {
    const { rows } = await client.query<{ seq: string; stream: string; stream_seq: string; event: JsonObject }>(
      `select seq, stream, stream_seq, event from ${table} where seq > $1 and ${where} order by seq limit ${PAGE}`,
      [after === "" ? 0 : after],
    );
    return rows.map(({ seq, stream, stream_seq, event }) => ({
      id: seq,
      keyId: auditKeyId(Number(seq)),
      doc: auditDocument(Number(seq), stream, Number(stream_seq), event),
    }));
  }
  const { rows } = await client.query<{ id: string; doc: JsonObject }>(
    `select id, doc from ${table} where id > $1 and ${where} order by id limit ${PAGE}`,
    [after],
  );
  return rows.map(({ id, doc }) => ({ id, keyId: id, doc: currentDocument(collection, id, doc) }));
}
