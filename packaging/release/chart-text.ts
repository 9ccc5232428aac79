// What a release writes into the texts of a chart before it is packed: the registry that has the image and the charts, and links
// that lead out of the archive. Pure. Changes nothing else, and refuses a text in which it does not find the place.

import { type ChartName, chartFile, chartNames, imageRepositoryOf } from './release-files.ts';
import { sourceFilesUrl, withSourceLinks } from './source-links.ts';

const repositoryLine = /^( +)repository: static-export-operator$/gm;

/** `values.yaml` with the image of that repository. @throws Error where the text names the image elsewhere */
export function withRepository(values: string, repository: string): string {
  const count = [...values.matchAll(repositoryLine)].length;
  if (count !== 1)
    throw new Error(
      `values.yaml names image.repository ${count} times. Name it once, as static-export-operator.`,
    );
  return values.replace(repositoryLine, `$1repository: ${repository}`);
}

export interface PublishedReadme {
  readonly chart: ChartName;
  readonly version: string;
  /** `HOST/PATH`; without one, the commands install the packed file. */
  readonly registry: string | undefined;
  /** Where the sources are read. */
  readonly source: string | undefined;
}

/** How a reader of the checkout gets an image: a reader of the packed chart has a release. */
const ofCheckout = /^No public registry has image and charts\.[\s\S]*?(?=\n\n)/gm;
const imageFlag = /^ *--set (?:server\.)?image\.repository=registry\.example\.com\/\S+ \\\n/gm;
const exampleImage = /\bregistry\.example\.com\/static-export-operator\b/g;

/**
 * The README of a packed chart, as `helm show readme` prints it: commands and links work without the checkout.
 *
 * @throws Error where the text has no paragraph about the missing registry
 */
export function publishReadme(readme: string, release: PublishedReadme): string {
  const { chart, version, registry, source } = release;
  const count = [...readme.matchAll(ofCheckout)].length;
  if (count !== 1) {
    throw new Error(
      `README.md of ${chart} says ${count} times that no public registry has image and charts. Say it once.`,
    );
  }
  const publish = (text: string, addressOf: (name: ChartName) => string): string => {
    const named = chartNames.reduce(
      (now, name) => now.replaceAll(` charts/${name} `, () => ` ${addressOf(name)} `),
      text,
    );
    return withSourceLinks(named, `charts/${chart}/README.md`, sourceFilesUrl(source, version));
  };
  // The site's servers are one of its parts.
  const part = chart === 'static-export-site' ? 'server.' : '';
  if (registry === undefined) {
    const own = `This chart names no registry: \`${part}image.repository\` says where your nodes pull the image of ${version}.`;
    return publish(
      readme.replace(ofCheckout, () => own),
      (name) => chartFile(name, version),
    );
  }
  const image = imageRepositoryOf(registry);
  const own = `The chart pulls \`${image}:${version}\`. A registry with logins needs \`helm registry login ${registry.split('/')[0]}\`, and \`${part}imagePullSecrets\` for the pods.`;
  const text = readme
    .replace(ofCheckout, () => own)
    .replace(imageFlag, '')
    .replace(exampleImage, () => image);
  return publish(text, (name) => `oci://${registry}/charts/${name}`);
}
