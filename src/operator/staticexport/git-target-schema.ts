// The schema of a `git` target: which file of which repository gets the version. Invariant: no field can hold a
// credential, because specs are read by everyone who may read the resource. Credentials are in the Secret.

import * as z from 'zod';
import { cel, formed, objectName, shownText } from './schema-texts.ts';

/** Names of a branch, as far as hosts accept them; `..`, `//` and a trailing dot are not. */
const branchName = formed(
  100,
  '^[A-Za-z0-9_][-A-Za-z0-9_]*([./][A-Za-z0-9_][-A-Za-z0-9_]*)*$',
  'must be the name of a branch without refs/heads/: letters, digits, "-", "_", and single "." or "/" between them',
);
const filePath = formed(
  200,
  '^([.]?[A-Za-z0-9_][-A-Za-z0-9._+@]*/)*[.]?[A-Za-z0-9_][-A-Za-z0-9._+@]*$',
  'must be the path of a file inside the repository, such as clusters/prod/values.yaml: no leading "/", no ".."',
);
const prRule = 'pullRequestBranch must differ from branch';

export const gitTarget = z
  .object({
    url: shownText(300, {
      rule: "isURL(self) && url(self).getScheme() == 'https' && !self.matches('[?#]|^[A-Za-z]+://[^/]*@')",
      message: 'url must be an https:// URL, without user, password, query and fragment',
    }).describe('URL of the repository. --allowed-git-hosts of the operator must allow its host.'),
    branch: branchName.describe('Branch that is read and pushed to. Default: main.').optional(),
    path: filePath.describe('YAML file in the repository. It must exist.'),
    keyPath: z
      .array(shownText(100).describe('A key.'))
      .min(1)
      .max(8)
      .describe('Keys that lead to the map which gets version, digest and ref. Default: [staticExport].')
      .optional(),
    secretRef: z
      .object({
        name: objectName.describe(
          'Name of a Secret in the same namespace with token, or username and password; ca.crt and signingKey are optional.',
        ),
      })
      .describe('Credentials of the repository.'),
    author: z
      .object({
        name: formed(100, '^[^<>]*[^<> ][^<>]*$', 'must be a name without "<" and ">"').describe(
          'Name of the author.',
        ),
        email: formed(
          200,
          '^[^<>@ ]+@[^<>@ ]+$',
          'must be an e-mail address without "<", ">" and blanks',
        ).describe('E-mail address of the author.'),
      })
      .describe('Author of the commits. Default: static-export-operator.')
      .optional(),
    message: shownText(200)
      .describe(
        'Subject of a commit for this target alone. {namespace}, {name} and {version} are replaced. Default: "docs: publish {namespace}/{name} {version}".',
      )
      .optional(),
    pullRequestBranch: branchName
      .describe(
        'Branch to push to instead of branch, for a pull request that you open. It is based on branch.',
      )
      .optional(),
  })
  .refine(({ branch = 'main', pullRequestBranch }) => pullRequestBranch !== branch, { error: prRule })
  .meta(
    cel({
      rule: "!has(self.pullRequestBranch) || self.pullRequestBranch != (has(self.branch) ? self.branch : 'main')",
      message: prRule,
    }),
  )
  .describe('YAML file in a git repository. The operator commits and pushes the new version.');

export type SpecGitTarget = z.infer<typeof gitTarget>;
