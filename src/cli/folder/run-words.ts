// The reconcile's messages in the words of `run`: the operator speaks of Secrets, charts and flags of its own, and here
// the key is in a file, and the flags are this command's. Pure. Refuses: any other text, which stays as it is.

import { reconcilingReasons, stalledReasons, targetReasons } from '#operator/staticexport/reasons.ts';

/** Where the user gave the API key. */
export interface KeySource {
  /** Name of the Secret. */
  readonly name: string;
  /** By `--secret NAME=FILE`. */
  readonly isFile: boolean;
}

/** Whole sentences and parts of sentences. A test holds that each is still said by the operator. */
export function operatorWords({
  name,
  isFile,
}: KeySource): readonly (readonly [text: string, ours: string])[] {
  const source = isFile ? `the file of --secret ${name}` : 'the Secret of the manifest';
  return [
    [
      reconcilingReasons.KeyMissing,
      'There is no API key. Add --secret NAME=FILE, or put the Secret into the manifest.',
    ],
    [stalledReasons.KeyEmpty, `The API key is empty. Write the key into ${source}.`],
    [
      stalledReasons.KeyInvalid,
      `The API key holds characters that a bearer token cannot hold. Write only the key into ${source}.`,
    ],
    [
      stalledReasons.KeyRefused,
      `The export API returned 401 for this key. Write a valid key into ${source}, and run the command again.`,
    ],
    [
      stalledReasons.BaseUrlMissing,
      'No export API is configured. Set spec.api.baseUrl in the manifest, or add --api-base-url.',
    ],
    [
      stalledReasons.HostNotAllowed,
      '--allowed-api-hosts does not allow spec.api.baseUrl. The key was not sent.',
    ],
    [
      stalledReasons.AwaitingPromotion,
      'spec.promotion.mode is Manual. To publish the candidate, set the annotation in the manifest and run the command again.',
    ],
    [targetReasons.PushFailed, 'The commit could not be pushed. Follow the message.'],
    [
      targetReasons.Contested,
      'Another client keeps other values in these fields, so they are no longer written. Find out which client writes them. Writing resumes with a new version or spec.',
    ],
    [' or let the operator allow private addresses.', ' or add --allow-private-links if that is intended.'],
    [' Retrying every 15m.', ''],
    // The file is read once, when the command starts.
    [' Rechecked every minute.', ''],
    [' A new key is used within a minute.', ''],
    [' (allowedApiHosts of the chart)', ''],
    [' of the operator)', ')'],
    [
      '. Set --allow-private-links (charts: allowPrivateLinks, server.allowPrivateLinks) if intended',
      '; add --allow-private-links if that is intended',
    ],
  ];
}

/** @param text a condition's message, an event or a line of the log */
export function inRunWords(text: string, source: KeySource): string {
  return operatorWords(source)
    .reduce((said, [theirs, ours]) => said.replaceAll(theirs, ours), text)
    .replace(/^API key in Secret \S+ does/, 'API key does');
}
