// The names under which agents may reach the site: what `Host` and `Origin` of a request may say. A page of another site whose name was
// made to resolve to this server (DNS rebinding) names itself in both. Pure. Compares names as they are written, and refuses
// to resolve or to normalize them: two readers of one name could differ. Invariant: a forwarded name counts nowhere.

import { FlagValueError } from '#platform/runtime/flags/flag-kinds.ts';

/** A name of `--mcp-hosts`. */
export interface OwnHost {
  /** Lower case, without port and without the dot that may end it; addresses of IPv6 in brackets. */
  readonly name: string;
  /** `*.example.com`: every name that ends in `.example.com`. */
  readonly isWildcard: boolean;
  /** With which the cards name the endpoint. */
  readonly scheme: 'http' | 'https';
}

const plainHost = (name: string): OwnHost => ({ name, isWildcard: false, scheme: 'http' });

/** No other site can have these names: they lead to the machine of the caller. */
const localHosts: readonly OwnHost[] = ['localhost', '127.0.0.1', '[::1]'].map(plainHost);

const entryForm =
  /^(?:(https?):\/\/)?(\*\.)?([a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** @param text `docs.example.com`, `*.example.com`, `http://docs.docs.svc`; a port counts nowhere. @throws {FlagValueError} */
export function readOwnHost(text: string): OwnHost {
  const [, scheme, wildcard, name] = entryForm.exec(text) ?? [];
  if (name === undefined || name.includes('..')) {
    throw new FlagValueError('must be names of the site, such as docs.example.com or http://docs.docs.svc');
  }
  return {
    name: name.toLowerCase(),
    isWildcard: wildcard !== undefined,
    scheme: scheme?.toLowerCase() === 'http' ? 'http' : 'https',
  };
}

/**
 * @param hosts of `--mcp-hosts`; the names of the local machine are always among them
 * @param field value of `Host`
 * @returns `undefined` for a name of another site
 */
export function findOwnHost(hosts: readonly OwnHost[], field: string | undefined): OwnHost | undefined {
  const name = hostNameOf(field ?? '');
  return name === undefined ? undefined : [...hosts, ...localHosts].find((host) => isNamed(host, name));
}

/** @param field value of `Origin`; a request that is no browser's has none */
export function isOwnOrigin(hosts: readonly OwnHost[], field: string | undefined): boolean {
  if (field === undefined) return true;
  const [, authority] = /^https?:\/\/([^/?#@\s,]+)$/i.exec(field) ?? [];
  return authority !== undefined && findOwnHost(hosts, authority) !== undefined;
}

/**
 * @param authority of an address that an agent gives
 * @param field value of `Host` of its call: the site is at its port, and at those of HTTP and HTTPS
 */
export function isOwnAuthority(hosts: readonly OwnHost[], authority: string, field: string): boolean {
  const port = portOf(authority);
  const isOwnPort = port === '' || port === '80' || port === '443' || port === portOf(field);
  return isOwnPort && findOwnHost(hosts, authority) !== undefined;
}

const portOf = (authority: string): string => /:(\d{1,5})$/.exec(authority)?.[1] ?? '';

const fieldForm = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_.-]{1,254})(?::\d{0,5})?$/i;

function hostNameOf(field: string): string | undefined {
  const [, name] = fieldForm.exec(field) ?? [];
  // One dot at the end names the same host; two do not.
  return name?.toLowerCase().replace(/(?<=[^.])\.$/, '');
}

function isNamed({ name, isWildcard }: OwnHost, asked: string): boolean {
  return isWildcard ? asked.length > name.length + 1 && asked.endsWith(`.${name}`) : asked === name;
}
