// What a release writes into a chart before it is packed: the registry that has the image. Pure. Changes nothing else, and
// refuses a text in which it does not find the place.

const repositoryLine = /^( +)repository: static-export-operator$/gm;
const imageLine = /^( +)image: static-export-operator:/gm;

/** `values.yaml` with the image of that repository. @throws Error where the text names the image elsewhere */
export const withRepository = (values: string, repository: string): string =>
  replaceOnce(values, repositoryLine, `$1repository: ${repository}`, 'values.yaml', 'image.repository');

/** `Chart.yaml` whose annotation names the image of that repository. @throws Error */
export const withAnnotatedImage = (chart: string, repository: string): string =>
  replaceOnce(
    chart,
    imageLine,
    `$1image: ${repository}:`,
    'Chart.yaml',
    'the image of artifacthub.io/images',
  );

function replaceOnce(text: string, line: RegExp, by: string, file: string, what: string): string {
  const count = [...text.matchAll(line)].length;
  if (count !== 1)
    throw new Error(`${file} names ${what} ${count} times. Name it once, as static-export-operator.`);
  return text.replace(line, by);
}
