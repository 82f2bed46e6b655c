import type { ProseSpan } from "./persons.ts";
import { plainOf } from "./words.ts";

/** Who logs in, as sshd (OpenSSH, auth.c), sudo (its manual, on the log), su, cron and PAM (pam_unix) write it. */
const LOGGED =
  /\b(?:(?:Accepted|Failed|Postponed) (?:password|publickey|none|gssapi-with-mic|keyboard-interactive(?:\/pam)?) for (?:invalid user )?|(?:Invalid|invalid|authenticating|Disconnected from) user |[Ss]ession (?:opened|closed) for user |New session \w{1,8} of user |Removed session \w{1,8} of user |sudo(?:\[\d{1,7}\])?: {1,9}|CRON\[\d{1,7}\]: \(|user unknown: |\b(?:r?user|logname|acct)=["']?)([a-z_][\w.-]{1,31})/g;
/** The home of somebody: `/home/anna.k`, `C:\Users\anna`. */
const HOME = /(?:\/home\/|\/Users\/|[A-Z]:\\Users\\)([A-Za-z_][\w.-]{1,31})/g;
/** Users that are nobody: those that systems make, and those that documents write in place of one. */
const NOBODY =
  /^(?:root|admin|administrator|daemon|nobody|ubuntu|debian|centos|fedora|ec2-user|vagrant|pi|postgres|mysql|redis|www|www-data|nginx|apache|git|gitlab-runner|runner|jenkins|docker|node|app|deploy|deployer|build|builder|ci|test|tester|guest|public|shared|default|all|user|username|users|you|yourname|youruser|your-user|me|name|someone|somebody|oracle|ftp|sshd|mail|backup|system|service|svc.*|.*-svc|.*_svc|.*svc|ansible|terraform|prometheus|grafana|elastic.*|kafka|hadoop|spark|airflow|linuxbrew|lib|bin|etc|data|unknown|localadmin|opc|azureuser|cloud-user|operator|support|PAM|uid|gid|tty|pam_unix)$/i;
/** `j.kowalski`, `kowalski_anna`, `@jonas`: letters that a name is made of, in the manner of machines. */
const HANDLE = /(?<![\w@/\\.:-])(@?)([a-z]{1,20})([._])([a-z]{2,24})(?![\w@/\\:(=-]|\.\w)/g;
const MENTION = /(?<![\w@/.])@([A-Za-z]{3,20})(?![\w@/.-]{0,30}[/@]|[\w-]|\.\w)/g;

/** A passenger, as airlines write names (IATA Resolution 722f): family name, stroke, given names, title. */
const PASSENGER =
  /(?<![\p{L}\d/])\p{Lu}{2,30}\/\p{Lu}{2,30}(?: \p{Lu}{2,20}){0,2}? ?(?:MR|MRS|MS|MISS|MSTR|DR|CHD|INF)(?![\p{L}\d/])/gu;

/** Names of users in logs, paths and mentions. `first`, `last`: whether letters are a given or a family name and hardly anything else. */
export function userNamesIn(text: string, first: (name: string) => boolean, last: (name: string) => boolean): ProseSpan[] {
  const found: ProseSpan[] = [];
  const add = (entity: string, rule: string, start: number, name: string): void => {
    found.push({ entity, rule, start, end: start + name.length });
  };
  if (/for |user|sudo|CRON|session|=/.test(text)) {
    for (const match of text.matchAll(LOGGED)) {
      const name = (match[1] ?? "").replace(/\.$/, "");
      if (!NOBODY.test(name)) add("USERNAME", "who logs in", match.index + match[0].length - (match[1] ?? "").length, name);
    }
  }
  if (text.includes("/home/") || text.includes("Users")) {
    for (const { 0: all, 1: given = "", index } of text.matchAll(HOME)) {
      const name = given.replace(/\.$/, "");
      const parts = plainOf(name).split(/[._-]/);
      if (!NOBODY.test(name) && parts.some((part) => part.length > 2 && (first(part) || last(part))))
        add("USERNAME", "home of somebody", index + all.length - given.length, name);
    }
  }
  if (/\p{Lu}\/\p{Lu}/u.test(text)) {
    for (const { 0: name, index } of text.matchAll(PASSENGER)) add("PERSON", "passenger", index, name);
  }
  if (/[a-z][._][a-z]/.test(text)) {
    for (const { 0: all, 1: at = "", 2: a = "", 4: b = "", index } of text.matchAll(HANDLE)) {
      const named =
        a.length === 1
          ? b.length > 4 && last(b) && !first(a)
          : a.length > 2 && b.length > 2 && ((first(a) && last(b)) || (last(a) && first(b)));
      if (named) add("PERSON", "name of a user", index + at.length, all.slice(at.length));
    }
  }
  if (text.includes("@")) {
    for (const { 1: name = "", index } of text.matchAll(MENTION)) {
      if (first(plainOf(name))) add("PERSON", "mentioned", index + 1, name);
    }
  }
  return found;
}
