// The environment of the site chart's docs/air-gap.md: a registry of the company inside the cluster's network, and the
// folder of the person who follows the page. Runs the page's own commands as its shell would. Invariant: readers, and so
// all pods, reach a registry that takes no write; only the import reaches the one that does.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse, stringify } from 'yaml';
import type { ChildProgram } from '../support/child-program.ts';
import { findClusterTools } from '../support/cluster-tools.ts';
import { writeRegistryConfig } from '../support/docker-registry.ts';
import { eventuallyInCluster } from '../support/eventually.ts';
import { productImage } from '../support/image/test-images.ts';
import { minisignKeys } from '../support/minisign-keys.ts';
import type { TestNodes } from '../support/node/node.ts';
import { createAuthority } from '../support/pki.ts';
import { programFile } from '../support/program-file.ts';
import { type TarFiles, tarOf } from '../support/tar-builder.ts';

const project = resolve(import.meta.dirname, '../..');
const page = join(project, 'charts/static-export-site/docs/air-gap.md');
const host = 'registry.example.com';
const reader = { user: 'reader', password: 'of-the-pods', address: '10.88.0.11' };
const writer = { user: 'writer', password: 'of-the-import', address: '10.88.0.12' };

/** What an import prints for the values of a release. */
export interface ImportedBundle {
  readonly ref: string;
  readonly digest: string;
}

export interface Gap {
  /**
   * Runs every command under a heading of the page, in its order.
   * @returns what they printed @throws Error at the first that fails
   */
  follow(heading: string, part: CommandPart): Promise<string>;
  /** What the address has that the page says to open while a command of it runs. */
  openWhile(heading: string, part: CommandPart, path: string): Promise<string>;
  /** Writes the page's values for a bundle with what its import printed. */
  writeBundleValues(file: string, printed: string): Promise<ImportedBundle>;
  /** Status code of an upload with the login of the pods. */
  uploadAsReader(): Promise<string>;
  /** Bytes of a file in the folder of the commands. */
  sizeOf(name: string): Promise<number>;
  /** The registry of the pods is away during the work. */
  withoutRegistry(work: () => Promise<void>): Promise<void>;
}

/** Which blocks of commands of a heading, as for `slice`. */
export type CommandPart = readonly [from: number, to: number];

/** Starts the registry and prepares the folder; creates nothing in the cluster. */
export async function prepareGap(nodes: TestNodes): Promise<Gap> {
  const folder = join(nodes.folder, 'gap');
  await mkdir(folder);
  const authority = await createAuthority();
  await writeFile(join(folder, 'company-ca.pem'), authority.certificatePem);
  const tls = await authority.issueServer({ dns: [host], ips: [] });

  const serve = async (login: typeof reader, isReadOnly: boolean): Promise<() => Promise<ChildProgram>> => {
    const own = join(nodes.folder, `registry-of-${login.user}`);
    await mkdir(own);
    // One storage behind both.
    await symlink(join(nodes.folder, 'registry-storage'), join(own, 'storage'));
    const options = { users: { [login.user]: login.password }, isReadOnly, tls };
    const config = await writeRegistryConfig(own, `${login.address}:443`, options);
    return async () => {
      const program = nodes.start(['docker-registry', 'serve', config]);
      await eventuallyInCluster(`the registry of ${login.user} listens`, async () => {
        if (program.hasExited()) throw new Error(`docker-registry ended:\n${program.tail()}`);
        const { code } = await nodes.run(['curl', '--silent', '--insecure', `https://${login.address}/v2/`]);
        return code === 0 || undefined;
      });
      return program;
    };
  };
  await mkdir(join(nodes.folder, 'registry-storage'));
  await (await serve(writer, false))();
  const serveReaders = await serve(reader, true);
  let readers = await serveReaders();

  await writeInputs(folder);
  const shell = await prepareShell(nodes, folder);
  const blocks = await readBlocks();
  const scriptsOf = (heading: string, [from, to]: CommandPart): readonly Block[] => {
    const scripts = blocks.filter((block) => block.language === 'sh' && block.heading === heading);
    assert.ok(
      scripts.length >= to,
      `"${heading}" of docs/air-gap.md has ${scripts.length} blocks of commands`,
    );
    return scripts.slice(from, to);
  };
  return {
    follow: async (heading, part) => {
      const outputs: string[] = [];
      for (const { text } of scriptsOf(heading, part)) outputs.push(await shell(text));
      return outputs.join('\n');
    },
    openWhile: async (heading, part, path) => {
      const [script] = scriptsOf(heading, part);
      const { text = '' } = script ?? {};
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(await readFile(page, 'utf8')) ?? [];
      assert.ok(text !== '' && address !== undefined, 'docs/air-gap.md shows no address to open');
      const patience = '--retry 120 --retry-delay 1 --retry-connrefused';
      const open = `curl --silent --fail ${patience} '${address}${path}'`;
      return shell(`${text.trimEnd()} >/dev/null & trap 'kill $!' EXIT; ${open}`);
    },
    writeBundleValues: async (file, printed) => {
      const [ref] = /oci:\/\/\S+@sha256:[0-9a-f]{64}/.exec(printed) ?? [];
      const [digest] = /(?<![\w:])[0-9a-f]{64}/.exec(printed) ?? [];
      assert.ok(ref !== undefined && digest !== undefined, printed);
      const number = /\d/.exec(file)?.[0];
      const values = blocks.find(({ text }) => text.includes(`DIGEST_OF_BUNDLE_${number}`))?.text;
      assert.ok(values !== undefined, `docs/air-gap.md shows no ${file}`);
      const hash = ref.split('@sha256:')[1] ?? '';
      const filled = values.replace(/REF_OF_BUNDLE_\d/, hash).replace(/DIGEST_OF_BUNDLE_\d/, digest);
      assert.equal(parse(filled).staticExport.ref, ref);
      await writeFile(join(folder, file), filled);
      return { ref, digest };
    },
    uploadAsReader: async () => {
      const upload = ['curl', '--silent', '--output', '/dev/null', '--write-out', '%{http_code}'];
      const login = [
        '--user',
        `${reader.user}:${reader.password}`,
        '--cacert',
        join(folder, 'company-ca.pem'),
      ];
      const to = ['--resolve', `${host}:443:${reader.address}`, '--request', 'POST'];
      const { stdout } = await nodes.run([
        ...upload,
        ...login,
        ...to,
        `https://${host}/v2/docs/blobs/uploads/`,
      ]);
      return stdout;
    },
    sizeOf: async (name) => (await readFile(join(folder, name))).byteLength,
    withoutRegistry: async (work) => {
      await readers.stop();
      try {
        await work();
      } finally {
        readers = await serveReaders();
      }
    },
  };
}

