import { CodedError, checkArgument } from "@seneschal/kernel";

/** What a list's query has, whatever else is in it. */
interface Paged {
  readonly query?: { readonly limit?: unknown; readonly offset?: unknown };
}

/** The items of a list's reply: itself where it is an array, else its one member that is one. */
type ItemOf<Reply> = Reply extends readonly (infer Item)[]
  ? Item
  : { [K in keyof Reply]: Reply[K] extends readonly (infer Item)[] ? Item : never }[keyof Reply];

/**
 * All items of a list, page by page as they are asked for: `query.limit` is the size of a page (the service's own where it is absent), `query.offset`
 * the first item. What is added or removed meanwhile shifts the pages behind it, so that an item may be passed over or come twice. Throws what the calls
 * throw, and `client_protocol` for a reply that is no list.
 *
 * @example
 * ```ts
 * import { client, paginate } from "@seneschal/contract";
 * import { gatewayContract } from "@seneschal/contract/gateway";
 * const fetch = async () => Response.json({ workspaces: [], count: 0, total: 0 }); // that of the platform: a gateway answers this
 * const gateway = client(gatewayContract, { baseUrl: "https://localhost:8443", fetch });
 * const found: string[] = [];
 * for await (const { name } of paginate(gateway.listWorkspaces, { query: { limit: 100 } })) found.push(name);
 * console.log(found.length); // 0
 * ```
 */
export async function* paginate<Input extends Paged | undefined, Reply extends object>(
  list: (input: Input) => Promise<Reply>,
  ...[input]: undefined extends Input ? [input?: Input] : [input: Input]
): AsyncGenerator<ItemOf<Reply>, void, undefined> {
  checkArgument("list", list, "function");
  let offset = Number(input?.query?.offset ?? 0);
  for (;;) {
    const reply = await list({ ...input, query: { ...input?.query, offset } } as Input);
    const items = (Array.isArray(reply) ? reply : Object.values(reply).find(Array.isArray)) as
      | readonly ItemOf<Reply>[]
      | undefined;
    if (items === undefined) throw new CodedError("client_protocol", "the reply is no list");
    yield* items;
    offset += items.length;
    const { total } = reply as { readonly total?: number };
    const limit = Number(input?.query?.limit ?? 1);
    // A list without a total ends with a page that is not full.
    if (items.length === 0 || (total === undefined ? items.length < limit : offset >= total)) return;
  }
}
