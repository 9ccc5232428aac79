// The forms of tokens that common services give out, as data, and how to find one in text of others. Owns the prefixes.
// Refuses patterns whose time grows faster than the text. Invariant: a boundary before a token may be an escape of JSON,
// URLs or HTML, because text within text is escaped.

/** Regular expressions that no word begins with: eight characters after them are a token. */
const distinctPrefixes = {
  'Adobe, Age, Anthropic, Atlassian': ['p8e-', 'AGE-SECRET-KEY-1', 'sk-ant-', 'AT[AC]TT3'],
  'Brevo, Buildkite, CircleCI, Contentful': ['xkeysib-', 'bku[ar]_', 'bkct_', 'CCIP(?:AT|RJ)_', 'CFPAT-'],
  'DigitalOcean, Docker, Doppler': ['do[opr]_v1_', 'dckr_[po]at_', 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.'],
  'Flutterwave, Fly.io': ['FLW(?:SEC|PUB)K[_-]', 'FlyV1 '],
  'GitHub, GitLab': [
    'gh[opsur]_',
    'github_pat_',
    'gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-',
    'GR1348941',
  ],
  'Google, Grafana': ['AIza', 'ya29\\.', 'GOCSPX-', '1//0', 'glsa_'],
  'HashiCorp, Heroku, HubSpot': ['hv[sbr]\\.', '\\w{14}\\.atlasv1\\.', 'HRKU-', 'pat-[a-z]{2}\\d-'],
  'JFrog, JSON Web Token': ['cmVmdGtu', 'eyJ'],
  'LangSmith, Linear, Mapbox, Mailchimp': [
    'lsv2_(?:pt|sk)_',
    'lin_(?:api|oauth)_',
    '[sp]k\\.eyJ',
    '[0-9a-f]{32}-us\\d',
  ],
  'New Relic, OpenAI, 1Password': [
    'NR(?:AK|JS|II|IQ|RA|AA)-',
    'sk-(?:proj|svcacct|admin|or-v1)-',
    'ops_eyJ',
    'A3-[A-Z0-9]{6}-',
  ],
  'OpenShift, PlanetScale, Plaid, Postman': [
    'sha256~',
    'pscale_(?:tkn|pw|oauth)_',
    'access-(?:sandbox|development|production)-',
    'PMAK-',
  ],
  'PyPI, RubyGems, SendGrid, Sentry': ['pypi-Ag', 'rubygems_', 'SG\\.[\\w-]{16,32}\\.', 'sntry[su]_'],
  'Shippo, Shopify': ['shippo_(?:live|test)_', 'shp(?:at|ca|pa|ss|tka)_'],
  Slack: ['xox[abeoprs][-.]', 'xapp-', 'hooks\\.slack\\.com/(?:services|workflows|triggers)/'],
  'Stripe, and services like it': ['[sprx]k_(?:live|test|prod)_', 'whsec_', 'rzp_(?:live|test)_'],
  'Square, Supabase, Tailscale, Telegram': [
    'sq0[a-z]{3}-',
    'sb_(?:secret|publishable)_',
    'tskey-',
    '\\d{8,10}:AA',
  ],
  'the hosted docs service': ['svc_'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Words and names may begin with these: a token has sixteen characters more, and not only small letters. */
const wordlikePrefixes = {
  'Alibaba, Amazon, Atlassian': [
    'LTAI(?=[A-Za-z0-9]{12})',
    'A(?:KIA|SIA|BIA|CCA|GPA|IDA|ROA|IPA|NPA|NVA)',
    'ABSK',
    'ATBB',
  ],
  'Clojars, crates.io, Databricks, Duffel': [
    'CLOJARS_',
    'cio(?=[A-Za-z0-9]{32})',
    'dapi(?=[\\da-f]{20})',
    'duffel_',
    'dt0[a-z]\\d\\d\\.',
  ],
  'EasyPost, Figma, Fly.io, Groq, Grafana': [
    'EZ[AT]K(?=\\w{30})',
    'fig[dou]_',
    'fo1_',
    'fm[12][ra]?_',
    'gsk_',
    'glc_',
  ],
  'Hugging Face, JFrog, Netlify, Notion, npm': [
    'hf_',
    'api_org_',
    'AKCp',
    'nf[pcou]_',
    'ntn_',
    'secret_(?=[A-Za-z0-9]{30})',
    'npm_',
  ],
  'NuGet, Octopus, Perplexity, Pinecone': ['oy2(?=[a-z0-9]{30})', 'API-(?=[A-Z0-9]{20})', 'pplx-', 'pcsk_'],
  'Prefect, Pulumi, PyPI, Replicate, Resend, ReadMe': [
    'pn[ub]_',
    'pul-(?=[\\da-f]{20})',
    'pypi-',
    'r8_',
    're_(?=[A-Za-z0-9]{8}_)',
    'rdme_',
  ],
  'Sonar, Sourcegraph, Square, Supabase, Tavily': ['sq[apu]_', 'sgp_', 'EAAA(?=[\\w-]{30})', 'sbp_', 'tvly-'],
  'Twilio, Typeform, Vercel, xAI, Yandex': [
    '(?:SK|AC)(?=[\\da-f]{32})',
    'tfp_',
    'vc[ackipr]_',
    'xai-',
    'AQVN',
    't1\\.(?=[\\w-]{20})',
    'y0_(?=[\\w-]{30})',
  ],
  'many services': [
    '(?:[srp]k[-_]|tk-|key-|pat[-_.]?|fc-|tok_|live_|test_)(?=[A-Za-z0-9]{16})',
    'pat(?=[A-Za-z0-9]{14}\\.)',
    'sl\\.',
    '(?:sdk|mob|api)-(?=[\\da-f]{8}-[\\da-f]{4}-)',
  ],
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
const isNoWord = (text: string): boolean =>
  hasDigit(text.slice(4)) || /[a-z].*[A-Z]|[A-Z].*[a-z]/.test(text.slice(4));

/** In order: a private key, what has a known prefix or scheme, and long text in base64 that looks random. */
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
    pattern: new RegExp(String.raw`${boundary}(?:${oneOf(wordlikePrefixes)})[\w.~+/=-]{16,}`, 'g'),
    isToken: isNoWord,
  },
  { pattern: /(?<=Bearer(?:\s|%20|\+|\\[nrt]))[\w.~+/=-]{8,}/gi, isToken: always },
  { pattern: /(?<=Basic(?:\s|%20|\+|\\[nrt]))[\w.~+/=-]{8,}/gi, isToken: isNoWord },
  // Azure's client secrets, and bots of Discord.
  { pattern: /[\w.~-]{3}\dQ~[\w.~-]{31,34}/g, isToken: always },
  {
    pattern: new RegExp(String.raw`${boundary}[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,45}`, 'g'),
    isToken: always,
  },
  { pattern: /(?<![\w+/=-])[\w+/=-]{32,}/g, isToken: isMixed },
];

/** Letters and digits without more: keys in hexadecimal or base62, and also digests and identifiers. */
export const plainRandomText: TokenForm = {
  pattern: /(?<![A-Za-z0-9+=])[A-Za-z0-9+=]{32,}/g,
  isToken: (text) => hasDigit(text) && /[a-z]/i.test(text),
};

/** Of all characters: how many begin another kind than the one before, where a name in camel case would not. */
const leastChanges = 0.2;

/** Base64 of random bytes; not a path of words, nor an identifier of hexadecimal groups. */
function isMixed(text: string): boolean {
  // A path around it does not hide it.
  const segments = text.split(/[/_-]/);
  const isWord = (segment: string): boolean => !/[^a-z]/.test(segment);
  const from = segments.findIndex((segment) => !isWord(segment));
  const until = segments.findLastIndex((segment) => !isWord(segment)) + 1;
  const rest = segments.slice(from, until).join('/');
  if (rest.length < 20 || !(/[a-z]/.test(rest) && /[A-Z]/.test(rest) && hasDigit(rest))) return false;
  const changes =
    rest.match(/[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z])|(?<=[A-Z])[A-Z](?=[a-z])/g)?.length ?? 0;
  return changes / rest.length >= leastChanges;
}
