// What a client reads before it connects: the card of this server, and the catalog that names the card. Pure. Refuses to name more than
// how to connect: no version of the content and no tool, which the connection tells. Invariant: a card names the host that it was asked under.

import { createHash } from 'node:crypto';
import { version } from '#platform/runtime/version.ts';
import { cardPath, endpointPath } from './mcp-places.ts';
import { protocolVersions } from './mcp-task.ts';
import type { OwnHost } from './own-hosts.ts';

export interface CardContext {
  /** That the caller's `Host` names. */
  readonly own: OwnHost;
  /** Value of `Host`. */
  readonly host: string;
  readonly basePath: string;
  readonly needsToken: boolean;
}

export interface CardText {
  readonly contentType: string;
  readonly text: string;
  readonly entityTag: string;
}

const schema = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';
const cardType = 'application/mcp-server-card+json';

/** In the form of reverse domains that cards require: `com.example.docs/documentation`. @param host value of `Host` */
export function serverNameOf(host: string): string {
  const name = host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
  const isName = /^[a-z0-9.-]+$/.test(name) && !/^[\d.]+$/.test(name);
  const domain = isName ? name.split('.').reverse().join('.') : name.replace(/[^a-z0-9.]+/g, '-');
  return `${domain.slice(0, 180)}/documentation`;
}

/** After `schema.ts` of the extension that `mcp-places.ts` names. */
export function serverCard(context: CardContext): CardText {
  const { needsToken } = context;
  const token = {
    name: 'Authorization',
    description: 'Bearer and the token of this site',
    isRequired: true,
    isSecret: true,
  };
  return cardText(cardType, {
    $schema: schema,
    name: serverNameOf(context.host),
    version,
    description: 'Search and read the pages of this documentation site.',
    remotes: [
      {
        type: 'streamable-http',
        url: addressOf(context, endpointPath),
        ...(needsToken ? { headers: [token] } : {}),
        supportedProtocolVersions: protocolVersions,
      },
    ],
  });
}

export function aiCatalog(context: CardContext): CardText {
  const domain = context.host.toLowerCase().replace(/:\d*$/, '');
  return cardText('application/ai-catalog+json', {
    specVersion: '1.0',
    entries: [
      {
        identifier: `urn:air:${domain.replace(/[^a-z0-9.-]+/g, '-')}:mcp:documentation`,
        type: cardType,
        url: addressOf(context, cardPath),
      },
    ],
  });
}

function addressOf({ own, host, basePath }: CardContext, path: string): string {
  return `${own.scheme}://${host}${encodeURI(basePath)}${path}`;
}

function cardText(contentType: string, card: object): CardText {
  const text = `${JSON.stringify(card, undefined, 2)}\n`;
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  return { contentType, text, entityTag: `"${hash}"` };
}
