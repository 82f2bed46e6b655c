import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

/** A person known to an identity provider. A removed one is kept as a mark, so that its tokens are refused. */
export interface User {
  readonly id: string;
  readonly org_id: string;
  readonly email: string;
  readonly name: string;
  readonly sso_provider: string;
  readonly sso_subject: string;
  /** As the provider named them. */
  readonly groups: readonly string[];
  readonly active: boolean;
  readonly last_login_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What the users with a subject, of whatever provider, are indexed by. */
export function subjectKey(org: string, subject: string): readonly [string, string] {
  return [org, keyText(subject, 600)];
}

export const users = collection<User>("users", {
  by_org: { key: (user) => (user.active ? [user.org_id, user.created_at] : undefined) },
  by_subject: {
    key: (user) => [...subjectKey(user.org_id, user.sso_subject), user.sso_provider],
    unique: "the user is known already",
    revision: 2,
  },
});
