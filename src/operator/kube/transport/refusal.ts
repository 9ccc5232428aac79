// Refusals of the Kubernetes API server: an HTTP status and a Status object become a ClusterError.
// Refuses: repeating the Status's message or causes, which may quote what was sent. Messages consist of the verb, the
// address, the reason, and field paths.

import { ClusterError, type ClusterErrorCode, type OwnedField } from '#platform/wire/cluster-error.ts';
import { type JsonRecord, recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { parseRetryAfter } from '#platform/wire/retry-after.ts';
import { apiVersionOf, describeAddress, type ObjectAddress, type Verb } from './resource-path.ts';

/** The longest Retry-After that is kept. */
const maxRetryAfterMs = 60_000;

export interface ClusterRefusal {
  readonly httpStatus: number;
  readonly retryAfterHeader: string | null;
  /** The body as parsed JSON; anything at all, or `undefined`. */
  readonly body: unknown;
}

/** Who calls: the operator with the role of its chart, or the user of a command. */
export type ClusterCaller = 'operator' | 'user';

/**
 * @param now epoch milliseconds, for a Retry-After in its date form
 * @param caller whose role and credentials a message names
 */
export function readRefusal(
  verb: Verb,
  address: ObjectAddress,
  refusal: ClusterRefusal,
  now: number,
  caller: ClusterCaller = 'operator',
): ClusterError {
  const status = isRecord(refusal.body) && refusal.body['kind'] === 'Status' ? refusal.body : {};
  const details = recordAt(status, 'details');
  const isAbsent = isAbsence(verb, address, textAt(status, 'reason'), textAt(details, 'name'));
  const code =
    refusal.httpStatus === 404 && !isAbsent
      ? 'Unavailable'
      : codeOf(refusal.httpStatus, textAt(status, 'reason'), details);
  const waitMs = parseRetryAfter(refusal.retryAfterHeader, now) ?? secondsOf(details['retryAfterSeconds']);
  const message = caller === 'user' ? explainToUser(code, verb, address, status) : undefined;
  return new ClusterError(
    code,
    message ?? explain(code, verb, address, status, details, refusal.httpStatus),
    {
      retryAfterMs: waitMs === undefined ? undefined : Math.min(waitMs, maxRetryAfterMs),
      ...(code === 'FieldConflict' && { ownedFields: ownedFieldsOf(details) }),
    },
  );
}

/**
 * Whether a 404 is about the object, which the API server then names. Where it does not serve the resource yet it answers
 * in plain text, and a proxy answers with a page of its own. A collection has no name.
 */
function isAbsence(
  verb: Verb,
  { name }: ObjectAddress,
  reason: string | undefined,
  named: string | undefined,
): boolean {
  if (name === undefined) return true;
  // A write may miss the namespace, and names that.
  return reason === 'NotFound' && (verb === 'get' ? named === name : named !== undefined);
}

const codeByStatus: ReadonlyMap<number, ClusterErrorCode> = new Map([
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [409, 'Conflict'],
  [410, 'Gone'],
  [429, 'TooManyRequests'],
]);

function codeOf(httpStatus: number, reason: string | undefined, details: JsonRecord): ClusterErrorCode {
  if (hasCause(details, 'NamespaceTerminating')) return 'NamespaceTerminating';
  if (httpStatus === 409 && reason === 'AlreadyExists') return 'AlreadyExists';
  if (httpStatus === 409 && hasCause(details, fieldConflict)) return 'FieldConflict';
  return codeByStatus.get(httpStatus) ?? (httpStatus >= 400 && httpStatus < 500 ? 'Invalid' : 'Unavailable');
}

/** Where the words differ from those for the operator. */
function explainToUser(
  code: ClusterErrorCode,
  verb: Verb,
  address: ObjectAddress,
  status: JsonRecord,
): string | undefined {
  const what = describeAddress(address);
  if (code === 'Unauthorized') {
    return `the Kubernetes API server did not accept your credentials (${verb} ${what}); sign in again, or check the user of the kubeconfig`;
  }
  return code === 'Forbidden' && isOfRole(status) ? `you have no permission to ${verb} ${what}` : undefined;
}

/** Admission and quotas answer 403 as well; only the authorizer says "cannot <verb> resource". */
const isOfRole = (status: JsonRecord): boolean => /cannot \S+ resource/.test(textAt(status, 'message') ?? '');

/** Of a ValidatingAdmissionPolicy, which answers 422 or 403. Its own words are not repeated. */
function policyOf(status: JsonRecord): string | undefined {
  return /ValidatingAdmissionPolicy '([a-z0-9.-]{1,253})'/.exec(textAt(status, 'message') ?? '')?.[1];
}

function explain(
  code: ClusterErrorCode,
  verb: Verb,
  address: ObjectAddress,
  status: JsonRecord,
  details: JsonRecord,
  httpStatus: number,
): string {
  const what = describeAddress(address);
  const policy = policyOf(status);
  if (policy !== undefined)
    return `the admission policy ${policy} refused to ${verb} ${what}; exempt this account, or change what the policy checks`;
  switch (code) {
    case 'Forbidden':
      return isOfRole(status)
        ? `the operator's role does not allow "${verb}" on ${what}${remedyOf(verb, address)}`
        : `an admission rule or a quota refused to ${verb} ${what}`;
    case 'Unauthorized':
      return `the Kubernetes API server did not accept the operator's credentials (${verb} ${what}); renew the service-account token or kubeconfig`;
    case 'NotFound':
      return address.name === undefined
        ? `the Kubernetes API server does not know ${what}; install the CRD`
        : `${what} does not exist`;
    case 'Conflict':
      return `${what} was changed by another client since it was read`;
    case 'FieldConflict':
      return `another manager owns fields of ${what}${fieldsOf(details)}`;
    case 'AlreadyExists':
      return `${what} exists already`;
    case 'Gone':
      return `the resourceVersion for ${what} is too old`;
    case 'TooManyRequests':
      return `the Kubernetes API server limits the rate of requests (${verb} ${what}); check its load and its flow schemas`;
    case 'NamespaceTerminating':
      return `namespace ${address.namespace ?? ''} is being deleted; nothing can be created in it`;
    case 'Invalid':
      return `the Kubernetes API server refused to ${verb} ${what}${fieldsOf(details)}`;
    default:
      if (httpStatus === 404) {
        const served = apiVersionOf(address.resource);
        return `ambiguous 404 for ${what}: ${served} is not served, or a proxy answered`;
      }
      return `the Kubernetes API server failed to ${verb} ${what} (HTTP ${httpStatus})`;
  }
}

/** A role for some namespaces needs their names. */
function remedyOf(verb: Verb, { namespace, name }: ObjectAddress): string {
  const isEverywhere = namespace === undefined && name === undefined && (verb === 'list' || verb === 'watch');
  return isEverywhere
    ? ' in all namespaces; add the verb to its ClusterRole, or name the namespaces of its Roles with --watch-namespaces'
    : '; add the verb to its Role or ClusterRole';
}

function hasCause(details: JsonRecord, reason: string): boolean {
  const causes = details['causes'];
  return Array.isArray(causes) && causes.some((cause) => isRecord(cause) && cause['reason'] === reason);
}

/** Paths of the invalid fields; a path may hold a map's key, so only plain ones are shown. */
function fieldsOf(details: JsonRecord): string {
  const causes = Array.isArray(details['causes']) ? details['causes'] : [];
  const fields = causes
    .map((cause: unknown) => (isRecord(cause) ? textAt(cause, 'field') : undefined))
    .filter((field) => field !== undefined && /^[A-Za-z0-9_.[\]-]{1,120}$/.test(field));
  return fields.length === 0 ? '' : `: check ${[...new Set(fields)].slice(0, 5).join(', ')}`;
}

/** What the API server's apply names as the reason of a conflict over a field. */
const fieldConflict = 'FieldManagerConflict';
const mostOwnedFields = 8;

/** A cause reads `conflict with "kustomize-controller" using helm.toolkit.fluxcd.io/v2`. */
function ownedFieldsOf(details: JsonRecord): readonly OwnedField[] {
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isRecord) : [];
  return causes.slice(0, mostOwnedFields).flatMap((cause) => {
    const manager = /^conflict with "([^"]{1,128})"/.exec(textAt(cause, 'message') ?? '')?.[1];
    const field = textAt(cause, 'field');
    if (manager === undefined || field === undefined) return [];
    return [{ manager: printable(manager, 128), field: printable(field, 256) }];
  });
}

function secondsOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value * 1000 : undefined;
}