/** What the page takes for granted: archives, keys, logins, the charts, and values with this test's image and address. */
async function writeInputs(folder: string): Promise<void> {
  const picture = randomBytes(512 * 1024);
  for (const [at, words] of ['first words', 'second words'].entries()) {
    await writeFile(join(folder, `site-${at + 1}.tar.gz`), gzipSync(tarOf(siteOf(words, picture))));
  }
  const keys = await minisignKeys();
  await writeFile(join(folder, 'kit.key'), keys.secretText);
  await writeFile(join(folder, 'kit.pub'), keys.publicText);
  await mkdir(join(folder, 'writer'));
  await writeFile(join(folder, 'writer/username'), writer.user);
  await writeFile(join(folder, 'writer/password'), writer.password);
  await symlink(join(project, 'charts'), join(folder, 'charts'));
  const shared = (await readBlocks()).find(({ text }) => text.startsWith('site:'));
  assert.ok(shared !== undefined, 'docs/air-gap.md shows no site.yaml');
  const { server, ...values } = parse(shared.text);
  // No name service of a company here, and nodes import images from files.
  const hostAliases = [{ ip: reader.address, hostnames: [host] }];
  const image = { ...productImage, pullPolicy: 'Never' };
  await writeFile(
    join(folder, 'site.yaml'),
    stringify({ ...values, server: { ...server, image, hostAliases } }),
  );
}

function siteOf(words: string, picture: Buffer): TarFiles {
  const html = (text: string): string => `<!doctype html><title>Docs</title><body>${text}</body>\n`;
  const guides = Array.from({ length: 12 }, (_, at) => [`guide-${at}.html`, html(`${words} ${at}`)]);
  return { 'index.html': html(words), ...Object.fromEntries(guides), 'picture.png': picture };
}

/** @returns runs a script in the cluster's network, where the registry's name leads to the one for writes */
async function prepareShell(nodes: TestNodes, folder: string): Promise<(script: string) => Promise<string>> {
  const bin = join(nodes.folder, 'gap-bin');
  await mkdir(bin);
  const tools = await findClusterTools();
  const commands = {
    kubectl: tools.kubectl,
    helm: tools.helm,
    'static-export': `${process.execPath} ${programFile('static-export')}`,
  };
  for (const [name, command] of Object.entries(commands)) {
    await writeFile(join(bin, name), `#!/bin/sh\nexec ${command} "$@"\n`);
    await chmod(join(bin, name), 0o755);
  }
  const hosts = join(nodes.folder, 'gap-hosts');
  await writeFile(hosts, `127.0.0.1 localhost\n${writer.address} ${host}\n`);
  // The mount ends with the shell, whose namespace holds it.
  const inside = 'mount --bind "$1" /etc/hosts && cd "$2" && exec sh -ceu "$3"';
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    KUBECONFIG: nodes.kubeconfig,
    PASSWORD: reader.password,
  };
  return async (script) => {
    const command = ['unshare', '--mount', 'sh', '-ceu', inside, 'sh', hosts, folder, script];
    const { code, stdout, stderr } = await nodes.run(command, { env });
    if (code !== 0) throw new Error(`ended with ${code}:\n${script}\n${stderr}${stdout}`);
    return stdout;
  };
}

interface Block {
  readonly heading: string;
  readonly language: string;
  readonly text: string;
}

async function readBlocks(): Promise<readonly Block[]> {
  const text = await readFile(page, 'utf8');
  return text
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const [heading = ''] = section.split('\n', 1);
      const blocks = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
      return blocks.map(([, language = '', block = '']) => ({ heading, language, text: block }));
    });
}
