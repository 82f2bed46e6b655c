import type { Caller, Rig } from "./rig.ts";

/** Somebody whom the organisation's records know. */
export interface Registered {
  readonly id: string;
  readonly call: Caller;
}

type Ask = (method: string, path: string, body?: object) => Promise<{ readonly status: number; readonly body: { id: string } }>;

/** Makes the subject of an identity provider's tokens a registered user; `by` may do so. Answers the user's id. */
export async function register(by: Ask, subject: string, email = `${subject}@people.example`): Promise<string> {
  const user = { provider: "idp_a", subject, email, name: subject, groups: [] };
  const made = await by("POST", "/api/v1/identities/users/sso", user);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body.id;
}

/** A registered user and its token, which names these roles. */
export async function registered(
  rig: Pick<Rig, "bearer">,
  by: Caller,
  { org, sub, roles = [] }: { readonly org: string; readonly sub: string; readonly roles?: readonly string[] },
): Promise<Registered> {
  return { id: await register(by, sub), call: rig.bearer({ sub, org, roles }) };
}
