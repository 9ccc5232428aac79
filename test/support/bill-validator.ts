// The validators of both formats of bills of materials: CycloneDX's own library, which has the JSON schemas and their formats, and SPDX's own
// tools. Python packages in the cache; nothing is installed into the system. Where they cannot be obtained, there are none.

import { mustRun } from './command.ts';
import { cachedFolder } from './tool-cache.ts';
import { words } from './words.ts';

const packages = words('cyclonedx-python-lib[json-validation]==11.12.0 spdx-tools==0.8.5');

const script = `
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from spdx_tools.spdx.parser.error import SPDXParsingError
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

def faults(form, path):
    if form == 'cyclonedx':
        with open(path) as file:
            found = JsonStrictValidator(SchemaVersion.V1_5).validate_str(file.read())
        return [] if found is None else [str(found)[:500]]
    try:
        return [one.validation_message for one in validate_full_spdx_document(parse_file(path), 'SPDX-2.3')]
    except SPDXParsingError as error:
        return error.get_messages()

found = faults(sys.argv[1], sys.argv[2])
print('\\n'.join(found))
sys.exit(1 if found else 0)
`;

/** @returns the command line before `cyclonedx` or `spdx` and the file, which ends with 1 and the faults; or why there is none */
export async function findBillValidator(): Promise<
  { readonly command: readonly string[] } | { readonly missing: string }
> {
  try {
    const folder = await cachedFolder('bill-validator-11.12.0-0.8.5', async (draft) => {
      const pip = words('python3 -m pip install --quiet --no-compile --disable-pip-version-check');
      await mustRun([...pip, '--target', draft, ...packages], { timeoutMs: 120_000 });
    });
    return { command: ['env', `PYTHONPATH=${folder}`, 'python3', '-c', script] };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[1] ?? '') : '';
    return { missing: `${packages.join(', ')} could not be obtained as Python packages: ${why}` };
  }
}
