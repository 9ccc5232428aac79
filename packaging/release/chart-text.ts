// What a release writes into the values of a chart before it is packed: the registry that has the image. Pure. Changes nothing
// else, and refuses a text in which it does not find the place.

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
