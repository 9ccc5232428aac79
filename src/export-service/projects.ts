// Which projects the project-scoped form knows, and the domain of each. Pure. Refuses two names for one domain, because "a
// job of another project" could then not be told from one's own, and the id `jobs`, which is a path of the first form.
// Invariant: a project and its domain belong together in both directions.

import { domainSchema } from '#export-api/contract.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type Origins, originOf } from './origins.ts';

/** The domain of each project id. */
export type ServedProjects = ReadonlyMap<string, string>;

/** As the resource takes them, so that each project here can be named there. */
const projectIdForm = /^(?!\.+$)[A-Za-z0-9_.~:@+-]{1,128}$/;

/**
 * @param mappings each `ID=DOMAIN`
 * @param origins a closed list of these must have the domain
 * @throws {PublishableError} `ProjectInvalid`
 */
export function readProjects(mappings: readonly string[], origins: Origins): ServedProjects {
  const projects = new Map<string, string>();
  for (const mapping of mappings) {
    const at = mapping.indexOf('=');
    if (at < 0) {
      throw invalid(
        'must be ID=DOMAIN; the project of conversations that name none is --conversations-project',
      );
    }
    const id = mapping.slice(0, at);
    const domain = domainSchema.safeParse(mapping.slice(at + 1));
    if (!projectIdForm.test(id) || !domain.success) {
      throw invalid(
        'must be ID=DOMAIN, for example 5f0c9a7e1d=docs.example.com; an id has 1 to 128 letters, digits and . _ ~ : @ + -',
      );
    }
    if (id === 'jobs') throw invalid('cannot have the id jobs; the first form of the API has that path');
    if (originOf(origins, domain.data) === undefined) {
      throw invalid(`names ${domain.data}, which no --origin names; add --origin ${domain.data}=URL`);
    }
    if (projects.has(id) || [...projects.values()].includes(domain.data)) {
      throw invalid(`names ${id} or ${domain.data} twice; give each project one id and one domain`);
    }
    projects.set(id, domain.data);
  }
  return projects;
}

function invalid(words: string): PublishableError {
  return new PublishableError('ProjectInvalid', `--project ${words}`);
}
