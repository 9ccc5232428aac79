// Tokens of common services are found by their form, beside letters that an escape ends with too, and words, paths and
// identifiers are not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainRandomText, tokenForms } from '#platform/wire/token-forms.ts';
import { noise } from '../../../support/noise.ts';
import * as fc from '../../../support/properties.ts';
import { runToItsEnd } from '../../../support/watchdog.ts';

const takeOut = (text: string): string =>
  [...tokenForms, plainRandomText].reduce(
    (left, { pattern, isToken }) => left.replace(pattern, (found) => (isToken(found) ? '[token]' : found)),
    text,
  );

/** Letters of both cases and digits, without a meaning; made here, so that no scanner takes them for keys. */
const made = (length: number): string => 'Zx7Kq2Vn9Rt4Wb8Ly3Mj6Pc5Hd1Gf0Sa'.repeat(4).slice(0, length);
const small = (length: number): string => made(length).toLowerCase();
const large = (length: number): string =>
  made(length)
    .toUpperCase()
    .replaceAll(/[0189]/g, 'Q');
const hex = (length: number): string => '0a1b2c3d4e5f6789'.repeat(5).slice(0, length);

const examples: readonly (readonly [string, string])[] = [
  ['Adobe', `p8e-${made(32)}`],
  ['Age', `AGE-SECRET-KEY-1${large(58)}`],
  ['Airtable', `pat${made(14)}.${hex(64)}`],
  ['Alibaba', `LTAI${made(20)}`],
  ['Amazon, a key', `AKIA${large(16)}`],
  ['Amazon, a session', `ASIA${large(16)}`],
  ['Amazon, a secret', `${made(12)}/${made(10)}/${made(16)}`],
  ['Anthropic', `sk-ant-api03-${made(40)}`],
  ['Atlassian', `ATATT3${made(60)}=${hex(8).toUpperCase()}`],
  ['Azure, a storage key', `${made(40)}/${made(20)}+${made(20)}==`],
  ['Azure, a client', `${made(3)}8Q~${made(34)}`],
  ['Bearer', `Bearer ${made(12)}/${made(8)}`],
  ['Bitbucket', `ATBB${made(32)}`],
  ['Brevo', `xkeysib-${hex(64)}-${made(16)}`],
  ['CircleCI', `CCIPAT_${made(22)}_${hex(40)}`],
  ['Contentful', `CFPAT-${made(43)}`],
  ['Databricks', `dapi${hex(32)}`],
  ['DigitalOcean', `dop_v1_${hex(64)}`],
  ['Discord', `M${made(23)}.${made(6)}.${made(27)}`],
  ['Docker', `dckr_pat_${made(27)}`],
  ['Doppler', `dp.pt.${made(43)}`],
  ['Dropbox', `sl.${made(20)}-${made(20)}`],
  ['Dynatrace', `dt0c01.${large(24)}.${large(64)}`],
  ['Figma', `figd_${made(40)}`],
  ['Fly.io', `FlyV1 fm2_${made(40)}`],
  ['GitHub', `ghp_${made(36)}`],
  ['GitHub, of fine grain', `github_pat_${made(22)}_${made(59)}`],
  ['GitLab', `glpat-${made(20)}`],
  ['GitLab, of a runner', `glrt-${made(20)}`],
  ['Google, a key', `AIza${made(35)}`],
  ['Google, access', `ya29.${made(40)}`],
  ['Google, a client', `GOCSPX-${made(28)}`],
  ['Grafana', `glsa_${made(32)}_${hex(8)}`],
  ['Groq', `gsk_${made(52)}`],
  ['HashiCorp Vault', `hvs.${made(24)}`],
  ['HashiCorp Terraform', `${made(14)}.atlasv1.${made(60)}`],
  ['Heroku', `HRKU-${made(36)}`],
  ['HubSpot', `pat-na1-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`],
  ['Hugging Face', `hf_${made(34)}`],
  ['JFrog', `AKCp${made(69)}`],
  ['LaunchDarkly', `sdk-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`],
  ['Linear', `lin_api_${made(40)}`],
  ['Mailchimp', `${hex(32)}-us12`],
  ['Mailgun', `key-${small(32)}`],
  ['Mapbox', `sk.eyJ${made(60)}.${made(22)}`],
  ['Netlify', `nfp_${made(36)}`],
  ['New Relic', `NRAK-${large(27)}`],
  ['Notion', `ntn_${made(46)}`],
  ['npm', `npm_${made(36)}`],
  ['NuGet', `oy2${small(43)}`],
  ['OpenAI', `sk-${made(48)}`],
  ['OpenAI, of a project', `sk-proj-${made(48)}`],
  ['OpenShift', `sha256~${made(43)}`],
  ['1Password', `ops_eyJ${made(60)}`],
  ['Perplexity', `pplx-${made(48)}`],
  ['PlanetScale', `pscale_tkn_${made(43)}`],
  ['Postman', `PMAK-${hex(24)}-${hex(34)}`],
  ['Pulumi', `pul-${hex(40)}`],
  ['PyPI', `pypi-AgEIcHlwaS5vcmc${made(60)}`],
  ['Replicate', `r8_${made(37)}`],
  ['Resend', `re_${made(8)}_${made(24)}`],
  ['RubyGems', `rubygems_${hex(48)}`],
  ['SendGrid', `SG.${made(22)}.${made(43)}`],
  ['Sentry', `sntrys_${made(60)}`],
  ['Shopify', `shpat_${hex(32)}`],
  ['Slack', `xoxb-${'1'.repeat(12)}-${made(24)}`],
  ['Slack, a webhook', `hooks.slack.com/services/T${large(8)}/B${large(8)}/${made(24)}`],
  ['Sonar', `sqp_${hex(40)}`],
  ['Square', `sq0atp-${made(22)}`],
  ['Stripe', `sk_live_${made(24)}`],
  ['Stripe, a webhook', `whsec_${made(32)}`],
  ['Supabase', `sbp_${hex(40)}`],
  ['Tailscale', `tskey-auth-${made(16)}-${made(20)}`],
  ['Telegram', `123456789:AA${made(33)}`],
  ['Twilio', `SK${hex(32)}`],
  ['Typeform', `tfp_${made(44)}`],
  ['Vercel', `vcp_${made(40)}`],
  ['xAI', `xai-${made(80)}`],
  ['a token of the web', `eyJ${made(20)}.eyJ${made(30)}.${made(43)}`],
  ['the hosted docs service', `svc_${made(24)}`],
  ['a private key', `-----BEGIN PRIVATE KEY-----\n${made(40)}\n-----END PRIVATE KEY-----`],
];

