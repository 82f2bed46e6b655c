import { fromBase64 } from "../../base64.ts";
import type { Recogniser } from "../search/recogniser.ts";
import { isSecretPlaceholder } from "./secret-placeholder.ts";

const secretContext = ["secret", "token", "key", "credential", "password", "api"];

/** `token` and `secret` are words of every day: a value behind them that is made of words and short numbers (`tls-prod-2024`) is a name. */
const NAME =
  /(?:^|[:= "'‘’“])(?:[a-z]+(?:\d{1,4}[a-z]?)?|\d{1,4}[a-z]{0,2})(?:[-_./](?:[a-z]+(?:\d{1,4}[a-z]?)?|\d{1,4}[a-z]{0,2}))*[!?]?$/i;
const OPAQUE = "(?=[A-Za-z0-9_/+.-]{0,256}[A-Za-z])(?=[A-Za-z0-9_/+.-]{0,256}\\d)[A-Za-z0-9_/+.-]{10,256}={0,2}";
/** Between a name and its value: YAML and JSON, shells and properties, Go and Pascal, hashes of PHP and Ruby. */
const ASSIGNED = " ?(?::=|=>|[:=]) ?";
/** What stands in quotes belongs together, whatever it is made of; the closing one is none of it. */
const QUOTED = `"(?:[^"\\\\\\n]|\\\\[^\\n]){4,128}(?=")|'(?:[^'\\\\\\n]|\\\\[^\\n]){4,128}(?=')`;
const WITH_SIGN = `(?=[^\\s"',;&]{0,64}[\\d#$%&*@^!])`;
/** Tokens of pages are no credentials, and what is said about a token is not the token. */
const ABOUT_TOKENS = /\b(?:page|next|continuation|sync|cursor)\b|\b(?:id|name|type|count|version|url|uri|path|ref|hash)$/;

/** Secrets: named tokens of vendors, keys in PEM, JSON web tokens, passwords beside their name or inside an address. */
export const credentials: readonly Recogniser[] = [
  {
    entity: "PRIVATE_KEY",
    patterns: [
      {
        name: "PEM",
        regex:
          /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s\\:,.-]{0,8192}-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?/g,
        score: 0.95,
      },
    ],
    context: [],
    needs: "-----BEGIN",
    prior: 1,
  },
  {
    entity: "JWT",
    patterns: [
      {
        name: "three parts",
        regex: /(?<![\w-])eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{2,4096}\.[A-Za-z0-9_-]{0,1024}/g,
        score: 0.9,
      },
    ],
    context: secretContext,
    needs: "eyJ",
    prior: 1,
  },
  {
    entity: "VENDOR_TOKEN",
    patterns: [
      { name: "AWS access key id", regex: /(?<![\dA-Za-z])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![\dA-Za-z])/g, score: 0.95 },
      { name: "GitHub", regex: /(?<![\w])(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,90})(?![\w])/g, score: 0.95 },
      { name: "GitLab", regex: /(?<![\w])glpat-[A-Za-z0-9_-]{20}(?![\w-])/g, score: 0.95 },
      { name: "Slack", regex: /(?<![\w])xox[abposr]-[A-Za-z0-9-]{10,120}/g, score: 0.95 },
      { name: "Google", regex: /(?<![\w])AIza[A-Za-z0-9_-]{35}(?![\w-])/g, score: 0.95 },
      { name: "Stripe", regex: /(?<![\w])(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,120}(?![\w])/g, score: 0.95 },
      { name: "SendGrid", regex: /(?<![\w])SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}(?![\w-])/g, score: 0.9 },
      { name: "npm", regex: /(?<![\w])npm_[A-Za-z0-9]{36}(?![\w])/g, score: 0.95 },
      { name: "OpenAI and alike", regex: /(?<![\w-])sk-(?:proj-|ant-)?[A-Za-z0-9_-]{20,160}(?![\w-])/g, score: 0.85 },
      { name: "Hugging Face", regex: /(?<![\w])hf_[A-Za-z0-9]{34,40}(?![\w])/g, score: 0.95 },
      { name: "Azure storage", regex: /(?<![\w])AccountKey=[A-Za-z0-9+/]{86}==/g, score: 0.95 },
      {
        name: "Slack webhook",
        regex: /https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9+/_-]{20,120}/g,
        score: 0.95,
      },
      { name: "Shopify", regex: /(?<![\w])shp(?:at|ca|pa|ss)_[a-f0-9]{32}(?![\w])/g, score: 0.95 },
      { name: "DigitalOcean", regex: /(?<![\w])do[opr]_v1_[a-f0-9]{64}(?![\w])/g, score: 0.95 },
      { name: "PyPI", regex: /(?<![\w-])pypi-[A-Za-z0-9_-]{32,256}(?![\w-])/g, score: 0.95 },
      { name: "Vault", regex: /(?<![\w.])hv[sbr]\.[A-Za-z0-9_-]{24,160}(?![\w-])/g, score: 0.9 },
      { name: "Twilio", regex: /(?<![\dA-Za-z])(?:AC|SK)[0-9a-f]{32}(?![\dA-Za-z])/g, score: 0.8 },
    ],
    context: secretContext,
    // The keys of Azure and the addresses of Slack may have no run of word characters so long.
    needs: (text) => /[\w-]{15}|AccountKey=|hooks\.slack\.com/.test(text),
    prior: 1,
  },
  {
    entity: "API_KEY",
    patterns: [
      {
        name: "named value",
        regex:
          /(?<![A-Za-z])(?:api[_-]?key|apikey|access[_-]?key|secret[_-]?key|client[_-]?secret|auth[_-]?token|access[_-]?token|bearer)["'’”]?(?: is)? ?[:= ] ?["'‘’“]?(?=[A-Za-z0-9_/+.-]{0,64}\d)[A-Za-z0-9_/+.-]{10,256}={0,2}/gi,
        score: 0.75,
      },
      {
        // Names that frameworks give it, as OWASP's cheat sheet on sessions lists them: who has it is who logged in.
        name: "cookie of a session",
        regex:
          /(?<![\w.-])(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|ASPSESSIONID[A-Z]{8}|CFTOKEN|connect\.sid|sessionid|laravel_session|_[a-z]{1,30}_session|csrftoken|XSRF-TOKEN)["']?[=:] ?["']?[A-Za-z0-9%._~+/-]{16,512}/g,
        score: 0.75,
      },
      {
        // As programs are given it: `export CI_TOKEN=...`, `STRIPE_SECRET: ...`.
        name: "variable of an environment",
        regex:
          /(?<![A-Za-z])(?:[A-Z][A-Z0-9]{0,20}_){1,4}(?:TOKEN|SECRET|KEY|CREDENTIALS?)["'’]? ?[:=] ?["'‘’]?(?=[A-Za-z0-9_/+.-]{0,64}\d)[A-Za-z0-9_/+.-]{10,256}={0,2}/g,
        score: 0.75,
      },
    ],
    validate: isNoSecret,
    context: secretContext,
    needs: (text) => /[\w/+.%~-]{10}/.test(text),
    prior: 0.9,
  },
  {
    entity: "API_KEY",
    patterns: [
      {
        name: "named token",
        regex: new RegExp(
          `(?<!(?:[Pp]age|PAGE|[Nn]ext|NEXT|[Cc]ontinuation|[Ss]ync)[_-]?)(?:(?<![A-Za-z])(?:[Tt]oken|TOKEN|[Ss]ecret|SECRET)|(?<=[a-z])(?:Token|Secret))["'’”]? ?[:=] ?["'‘’“]?${OPAQUE}(?![\\w/+.=([-])`,
          "g",
        ),
        score: 0.75,
      },
      // A field whose name says what it is.
      { name: "opaque value", regex: new RegExp(`^${OPAQUE}$`, "g"), score: 0 },
    ],
    validate: (match) => (NAME.test(match) ? false : isNoSecret(match)),
    context: ["token", "secret"],
    unless: ABOUT_TOKENS,
    needs: (text) => /[\w/+.-]{10}/.test(text),
    prior: 0.9,
  },
  {
    entity: "API_KEY",
    patterns: [
      {
        // The second argument of a client, behind who it is: `new Twilio('AC...', '...')`.
        name: "given to a client",
        regex:
          /(?<=(?:[Cc]lient|A(?:pi|PI)|[Aa]uth|[Cc]redentials?|[Ss]ession|Twilio|Pusher|[Aa]lgolia(?:search)?|Vonage|Nexmo|Plivo|Mailgun|Binance|Coinbase)\(\s{0,4}["'`][\w.@-]{4,64}["'`],\s{0,8}["'`])(?=[\w/+.-]{0,64}[A-Za-z])(?=[\w/+.-]{0,64}\d)[\w/+.-]{16,256}={0,2}(?=["'`])/g,
        score: 0.75,
      },
    ],
    validate: (match) => (NAME.test(` ${match}`) ? false : undefined),
    context: secretContext,
    needs: (text) =>
      /(?:lient|A(?:pi|PI)|uth|redentials?|ession|Twilio|Pusher|lgolia|search|Vonage|Nexmo|Plivo|Mailgun|Binance|Coinbase)\(\s{0,4}["'`]/.test(
        text,
      ),
    prior: 0.9,
  },
  {
    entity: "PASSWORD",
    patterns: [
      {
        name: "named secret",
        regex:
          /(?<![A-Za-z])secret["']? ?[:=] ?["']?(?=[^\s"',;&]{0,128}[A-Za-z])(?=(?:[^\s"',;&\d]{0,64}\d){2})[^\s"',;&:/<>(){}[\]]{8,128}(?![^\s"',;&])/gi,
        score: 0.75,
      },
      {
        name: "value of a secret",
        regex: /^(?=[^\s"',;&]{0,128}[A-Za-z])(?=(?:[^\s"',;&\d]{0,64}\d){2})[^\s"',;&:/<>(){}[\]]{8,128}$/g,
        score: 0,
      },
    ],
    validate: (match) => (NAME.test(match) ? false : undefined),
    context: ["secret"],
    unless: ABOUT_TOKENS,
    prior: 1,
  },
  {
    entity: "PASSWORD",
    patterns: [{ name: "basic authentication", regex: /(?<![A-Za-z])basic [A-Za-z0-9+/]{4,1024}={0,2}(?![\w+/=])/gi, score: 0 }],
    validate: (match) => holdsUserAndPassword(match.slice("basic ".length)),
    context: [],
    prior: 1,
  },
  {
    entity: "PASSWORD",
    patterns: [
      {
        name: "in an address",
        regex: /\b[A-Za-z][A-Za-z0-9+.-]{1,30}:\/\/[^\s:/@"']{0,64}:[^\s/@"']{1,128}@[A-Za-z0-9.-]{1,253}/g,
        score: 0.9,
      },
      {
        name: "named value",
        regex: new RegExp(
          `(?:(?<![A-Za-z])|(?<=[A-Za-z0-9][_-]))(?:(?<=[A-Za-z0-9][_-])pass|password|passwd|pwd|passphrase|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|parola d'ordine|hasło|lösenord|пароль|şifre|密码|パスワード)["']?(?: is| ist| est| es)?${ASSIGNED}(?:${QUOTED}|["']?[^\\s"',;&]{4,128})`,
          "giu",
        ),
        score: 0.75,
      },
      {
        // As libpq and code in camel case call theirs. What stands there alone may be a type, unless it is quoted.
        name: "last word of a name",
        regex: new RegExp(
          `(?:(?<=[a-z\\d])Pass(?:word|wd|phrase|Phrase)|(?<=[A-Z]{2})PASSW(?:OR)?D|(?<![A-Z])(?:SSHPASS|REDISCLI_AUTH))["']?${ASSIGNED}(?:${QUOTED}|${WITH_SIGN}[^\\s"',;&]{4,128})`,
          "g",
        ),
        score: 0.75,
      },
      {
        // A short word that means other things too: only before letters with digits or signs.
        name: "short word",
        regex: new RegExp(
          `(?<![\\p{L}\\d_-])pw["']?(?: (?:is|ist)\\b|${ASSIGNED}) ?["']?(?=[^\\s"',;&]{0,64}\\p{L})${WITH_SIGN}[^\\s"',;&]{6,128}`,
          "giu",
        ),
        score: 0.7,
      },
      {
        // By the manual of each program.
        name: "on a command line",
        regex:
          /(?<![\w-])(?:--password[= ]|-p(?<=\b(?:mysql|mysqldump|mysqladmin|mariadb) [^\n]{0,120}-p)|-p(?<=\b(?:(?:docker|podman|nerdctl|buildah|skopeo|helm registry|az) login|sshpass|mongo(?:sh|dump|restore|export|import)?) (?:[^\n]{0,120} )?-p) ?|-a(?<=\bredis-cli (?:[^\n]{0,120} )?-a) |-P(?<=\b(?:sqlcmd|bcp) (?:[^\n]{0,120} )?-P) ?|-w(?<=\bldap(?:search|modify|add|delete|passwd|whoami|compare) (?:[^\n]{0,120} )?-w) |-pass(?:in|out)? pass:|(?:-u|--user)[ =]?(?<=\bcurl [^\n]{0,120})[^\s:"'-]{1,64}:)(?=[^\s-])(?:"[^"\n]{4,64}(?=")|'[^'\n]{4,64}(?=')|[^\s"']{4,64})/g,
        score: 0.7,
      },
      { name: "of a database user", regex: /\bidentified by (?:values )?["'][^"'\n]{4,128}["']/gi, score: 0.8 },
      { name: "netrc", regex: /\b(?:login|account)\s{1,9}\S{1,64}\s{1,9}password\s{1,9}\S{4,128}/g, score: 0.8 },
      {
        // As people tell each other: who, and behind a stroke or a word with what. Names of ways to log in (`SSO / OAuth2`) have no digits in several places.
        name: "beside a user name",
        regex:
          /(?<![\p{L}\d])(?:log(?:ged)?[ -]?in|sign(?:ed)?[ -]?in|authenticate|connect)(?: [\p{L}\d.'’-]{1,24}){0,3}? (?:with|as|using) [^\s/:"']{2,64}(?: ?[/:] ?| (?:and|with) )["']?(?=[^\s"',;]{0,64}\p{L})(?=[^\s"',;]{0,64}\d(?:[^\s"',;\d]{1,64}\d|[^\s"',;]{0,64}[#$%&*@^!]))[^\s"',;]{8,64}/giu,
        score: 0.7,
      },
      {
        name: "in words",
        regex:
          /(?<!\p{L})(?:password|passphrase|passwort|kennwort|mot de passe|contrase[nñ]a|senha|palavra-passe|wachtwoord|parola d['’]ordine|parola chiave)(?: (?:for|to|of|on|für|von|vom|zu|zum|zur|des|der|du|de|del|della|do|da|para|per|pour|van|voor)(?: [\p{L}\d.'’-]{1,24}){1,4}?)? (?:is|was|lautet|ist|war|est|es|è|é|luidt)(?: (?:now|jetzt|nun|ahora|ora|agora|nu|maintenant))?:? ["'„“”«]?(?!https?:|\d{1,3}-\p{L})(?=[^\s"',;&“”»]{0,64}(?:[\d#$%&*@^]|![^\s"',;&“”»]))[^\s"',;&“”»]{4,64}/giu,
        score: 0.7,
      },
    ],
    validate: (match) => {
      if (
        /[:=] ?["']?(?:\*{3,}|x{3,}|null|none|undefined|<[^>]{1,40}>?|\$\{?[\w.]{1,60}\}?|\$?\{\{[^{}]{1,120}(?:\}\})?|\$\([^()]{1,120}\)|<%[^%]{1,120}%>|\?|:\w+)$/i.test(
          match,
        )
      )
        return false;
      if (!match.includes("://") && isSecretPlaceholder(match)) return false;
      // POSIX.1, 8.3: the working directory, by an absolute path.
      if (/^PWD=["']?(?:\/|[A-Z]:\\)/.test(match)) return false;
      // What a value has to be, in declarations and schemas, is no value.
      if (/[:=] ?["']?(?:string|str|text|varchar|boolean|bool|true|false|any|unknown|object|required|optional)\??$/i.test(match))
        return false;
      // `password = os.environ['X']`: where the secret is, not the secret (as detect-secrets tells indirect references).
      if (/[:=] ?(?:(?:process\.env|os\.environ|ENV)\.\w{1,60}|[A-Za-z_][\w.-]{0,60}[[(](?:[^\])]{0,60}[\])])?)$/.test(match))
        return false;
      // Inside an address nothing else has this form.
      return match.includes("://") ? true : undefined;
    },
    context: secretContext,
    prior: 1,
  },
];

/** What is shorter than a generated secret mostly is counts only where its characters are as varied as drawn ones (gitleaks, `generic-api-key`). */
function isNoSecret(match: string): false | undefined {
  const value = match.slice(match.search(/[^\s:='"‘’“]*$/)).replace(/=+$/, "");
  if (value.length >= 16) return undefined;
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return NAME.test(` ${value}`) || bits < 3 || !/[A-Za-z]/.test(value) || !/\d/.test(value) ? false : undefined;
}

/** True when base64 text is `user:password` (RFC 7617): printable, in UTF-8. */
function holdsUserAndPassword(base64: string): boolean {
  const bytes = base64.length % 4 === 0 ? fromBase64(base64) : undefined;
  if (bytes === undefined) return false;
  return /^(?:[\x20-\x39\x3b-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3})+:(?:[\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3})+$/.test(
    String.fromCharCode(...bytes),
  );
}
