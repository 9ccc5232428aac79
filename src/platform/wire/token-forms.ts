// The forms of tokens that common services give out, as data, and how to find one in text of others. Owns the prefixes.
// Refuses patterns whose time grows faster than the text. Invariant: a boundary before a token may be an escape of JSON,
// URLs or HTML, because text within text is escaped.

/** Regular expressions that no word begins with: eight characters after them are a token. */
const distinctPrefixes = {
  'Adobe, Age, Anthropic, Atlassian': ['p8e-', 'AGE-SECRET-KEY-1', 'sk-ant-', 'AT[AC]TT3'],
  Amazon: ['A(?:KIA|SIA|BIA|CCA|GPA|IDA|ROA|IPA|NPA|NVA)(?=[A-Z2-7]{16})', 'ABSK(?=[\\w+/=]{20})'],
  'Airtable, Brevo, Buildkite': ['pat(?=[A-Za-z0-9]{14}\\.)', 'xkeysib-', 'bku[ar]_', 'bkct_'],
  'CircleCI, Contentful': ['CCIP(?:AT|RJ)_', 'CFPAT-'],
  'DigitalOcean, Docker, Doppler, Dropbox': [
    'do[opr]_v1_',
    'dckr_[po]at_',
    'dp\\.(?:pt|st|ct|sa|scim|audit)\\.',
    'sl\\.(?=[\\w-]{20})',
  ],
  'Duffel, Dynatrace, Flutterwave, Fly.io': [
    'duffel_(?:test|live)_',
    'dt0[a-z]\\d\\d\\.',
    'FLW(?:SEC|PUB)K[_-]',
    'FlyV1 fm\\d',
  ],
  'GitHub, GitLab': [
    'gh[opsur]_',
    'github_pat_',
    'gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-',
    'GR1348941',
  ],
  'Google, Grafana': ['AIza', 'ya29\\.', 'GOCSPX-', '1//0(?=[\\w-]{20})', 'glsa_'],
  'HashiCorp, Heroku, HubSpot': [
    'hv[sbr]\\.(?=[\\w-]{20})',
    '\\w{14}\\.atlasv1\\.',
    'HRKU-',
    'pat-[a-z]{2}\\d-',
  ],
  'JFrog, JSON Web Token': ['cmVmdGtu', 'eyJ'],
  'LangSmith, LaunchDarkly, Linear': [
    'lsv2_(?:pt|sk)_',
    '(?:sdk|mob|api)-(?=[\\da-f]{8}-[\\da-f]{4}-)',
    'lin_(?:api|oauth)_',
  ],
  'Mapbox, Mailchimp, New Relic': ['[sp]k\\.eyJ', '[0-9a-f]{32}-us\\d', 'NR(?:AK|JS|II|IQ|RA|AA)-'],
  'OpenAI, 1Password': [
    'sk-(?:proj|svcacct|or-v1)-',
    'sk-admin-(?=[\\w-]{20})',
    'ops_eyJ',
    'A3-[A-Z0-9]{6}-',
  ],
  'OpenShift, PlanetScale, Plaid, Postman': [
    'sha256~',
    'pscale_(?:tkn|pw|oauth)_',
    'access-(?:sandbox|development|production)-(?=[\\da-f]{8}-)',
    'PMAK-',
  ],
  'PyPI, Resend, SendGrid, Sentry': [
    'pypi-Ag',
    're_(?=[A-Za-z0-9]{8}_[A-Za-z0-9]{16})',
    'SG\\.[\\w-]{16,32}\\.',
    'sntry[su]_',
  ],
  'Shippo, Shopify': ['shippo_(?:live|test)_', 'shp(?:at|ca|pa|ss|tka)_'],
  Slack: ['xox[abeoprs][-.]', 'xapp-\\d', 'hooks\\.slack\\.com/(?:services|workflows|triggers)/'],
  'Stripe, and services like it': ['[sprx]k_(?:live|test|prod)_', 'whsec_', 'rzp_(?:live|test)_'],
  'Square, Supabase, Tailscale, Telegram': [
    'sq0[a-z]{3}-',
    'EAAA(?=[\\w-]{30})',
    'sb_(?:secret|publishable)_',
    'tskey-',
    '\\d{8,10}:AA',
  ],
  'the hosted docs service, Yandex': ['svc_', 't1\\.9eu', 'y0_(?=[\\w-]{30})'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Words and names may begin with these: a token has sixteen letters and digits more, which are not a word. */
const wordlikePrefixes = {
  'Alibaba, Bitbucket, Clojars, crates.io': ['LTAI', 'ATBB', 'CLOJARS_', 'cio'],
  'Databricks, EasyPost, Figma, Fly.io': ['dapi', 'EZ[AT]K', 'fig[dou]_', 'fo1_', 'fm[12][ra]?_'],
  'Groq, Grafana, Hugging Face, JFrog': ['gsk_', 'glc_', 'hf_', 'api_org_', 'AKCp'],
  'Netlify, Notion, npm, NuGet, Octopus': ['nf[pcou]_', 'ntn_', 'secret_', 'npm_', 'oy2', 'API-'],
  'Perplexity, Pinecone, Prefect, Pulumi': ['pplx-', 'pcsk_', 'pn[ub]_', 'pul-'],
  'Replicate, ReadMe, RubyGems, Sonar, Sourcegraph': ['r8_', 'rdme_', 'rubygems_', 'sq[apu]_', 'sgp_'],
  'Supabase, Tavily, Twilio, Typeform': ['sbp_', 'tvly-', 'SK(?=[\\da-f]{32})', 'AC(?=[\\da-f]{32})', 'tfp_'],
  'Vercel, xAI, Yandex, many services': ['vc[ackipr]_', 'xai-', 'AQVN', '[srp]k[-_]'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const oneOf = (table: Readonly<Record<string, readonly string[]>>): string =>
  Object.values(table).flat().join('|');

/** No letter or digit, unless it belongs to an escape: `\n`, `\x3d`, `\u003d`, `%3D`. */
const boundary = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[abfnrtv0]|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}))`;

export interface TokenForm {
  readonly pattern: RegExp;
  /** Whether a match of the pattern is one. */
  readonly isToken: (text: string) => boolean;
}

const always = (): boolean => true;
const hasDigit = (text: string): boolean => /\d/.test(text);
/** A word after `Bearer` is none, such as "authentication". */
const isNoWord = (text: string): boolean => text.length > 15 || !/^[A-Za-z]?[a-z]+\.?$/.test(text);
const isNoName = (text: string): boolean =>
  hasDigit(text.slice(4)) || (/[a-z]/.test(text) && /[A-Z]/.test(text.slice(4)));

/** Names of fields and parameters, as alternatives. */
const linkSecrets = 'sig|signature|credential';
const keyNames = 'api[-_]?key|access[-_]?key';
const secretNames = 'token|password|passwd|passphrase|pwd|secret';

/** Text after a field's name and a separator. A placeholder, such as `${TOKEN}` or `<token>`, is not a value. */
function named(names: string, separator: string, characters: number): RegExp {
  const after = `(?<=${boundary}(?:${names})(?:${separator}))`;
  return new RegExp(String.raw`${after}(?![<{[(*]|\$[{(A-Z])[^\s&"'<>,;]{${characters},}`, 'gi');
}

/** A call or a member in a program's text is not a secret, such as `token=getToken()` or `password=form.password`. */
const isNoCode = (text: string): boolean =>
  hasDigit(text) || !/^[a-z_$][\w$]*(?:\(|(?:\.[a-z_$][\w$]*)+[)}.!?]{0,3}$)/i.test(text);

/** In order: a private key, what has a known prefix, scheme or name, and long text in base64 that looks random. */
export const tokenForms: readonly TokenForm[] = [
  {
    pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END|$)/g,
    isToken: always,
  },
  {
    pattern: new RegExp(String.raw`${boundary}(?:${oneOf(distinctPrefixes)})[\w.~+/=-]{8,}`, 'g'),
    isToken: always,
  },
  {
    pattern: new RegExp(String.raw`${boundary}(?:${oneOf(wordlikePrefixes)})[A-Za-z0-9]{16}[\w.~+/=-]*`, 'g'),
    isToken: isNoName,
  },
  {
    pattern: new RegExp(
      String.raw`${boundary}(?:tk-|key-|pat[-_.]?|fc-|tok_|live_|test_)[A-Za-z0-9]{16}[\w.~+/=-]*`,
      'g',
    ),
    isToken: (text) => changesOf(text) >= 0.2 && hasDigit(text),
  },
  { pattern: /(?<=Bearer(?:\s|%20|\+|\\[nrt]))[\w.~+/=-]{8,}/gi, isToken: isNoWord },
  { pattern: /(?<=Basic(?:\s|%20|\+|\\[nrt]))[\w.~+/=-]{8,}/gi, isToken: isNoWord },
  // The password of a URL, before its user could be read as the name of a field.
  { pattern: /(?<=:\/\/[^\s/:@]{1,64}:)[^\s/@]{3,200}(?=@)/g, isToken: always },
  // By the name of a field or a parameter.
  { pattern: named(linkSecrets, '=|%3d', 3), isToken: always },
  { pattern: named(`${keyNames}|${secretNames}`, '=|%3d', 4), isToken: isNoCode },
  { pattern: named('key', '=|%3d', 8), isToken: hasDigit },
  {
    pattern: named(`${linkSecrets}|${keyNames}|${secretNames}`, '["\']? ?(?:=|:)["\' ]{0,2}', 8),
    isToken: hasDigit,
  },
  { pattern: /(?<=_authToken=|x-api-key:\s?|"auth":\s?")[^\s"',]{8,}/gi, isToken: always },
  // Azure's client secrets, and bots of Discord.
  { pattern: /[\w.~-]{3}\dQ~[\w.~-]{31,34}/g, isToken: always },
  {
    pattern: new RegExp(String.raw`${boundary}[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,45}`, 'g'),
    isToken: always,
  },
  { pattern: /(?<![\w+/-])[\w+/-]{30,}={0,2}/g, isToken: isMixed },
];

/** Letters and digits without more: keys in hexadecimal or base62, and also digests and identifiers. */
export const plainRandomText: TokenForm = {
  pattern: /(?<![A-Za-z0-9+=])[A-Za-z0-9+=]{32,}/g,
  isToken: (text) => hasDigit(text) && /[a-z]/i.test(text),
};

/** Of all characters: how many begin another kind than the one before, where a name in camel case would not. */
function changesOf(text: string): number {
  const changes = text.match(/[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z])|(?<=[A-Z])[A-Z](?=[a-z])/g);
  return (changes?.length ?? 0) / text.length;
}

/** Base64 of random bytes; not a path of words, nor an identifier of hexadecimal groups. */
function isMixed(text: string): boolean {
  // A path around it does not hide it.
  const segments = text.replace(/=+$/, '').split(/[/_-]/);
  const isWord = (segment: string): boolean => !/[^a-z]/.test(segment);
  const from = segments.findIndex((segment) => !isWord(segment));
  const until = segments.findLastIndex((segment) => !isWord(segment)) + 1;
  const rest = segments.slice(from, until).join('/');
  const isOfParts = text
    .split('/')
    .every((part) => part.length < 16 && !(part.length >= 8 && hasDigit(part) && changesOf(part) >= 0.3));
  if (rest.length < 20 || isOfParts || !(/[a-z]/.test(rest) && /[A-Z]/.test(rest) && hasDigit(rest)))
    return false;
  const changes = changesOf(rest);
  // Of the letters of words, four in ten are vowels; of random ones, two.
  const vowels = rest.match(/[aeiou]/gi)?.length ?? 0;
  const letters = rest.match(/[a-z]/gi)?.length ?? 1;
  return changes >= 0.3 || (changes >= 0.2 && vowels / letters <= 0.33);
}