for (const [service, token] of examples) {
  test(`a token of ${service} is taken out, whatever is around it`, () => {
    for (const around of [
      'X',
      'why is X refused?',
      '(X)',
      '"X"',
      'x=X',
      '\\nX\\n',
      '\\u003dX',
      '%3DX',
      '?a=X&b',
    ]) {
      const found = takeOut(around.replace('X', () => token));
      // What is left of it may be a sign at its end.
      for (let at = 0; at + 8 <= token.length; at += 1) {
        const part = token.slice(at, at + 8);
        assert.ok(
          /^[-A-Z ]+$/.test(part) || /^hooks/.test(token) || !found.includes(part),
          `${around}: ${found}`,
        );
      }
      assert.match(found, /\[token\]/);
    }
  });
}

for (const text of [
  'sk-learn and pandas_profiling',
  'a task-management-software-of-2026',
  'hf_hub_download, npm_config_registry, ops_team_channel',
  'secret_store_configuration_name',
  'test_user_login_page_2 and live_preview_of_changes_3',
  'api-gateway-production-v2-of-the-company',
  'the key-value-store-of-version-2',
  '/docs/API-v2/GettingStarted/HowToConfigureWebhooks',
  'https://docs.example.com/blog/2026-11-28-ReleaseNotes-v2-4-0-What-Is-New',
  'src/components/Button/Button.test.tsx/v18',
  'MyCompany_AWS_EC2_Instance_Type_m5_large_us_east_1',
  '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  'Basic authentication and Bearer authentication is not working',
  'https://example.com/blog/2024/05/HowToConfigureOAuth2WithGitHub',
  'https://docs.example.com/docs/SDKs/iOS15/QuickStart-V2',
  'src/components/Header2/NavBar3/UserMenu4/index.tsx',
  '/docs/api/v2/getUserById2/andUpdateProfile',
  'test_shouldReturnUnauthorizedWhenTokenExpired',
  'select t1.customerIdentificationNumber from orders t1',
  'key-rotation2024ConfigurationGuide',
  'access-development-environment and access-production-database',
  'https://sl.wikipedia.org/wiki/Ljubljana, https://hvs.example.com/x',
  'npm_config_node_version=20.1.0',
  'xai-org/grok-1-open-release',
  'AIDA64-benchmark-results-2024',
  'rubygems_version_requirement, xapp-framework, sk-admin-dashboard',
  'FlyV1 documentation, 1//0.50000000',
  'api key, apikey, signature verification, token refresh, password reset, sig file',
  'token: expired, password: must be at least 8 characters, api key: 32 characters',
  'design=blue12345, monkey=blue12345, max_tokens=4096, tokens=100000',
  '<li key={item.id}> and key=identifier',
  'token=getToken() and password=form.password, token={token}, token=$(cat token), api_key=<your-key>, secret=$SECRET',
  '/docs/signature/v2, /docs/token-2024/refresh, /key/rotation',
]) {
  test(`"${text.slice(0, 50)}" stays`, () => assert.equal(takeOut(text), text));
}

