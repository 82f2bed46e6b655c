/** True where what is told as a secret is what documentation writes in its place, or something said about one. */
export function isSecretPlaceholder(match: string): boolean {
  const value = match.slice(match.search(/[^\s:="'„“”«`‘’]*$/u)).replace(/[.!?)]+$/u, "");
  return (
    /^(?:<|\$\{?|\{\{|%\w+%|\*{3,}|x{4,}$|\.{3})/i.test(value) ||
    /^[[<{].*[\]>}]$/.test(value) ||
    /(?:change[-_]?(?:me|it|this)|your[-_]|example|placeholder|replace[-_]?(?:me|this)|dummy|redacted|[-_]here$|^todo|^tbd$)/i.test(
      value,
    ) ||
    /^(?:null|none|undefined|true|false|required|optional|string|base64|utf-?8|sha-?\d+|md5|argon2\w*|bcrypt|oauth2?|2fa|mfa|otp|sso|ok\d?|v\d[\d.]*|\d{1,2}(?:th|st|nd|rd|er|e)|\d+(?:[hms]|ms|kb|mb|gb|px|x|k))$/i.test(
      value,
    ) ||
    /^\d{1,3}[-‑]?(?:char\w*|digit\w*|bit|stellig\w*|zeichen|caract\w*|cifre|letters?|days?|tage|jours|d[ií]as)/i.test(value)
  );
}
