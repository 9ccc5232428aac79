// The Kubernetes API server as tests read and write it: requests on connections that stay open, with one user's certificate.
// A kubectl process costs a hundred times as much. Where kubectl is the subject of a test, the test runs kubectl.
// Kinds are named as for kubectl; which path serves them is what the server's own discovery says.

import { createInterface } from 'node:readline';
import { Agent, request } from 'undici';
import { eventuallyInCluster } from './eventually.ts';

/** What a server sent, as `JSON.parse` gives it: the test that reads it knows its shape. */
export type Json = ReturnType<typeof JSON.parse>;

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export interface KubeApi {
  /** @throws Error with the reason and the message of the server */
  read(kind: string, name: string, namespace?: string): Promise<Json>;
  /** Its items. Without a namespace, of all namespaces. */
  list(kind: string, namespace?: string, selector?: string): Promise<Json>;
  /** By JSON merge patch, or by JSON patch where the change is a list. */
  patch(
    kind: string,
    name: string,
    change: object,
    where?: { readonly namespace?: string; readonly subresource?: string },
  ): Promise<Json>;
  /** As kubectl asks for it: an unknown field is refused. */
  create(object: object, isDryRun?: boolean): Promise<void>;
  /** One after another, server-side, as `kubectl apply --server-side --force-conflicts` does it. */
  apply(objects: readonly object[], fieldManager?: string): Promise<void>;
  /** Does not wait for finalizers. */
  remove(kind: string, name: string, namespace?: string): Promise<void>;
  /** Of a kind in a namespace, all. */
  removeAll(kind: string, namespace: string): Promise<void>;
  /** A token of a service account, valid for an hour or until the Secret that it is bound to is deleted. */
  createToken(account: string, namespace: string, boundTo?: string): Promise<string>;
  /** The objects that exist and each later state, until the server ends the watch or the signal aborts. */
  watch(
    kind: string,
    namespace: string | undefined,
    onObject: (object: Json) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Waits until every custom resource is served, and discovery shows it. */
  awaitDefinitions(): Promise<void>;
  close(): Promise<void>;
}

export interface ApiUser {
  readonly server: string;
  readonly caPem: string;
  readonly certificatePem: string;
  readonly keyPem: string;
}

interface ServedKind {
  /** Below the server: `/apis/GROUP/VERSION`. */
  readonly root: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

interface DiscoveredGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly version: string;
    readonly resources: readonly {
      readonly resource: string;
      readonly responseKind: { readonly kind: string };
      readonly scope: 'Namespaced' | 'Cluster';
      readonly singularResource: string;
      readonly shortNames?: readonly string[];
    }[];
  }[];
}

const discovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export function openKubeApi({ server, caPem, certificatePem, keyPem }: ApiUser): KubeApi {
  const dispatcher = new Agent({ connect: { ca: caPem, cert: certificatePem, key: keyPem }, connections: 8 });
  let kinds: Promise<ReadonlyMap<string, ServedKind>> | undefined;

  async function call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    type = 'application/json',
    accept = 'application/json',
  ): Promise<Json> {
    const response = await request(`${server}${path}`, {
      method,
      dispatcher,
      headers: { accept, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: escapeForYaml(JSON.stringify(body)) }),
    });
    const text = await response.body.text();
    if (response.statusCode < 300) return JSON.parse(text);
    throw new Error(`${method} ${path}: ${describe(response.statusCode, text)}`);
  }

  async function discover(): Promise<ReadonlyMap<string, ServedKind>> {
    const found = new Map<string, ServedKind>();
    for (const root of ['/api', '/apis']) {
      const groups: { readonly items: readonly DiscoveredGroup[] } = await call(
        'GET',
        root,
        undefined,
        undefined,
        discovery,
      );
      for (const group of groups.items) addGroup(found, root, group);
    }
    return found;
  }

  /** Discovery is read again for what it did not have: a definition may be new. */
  async function kindOf(name: string): Promise<ServedKind> {
    for (const isLast of [false, true]) {
      kinds ??= discover();
      const found = (await kinds).get(name.toLowerCase());
      if (found !== undefined) return found;
      kinds = undefined;
      if (isLast) break;
    }
    throw new Error(`the server doesn't have a resource type "${name}"`);
  }

  async function pathOf(kind: string, namespace: string | undefined, name?: string): Promise<string> {
    const { root, plural, isNamespaced } = await kindOf(kind);
    const where = isNamespaced && namespace !== undefined ? `/namespaces/${namespace}` : '';
    return `${root}${where}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
  }

  const isKubeObject = (object: object): object is KubeObject => 'kind' in object && 'metadata' in object;
  /** The object's kind with its group, which two groups of one kind need. */
  function addressOf(object: object): Parameters<typeof pathOf> {
    if (!isKubeObject(object)) throw new Error('not an object of Kubernetes');
    const { apiVersion, kind, metadata } = object;
    return [`${apiVersion}/${kind}`, metadata.namespace ?? 'default', metadata.name];
  }

  const api: KubeApi = {
    read: async (kind, name, namespace) => call('GET', await pathOf(kind, namespace ?? 'default', name)),
    list: async (kind, namespace, selector) => {
      const query = selector === undefined ? '' : `?labelSelector=${encodeURIComponent(selector)}`;
      return (await call('GET', `${await pathOf(kind, namespace)}${query}`)).items;
    },
    patch: async (kind, name, change, { namespace = 'default', subresource } = {}) => {
      const type = Array.isArray(change) ? 'application/json-patch+json' : 'application/merge-patch+json';
      const path = await pathOf(kind, namespace, name);
      return call('PATCH', subresource === undefined ? path : `${path}/${subresource}`, change, type);
    },
    create: async (object, isDryRun = false) => {
      const [kind, namespace] = addressOf(object);
      const query = `fieldValidation=Strict${isDryRun ? '&dryRun=All' : ''}`;
      await call('POST', `${await pathOf(kind, namespace)}?${query}`, object);
    },
    apply: async (objects, fieldManager = 'kubectl') => {
      for (const object of objects) {
        const path = await pathOf(...addressOf(object));
        const query = `fieldManager=${fieldManager}&force=true`;
        await call('PATCH', `${path}?${query}`, object, 'application/apply-patch+yaml');
      }
    },
    remove: async (kind, name, namespace) => {
      await call('DELETE', await pathOf(kind, namespace ?? 'default', name));
    },
    removeAll: async (kind, namespace) => {
      await call('DELETE', await pathOf(kind, namespace));
    },
    createToken: async (account, namespace, boundTo) => {
      const spec =
        boundTo === undefined ? {} : { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: boundTo } };
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
      return (
        await call('POST', path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec })
      ).status.token;
    },
    watch: async (kind, namespace, onObject, signal) => {
      const path = `${await pathOf(kind, namespace)}?watch=true`;
      const response = await request(`${server}${path}`, { dispatcher, signal, bodyTimeout: 0 });
      if (response.statusCode !== 200)
        throw new Error(describe(response.statusCode, await response.body.text()));
      const lines = createInterface({ input: response.body, crlfDelay: Number.POSITIVE_INFINITY });
      for await (const line of lines) {
        const { type, object } = JSON.parse(line);
        if (type === 'ADDED' || type === 'MODIFIED') onObject(object);
      }
    },
    awaitDefinitions: async () => {
      await eventuallyInCluster(
        'served definitions',
        async () => {
          const definitions: readonly Definition[] = await api.list('customresourcedefinitions');
          kinds = discover();
          for (const { metadata } of definitions) {
            const served = await kindOf(metadata.name);
            await call('GET', `${served.root}/${served.plural}?limit=1`);
          }
          return true;
        },
        { everyMs: 50 },
      );
    },
    close: () => dispatcher.destroy(),
  };
  return api;
}

interface Definition {
  readonly metadata: { readonly name: string };
}

/** The names by which kubectl knows a kind. The first group with a name has it, as with kubectl. */
function addGroup(found: Map<string, ServedKind>, root: string, group: DiscoveredGroup): void {
  const groupName = group.metadata.name ?? '';
  group.versions.forEach(({ version, resources }, index) => {
    const groupVersion = groupName === '' ? version : `${groupName}/${version}`;
    for (const { resource: plural, responseKind, scope, singularResource, shortNames = [] } of resources) {
      const served = { root: `${root}/${groupVersion}`, plural, isNamespaced: scope === 'Namespaced' };
      found.set(`${groupVersion}/${responseKind.kind}`.toLowerCase(), served);
      // The first version is the one that the server prefers.
      const names = [plural, singularResource, responseKind.kind.toLowerCase(), ...shortNames];
      for (const name of index === 0 ? [...names, `${plural}.${groupName}`] : []) {
        if (!found.has(name)) found.set(name, served);
      }
    }
  });
}

/** As kubectl prints a refusal: `Error from server (NotFound): …`. */
function describe(status: number, text: string): string {
  try {
    const { reason, message } = JSON.parse(text);
    return `Error from server (${reason}): ${message}`;
  } catch {
    return `${status} ${text}`;
  }
}

/** The API server reads what is applied as YAML, which admits fewer characters than JSON. */
export function escapeForYaml(text: string): string {
  return text.replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