for (const [text, expected] of [
  ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'AWS_SECRET_ACCESS_KEY=[token]'],
  [`https://h/a?sv=1&sig=${made(12)}%2FfGhJ%3D&x=1`, 'https://h/a?sv=1&sig=[token]&x=1'],
  [`//registry/:_authToken=3f2504e0-4f89-11d3-9a0c-0305e82c3301`, '//registry/:_authToken=[token]'],
  [`x-api-key: 3f2504e0-4f89-11d3`, 'x-api-key: [token]'],
  [`{"auth": "${made(10)}"}`, '{"auth": "[token]"}'],
  [`https://x-access-token:${small(9)}@localhost:3000`, 'https://x-access-token:[token]@localhost:3000'],
  ['docs.example.com/a?token=abcsecret6', 'docs.example.com/a?token=[token]'],
  ['sig=wJalrXUtnFEMI%2FK7MDENG', 'sig=[token]'],
  ['/docs/sig=wJalrXUtnFEMI%2FK7MDENG', '/docs/sig=[token]'],
  ['what is x-amz-signature=abc here', 'what is x-amz-signature=[token] here'],
  ['X-Amz-Security-Token=IQoJb3JpZ2lu&x=1', 'X-Amz-Security-Token=[token]&x=1'],
  ['apikey: hunter2secret', 'apikey: [token]'],
  ['API-Key:hunter2secret', 'API-Key:[token]'],
  ['{"client_secret": "hunter2secret"}', '{"client_secret": "[token]"}'],
  ['token = hunter2secret', 'token = [token]'],
  ['password=hunter', 'password=[token]'],
  ['?key=hunter2secret#top', '?key=[token]'],
  ['a%26sig%3Dhunter', 'a%26sig%3D[token]'],
  ['key AKIAABCDEFGHIJKLMNOP here', 'key [token] here'],
  [`npm_${'abcdefghijklmnopqrstuvwxyz0123456789'}`, '[token]'],
] as const) {
  test(`"${text.slice(0, 40)}" loses the secret alone`, () => assert.equal(takeOut(text), expected));
}

test('a long text is read in time, whatever it repeats', () => {
  for (const piece of [
    'a',
    'hf_',
    'Basic a',
    'Bearer ',
    '/',
    'aA1',
    '=',
    'sig=',
    'sig=abc&',
    'token: ',
    'token="',
    'x-amz-signature',
    'password=a.',
    '%3Dkey=',
    'x:',
    '://a:',
    '%3D',
    '-----BEGIN ',
    'eyJ',
    '0',
    '\\n',
  ])
    runToItsEnd(() => void takeOut(`hf_${piece.repeat(100_000 / piece.length)}`));
});

test('of random keys without a prefix, fewer than one in a hundred stays, in a path too', () => {
  const draws = 2_000;
  for (const encoding of ['base64', 'base64url', 'hex'] as const) {
    const missed = Array.from({ length: draws }, (_, at) =>
      noise(32, `${encoding} ${at}`).toString(encoding),
    ).filter((key) => takeOut(`/docs/en/${key}`).includes(key));
    assert.ok(missed.length < draws / 100, `${missed.length} of ${draws} in ${encoding}`);
  }
});

test('any text is read to its end, and text without a token stays as it is', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => typeof takeOut(text) === 'string'));
  const word = fc.stringMatching(/^[a-z]{1,12}$/);
  const sentence = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
  fc.assert(fc.property(sentence, (text) => takeOut(text) === text));
});
