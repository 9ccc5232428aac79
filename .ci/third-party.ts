// What the image says of the packages that its programs are made of: a bill of materials for tools (CycloneDX, by npm)
// and notices for people, with the text of each licence. Owns that both name the same packages, and that the same
// sources give the same bytes. Refuses to leave one out: a package that is not to be found is an error.
//
//   node .ci/third-party.ts FOLDER     writes sbom.cdx.json and THIRD-PARTY-NOTICES.txt; packages must be installed

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { referencesShape, withAddresses } from '../packaging/release/software-bill.ts';

const root = resolve(import.meta.dirname, '..');

const manifestShape = z.object({
  name: z.string(),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});
const lockShape = z.object({ packages: z.record(z.string(), z.object({ version: z.string().optional() })) });
const licenceShape = z.union([
  z.object({ license: z.union([z.object({ id: z.string() }), z.object({ name: z.string() })]) }),
  z.object({ expression: z.string() }),
]);
const componentShape = z.looseObject({
  'bom-ref': z.string().optional(),
  name: z.string(),
  version: z.string(),
  licenses: z.array(licenceShape).default([]),
  properties: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
  externalReferences: referencesShape,
});
const billShape = z.looseObject({
  serialNumber: z.string().optional(),
  metadata: z.looseObject({
    timestamp: z.string().optional(),
    component: z.looseObject({ name: z.string() }),
  }),
  components: z.array(componentShape),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).optional() })),
});
export type Bill = z.infer<typeof billShape>;
export type Component = z.infer<typeof componentShape>;

/**
 * Npm's bill, without what differs from one run or machine to the next, and under the project's name, not its folder's.
 * @param tools packages that only run things here and go into no program
 */
export function settleBill(fromNpm: unknown, name: string, tools: readonly string[]): Bill {
  const { serialNumber: _, metadata, components, dependencies, ...bill } = billShape.parse(fromNpm);
  const { timestamp: __, component, ...rest } = metadata;
  const ofDevelopment = new Set(components.filter(isOfDevelopment).map((one) => one['bom-ref']));
  const isListed = (ref: string): boolean =>
    !ofDevelopment.has(ref) && !tools.some((tool) => ref.startsWith(`${tool}@`));
  return {
    ...bill,
    metadata: { ...rest, component: { ...component, name } },
    components: components
      .filter((one) => !isOfDevelopment(one) && !tools.includes(one.name))
      .map(withAddresses),
    dependencies: dependencies
      .filter(({ ref }) => isListed(ref))
      .map((one) => ({ ...one, dependsOn: (one.dependsOn ?? []).filter(isListed) })),
  };
}

const isOfDevelopment = ({ properties = [] }: Component): boolean =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');

/** What a package says of its licence: `MIT`, say. */
export function licenceOf({ licenses }: Component): string {
  const words = licenses.map((one) => {
    if ('expression' in one) return one.expression;
    return 'id' in one.license ? one.license.id : one.license.name;
  });
  return words.length === 0 ? 'no licence named' : words.join(', ');
}

const opening = 'The programs are made of these packages; sbom.cdx.json lists the same ones for tools.\n';

/**
 * @param textsOf the licence files of a package, whole
 * @param first the sentence before the notices
 */
export function writeNotices(
  bill: Bill,
  textsOf: (component: Component) => readonly string[],
  first = opening,
): string {
  const sections = bill.components.map((component) => {
    const texts = textsOf(component);
    const body = texts.length === 0 ? 'The package carries no text of its licence.' : texts.join('\n\n');
    return `${component.name} ${component.version}\n${licenceOf(component)}\n\n${body.trim()}\n`;
  });
  const line = `\n${'-'.repeat(80)}\n\n`;
  return [first, ...sections].join(line);
}

/** The folder of each installed package, by `name@version`. */
function findFolders(): ReadonlyMap<string, string> {
  const { packages } = lockShape.parse(readJson('package-lock.json'));
  const entries = Object.entries(packages).map(
    ([path, { version }]) => [`${path.split('node_modules/').at(-1)}@${version}`, path] as const,
  );
  return new Map(entries);
}

function readTexts(folder: string): readonly string[] {
  const names = readdirSync(join(root, folder)).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
  return names.sort().map((name) => readFileSync(join(root, folder, name), 'utf8'));
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

/** The bill of the installed packages, and the licence texts of each. */
export function readThirdParty(): {
  readonly bill: Bill;
  readonly textsOf: (component: Component) => readonly string[];
} {
  // All of them: where npm leaves out some, it leaves out too what these share with others.
  const wanted = ['sbom', '--sbom-format=cyclonedx'];
  const answer = execFileSync('npm', wanted, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const { name: ours, optionalDependencies } = manifestShape.parse(readJson('package.json'));
  const bill = settleBill(JSON.parse(answer), ours, Object.keys(optionalDependencies));
  const folders = findFolders();
  const textsOf = ({ name, version }: Component): readonly string[] => {
    const found = folders.get(`${name}@${version}`);
    if (found === undefined) throw new Error(`${name} ${version} is not installed`);
    return readTexts(found);
  };
  return { bill, textsOf };
}

function write(folder: string): void {
  const { bill, textsOf } = readThirdParty();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 1)}\n`);
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), writeNotices(bill, textsOf));
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('Name the folder to write to.');
  write(resolve(folder));
}
