// A release in a real registry: pushed once, read by the real helm, pushed again without a write, and refused where a version
// would get other bytes. What the registry stores is compared file by file.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { type PushOptions, pushRelease } from '../../../packaging/push/push-release.ts';
import { chartNames } from '../../../packaging/release/release-files.ts';
import { findClusterTools } from '../../support/cluster-tools.ts';
import { mustRun, runCommand } from '../../support/command.ts';
import { type DockerRegistry, noRegistry, startDockerRegistry } from '../../support/docker-registry.ts';
import { makeSmallRelease, releaseSeconds, type SmallRelease } from '../../support/small-release.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const indexType = 'application/vnd.oci.image.index.v1+json';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const project = resolve(import.meta.dirname, '../../..');
const password = 'a-password-of-this-test';

suite('a release in a registry', { skip: noRegistry }, () => {
  let server: DockerRegistry;
  let registry: string;
  const logins = temporaryFolder();
  const env = { DOCKER_CONFIG: logins };
  before(async () => {
    server = await startDockerRegistry({ users: { releases: password } });
    const auth = Buffer.from(`releases:${password}`).toString('base64');
    await writeFile(join(logins, 'config.json'), JSON.stringify({ auths: { [server.host]: { auth } } }));
  });
  after(() => server?.close());

  const push = (folder: string, more: Partial<PushOptions> = {}): Promise<string> =>
    pushRelease({ folder, registry, env, isPlainHttp: true, ...more });
  const release = (t: TestContext, version: string, more: Partial<SmallRelease> = {}): Promise<string> =>
    makeSmallRelease(temporaryFolder(t), { registry, version, ...more });
  /** A place of its own for each test. */
  const inPlace = (name: string): void => {
    registry = `${server.host}/${name}`;
  };
  const helm = async (...args: readonly string[]): Promise<string> =>
    mustRun([(await findClusterTools()).helm, ...args], {
      env: { HELM_REGISTRY_CONFIG: join(logins, 'config.json') },
    });
  const fetched = (path: string): Promise<Response> =>
    fetch(`http://${server.host}/v2/${registry.slice(server.host.length + 1)}/${path}`, {
      headers: {
        accept: `${indexType}, ${manifestType}`,
        authorization: `Basic ${Buffer.from(`releases:${password}`).toString('base64')}`,
      },
    });
  const manifestOf = async (path: string): Promise<string> => (await fetched(path)).text();
  /** Every file of the storage with the time of its last write. */
  const stored = async (): Promise<readonly string[]> => {
    const names = await readdir(join(server.folder, 'storage'), { recursive: true }).catch(() => []);
    const lines = names.sort().map(async (name) => {
      const { mtimeMs, isFile } = await stat(join(server.folder, 'storage', name)).then((one) => ({
        mtimeMs: one.mtimeMs,
        isFile: one.isFile(),
      }));
      return isFile ? `${name} ${mtimeMs}` : '';
    });
    return Promise.all(lines);
  };

  test("image and charts have their tags, and the README's commands install the charts by their address alone", async (t) => {
    inPlace('first/exports');
    const folder = await release(t, '0.1.0');
    const said = await push(folder);
    assert.match(
      said,
      new RegExp(`^pushed to ${registry}\n  image ${registry}/static-export-operator:0.1.0\n`),
    );
    const index = JSON.parse(await manifestOf('static-export-operator/manifests/0.1.0'));
    assert.equal(index.mediaType, indexType);
    for (const one of index.manifests) {
      const manifest = JSON.parse(await manifestOf(`static-export-operator/manifests/${one.digest}`));
      for (const { digest } of [manifest.config, ...manifest.layers]) {
        const answer = await fetched(`static-export-operator/blobs/${digest}`);
        const bytes = Buffer.from(await answer.arrayBuffer());
        assert.equal(`sha256:${hash('sha256', bytes, 'hex')}`, digest);
      }
    }
    assert.equal(index.manifests.length, 2);
    for (const name of ['static-export-operator', ...chartNames.map((chart) => `charts/${chart}`)]) {
      const [version, minor] = ['0.1.0', '0.1'].map((tag) => manifestOf(`${name}/manifests/${tag}`));
      assert.equal(await minor, await version, name);
    }
    const readme = await readFile(join(project, 'README.md'), 'utf8');
    const commands = [
      ...readme.replaceAll(/\\\n\s*/g, '').matchAll(/^helm install \S+ "\$CHARTS\/(\S+)" (.*)$/gm),
    ];
    assert.match(readme, /^CHARTS=oci:\/\/\$REGISTRY\/charts$/m);
    assert.deepEqual(
      commands.map(([, chart]) => chart),
      [...chartNames],
    );
    for (const name of chartNames) {
      const address = `oci://${registry}/charts/${name}`;
      for (const version of [[], ['--version=0.1'], ['--version=0.1.0']]) {
        const into = temporaryFolder(t);
        await helm('pull', address, '--plain-http', '--destination', into, ...version);
        const [file = ''] = await readdir(into);
        const pulled = await readFile(join(into, file));
        assert.ok(pulled.equals(await readFile(join(folder, `${name}-0.1.0.tgz`))), `${name} ${version}`);
      }
      assert.equal(parse(await helm('show', 'chart', address, '--plain-http')).version, '0.1.0');
      const shown = await helm('show', 'readme', address, '--plain-http');
      assert.match(shown, new RegExp(`^helm install \\S+ ${address} `, 'm'));
      assert.doesNotMatch(shown, / charts\/static-export|No public registry/);
      const [flags = ''] = commands.flatMap(([, chart, found]) => (chart === name ? (found ?? []) : []));
      const args = ['template', 'docs', address, '--plain-http'];
      const { helm: program } = await findClusterTools();
      const place = { ...env, HELM_REGISTRY_CONFIG: join(logins, 'config.json'), DOMAIN: 'docs.example.com' };
      const rendered = await mustRun(['sh', '-euc', `exec "$@" ${flags}`, 'sh', program, ...args], {
        env: place,
      });
      const images = [...rendered.matchAll(/^\s+(?:- )?image: "?([^"\s]+)"?$/gm)].map(([, image]) => image);
      assert.ok(images.length > 0);
      assert.deepEqual([...new Set(images)], [`${registry}/static-export-operator:0.1.0`]);
    }
  });

  test('a second push finds nothing to do, and writes nothing', async (t) => {
    inPlace('second');
    const folder = await release(t, '0.1.0');
    await push(folder);
    const before = await stored();
    assert.match(
      await push(folder),
      new RegExp(`^nothing to do: ${registry} has this release, byte for byte\n`),
    );
    assert.deepEqual(await stored(), before);
  });

  test('a chart is the same artifact as helm pushes', async (t) => {
    inPlace('own');
    const folder = await release(t, '0.1.0');
    await push(folder);
    for (const name of chartNames) {
      const own = await manifestOf(`charts/${name}/manifests/0.1.0`);
      const archive = join(folder, `${name}-0.1.0.tgz`);
      await utimes(archive, releaseSeconds, releaseSeconds);
      const { helm: program } = await findClusterTools();
      const place = { HELM_REGISTRY_CONFIG: join(logins, 'config.json'), TZ: 'UTC' };
      await mustRun([program, 'push', archive, `oci://${registry}/of-helm`, '--plain-http'], { env: place });
      assert.equal(own, await manifestOf(`of-helm/${name}/manifests/0.1.0`));
    }
  });

  test('other bytes of a version are refused with the tag and both digests, and nothing is written', async (t) => {
    inPlace('refused');
    await push(await release(t, '0.1.0'));
    const before = await stored();
    const other = await release(t, '0.1.0', { variant: '\nicon: https://docs.example.com/icon.svg\n' });
    const digest = `sha256:${hash('sha256', await manifestOf('static-export-operator/manifests/0.1.0'), 'hex')}`;
    await assert.rejects(push(other), ({ message }: Error) => {
      assert.match(message, /^Nothing was pushed, because a version never gets other bytes:\n/);
      for (const name of ['static-export-operator', ...chartNames.map((chart) => `charts/${chart}`)])
        assert.ok(message.includes(`  ${registry}/${name}:0.1.0\n`), message);
      assert.ok(message.includes(`in the registry  ${digest}\n    in this release  sha256:`), message);
      return true;
    });
    assert.deepEqual(await stored(), before);
  });

  test('one chart with other bytes keeps a new image out, too', async (t) => {
    inPlace('partly');
    const other = await release(t, '0.1.0', { variant: '\nicon: https://docs.example.com/icon.svg\n' });
    const chart = join(other, 'static-export-site-0.1.0.tgz');
    const { helm: program } = await findClusterTools();
    const place = { HELM_REGISTRY_CONFIG: join(logins, 'config.json') };
    await mustRun([program, 'push', chart, `oci://${registry}/charts`, '--plain-http'], { env: place });
    const before = await stored();
    await assert.rejects(push(await release(t, '0.1.0')), /charts\/static-export-site:0\.1\.0\n/);
    assert.deepEqual(await stored(), before);
  });

  test('a minor version follows the newest release, and no prerelease', async (t) => {
    inPlace('minor');
    const digestAt = async (tag: string): Promise<string> =>
      hash('sha256', await manifestOf(`charts/static-export-site/manifests/${tag}`), 'hex');
    const [first, second, candidate] = [
      await release(t, '0.1.0'),
      await release(t, '0.1.1'),
      await release(t, '0.1.2-rc.1'),
    ];
    assert.match(await push(second), /; 0\.1 names it now\n/);
    assert.match(await push(first), /; 0\.1 stays at 0\.1\.1\n/);
    assert.match(await push(candidate), /; a prerelease gets no further tag\n/);
    assert.equal(await digestAt('0.1'), await digestAt('0.1.1'));
    const third = await release(t, '0.1.2');
    assert.match(await push(third), /; 0\.1 names it now\n/);
    assert.equal(await digestAt('0.1'), await digestAt('0.1.2'));
    const before = await stored();
    assert.match(await push(first), /^nothing to do: /);
    assert.deepEqual(await stored(), before);
  });

  test('a push that was interrupted goes on', async (t) => {
    inPlace('interrupted');
    const folder = await release(t, '0.1.0');
    await push(folder);
    const links = join(server.folder, 'storage/docker/registry/v2/repositories/interrupted');
    await rm(join(links, 'charts/static-export-site'), { recursive: true });
    await rm(join(links, 'static-export-operator/_manifests/tags/0.1'), { recursive: true });
    const said = await push(folder);
    assert.match(said, /static-export-operator:0\.1\.0\n {8}\S+\n {8}is there already; 0\.1 names it now\n/);
    assert.match(said, /static-export-site:0\.1\.0\n {8}\S+\n {8}pushed, /);
    assert.match(await push(folder), /^nothing to do: /);
  });

  test('a release for another registry, or with changed files, is refused before the first request', async (t) => {
    inPlace('checked');
    const env = { HTTP_PROXY: 'http://127.0.0.1:1' };
    const refused = (folder: string): Promise<unknown> =>
      pushRelease({ folder, registry, env, isPlainHttp: true });
    const other = await makeSmallRelease(temporaryFolder(t), {
      registry: 'r.example.com/a',
      version: '0.1.0',
    });
    await assert.rejects(
      refused(other),
      new RegExp(`names the image r\\.example\\.com/a/static-export-operator, .*--registry ${registry}`),
    );
    const folder = await release(t, '0.1.0');
    await appendFile(join(folder, 'image-0.1.0.oci.tar'), 'x');
    await assert.rejects(
      refused(folder),
      /^PushRefusal: image-0\.1\.0\.oci\.tar differs from checksums\.txt/,
    );
    await rm(join(folder, 'image-0.1.0.oci.tar'));
    await assert.rejects(refused(folder), /has no image-0\.1\.0\.oci\.tar\. .*--require-image/);
    const empty = join(folder, 'empty');
    await mkdir(empty);
    await assert.rejects(refused(empty), /has no release/);
  });

  test('credentials that are not valid are named without their value', async (t) => {
    inPlace('denied');
    const folder = await release(t, '0.1.0');
    const wrong = { REGISTRY_USERNAME: 'releases', REGISTRY_PASSWORD: 'not-this-one' };
    await assert.rejects(push(folder, { env: wrong }), ({ message }: Error) => {
      assert.match(message, /returned 401 .*denied\/static-export-operator/);
      assert.doesNotMatch(message, /not-this-one/);
      return true;
    });
    const right = { REGISTRY_USERNAME: 'releases', REGISTRY_PASSWORD: password };
    assert.match(await push(folder, { env: right }), /^pushed to /);
  });

  test('a registry with logins, and one without TLS, are named with what is missing', async (t) => {
    inPlace('missing');
    const folder = await release(t, '0.1.0');
    const home = temporaryFolder(t);
    const places = { HOME: home, XDG_RUNTIME_DIR: home };
    await assert.rejects(push(folder, { env: places }), ({ name, message }: Error) => {
      assert.equal(name, 'PushRefusal');
      const [refusal, ...rows] = message.split('\n');
      assert.match(refusal ?? '', /returned 401 .*: no credentials were sent\. .* No login for \S+ is in:$/);
      assert.deepEqual(rows, [
        `  ${home}/.docker/config.json (does not exist)`,
        `  ${home}/containers/auth.json (does not exist)`,
        `  ${home}/.config/containers/auth.json (does not exist)`,
        `  ${home}/.config/helm/registry/config.json (does not exist)`,
        'Log in, or set REGISTRY_USERNAME and REGISTRY_PASSWORD.',
      ]);
      return true;
    });
    await assert.rejects(
      push(folder, { isPlainHttp: false }),
      /\(ERR_SSL_\w+\)\. .* A registry without TLS needs --plain-http\.$/,
    );
    const { helm: program } = await findClusterTools();
    const config = { HELM_REGISTRY_CONFIG: join(home, '.config/helm/registry/config.json') };
    const login = [program, 'registry', 'login', server.host, '--username=releases', '--password-stdin'];
    await mustRun([...login, '--plain-http'], { env: config, input: password });
    assert.match(await push(folder, { env: places }), /^pushed to /, 'the login of helm is read');
  });

  test('the command pushes a release that another job made, and says so', async (t) => {
    inPlace('command');
    const folder = await release(t, '0.1.0');
    const file = join(project, 'packaging/release/release.ts');
    const command = [process.execPath, file, '--from', folder, '--push', registry, '--plain-http'];
    const first = await runCommand(command, { env });
    assert.deepEqual({ code: first.code, stderr: first.stderr }, { code: 0, stderr: '' });
    assert.match(first.stdout, /^pushed to /);
    assert.match((await runCommand(command, { env })).stdout, /^nothing to do: /);
    const other = await release(t, '0.1.0', { variant: '\nicon: https://docs.example.com/icon.svg\n' });
    const refused = await runCommand([...command.slice(0, 3), other, ...command.slice(4)], { env });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^Nothing was pushed, /);
    assert.doesNotMatch(first.stdout + refused.stderr, new RegExp(password));
  });
});
