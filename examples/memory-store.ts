/** A document store: what is committed together stands together, and only while what it relied on still holds. */
import { openMemoryStore } from "@seneschal/adapters/memory";

// openLevelStore of @seneschal/adapters/level and openPostgresStore of @seneschal/adapters/postgres are the same port, durable.
const store = openMemoryStore({
  collections: { accounts: { indexes: { by_owner: { key: ({ owner }) => [String(owner)] } } } },
});

const account = { owner: "ada", balance: 10 };
const opened = await store.commit({
  commitId: "c1",
  puts: [{ coll: "accounts", id: "a1", doc: account, ifVersion: 0 }],
  audit: [{ stream: "acme", event: { type: "account_opened", id: "a1" } }],
});
const again = await store.commit({ commitId: "c2", puts: [{ coll: "accounts", id: "a1", doc: account, ifVersion: 0 }] });
const { items } = await store.list("accounts", "by_owner", ["ada"], { limit: 10 });
console.log("opened:", opened.ok, " a second time:", again.ok, " accounts of ada:", items.length);
if (!opened.ok || again.ok || items.length !== 1) throw new Error("one account should have been opened");
await store.close();
