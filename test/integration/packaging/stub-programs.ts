// Programs on PATH that would build or publish: each writes its arguments into a list, and leaves the effects that the next
// step needs. What a release folder holds is small here, with true sums. Refuses nothing but the script that `FAILING` names.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface StubPrograms {
  /** First on PATH. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Program and arguments of each call so far. */
  calls(): readonly (readonly string[])[];
}

export const imageDigest = `sha256:${'ab'.repeat(32)}`;

const record = `{ printf '%s' "$(basename "$0")"; printf '\\t%s' "$@"; printf '\\n'; } >> "$STUB_CALLS"
valueOf() { local wanted=$1; shift; while [ $# -gt 0 ]; do [ "$1" = "$wanted" ] && printf '%s' "\${2-}"; shift; done; }`;
const scripts: Readonly<Record<string, string>> = {
  npm: `
case " $* " in *" run \${FAILING:-nothing} "*) echo "npm: $FAILING fails" >&2; exit 1 ;; esac
case "$*" in
  'run build:package') mkdir -p dist; touch dist/static-export-cli-0.1.0.tgz ;;
  'run release '*--out*)
    out=$(valueOf --out "$@"); key=$(valueOf --key "$@"); mkdir -p "$out"
    [ -z "$key" ] || cp "$key" "$STUB_FOLDER/used-key"
    printf '{"manifests":[{"digest":"${imageDigest}"}]}' > "$STUB_FOLDER/index.json"
    tar -cf "$out/image-0.1.0.oci.tar" -C "$STUB_FOLDER" index.json
    echo 'First line.' > "$out/RELEASE-NOTES.md"
    (cd "$out" && sha256sum image-0.1.0.oci.tar RELEASE-NOTES.md > checksums.txt) ;;
  'run release '*--push*) cp "$DOCKER_CONFIG/config.json" "$STUB_FOLDER/used-config.json" ;;
esac`,
  gh: `
[ -n "\${GH_TOKEN-}" ] || { echo 'gh: no GH_TOKEN' >&2; exit 4; }
case "$*" in
  'run download '*) mkdir -p "$(valueOf --dir "$@")"; cp -R "$STUB_FOLDER/artifacts/$(valueOf --name "$@")/." "$(valueOf --dir "$@")" ;;
esac`,
  curl: `
case " $* " in *' --json @- '*) cat > "$STUB_FOLDER/sent.json" ;; esac`,
  sudo: '',
};

/** @param folder of the test; the stubs and what they leave are in it */
export function stubPrograms(folder: string): StubPrograms {
  const bin = join(folder, 'stubs');
  const list = join(folder, 'calls');
  mkdirSync(bin, { recursive: true });
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(bin, name);
    writeFileSync(file, `#!/usr/bin/env bash\nset -eu\n${record}\n${script}\n`);
    chmodSync(file, 0o755);
  }
  writeFileSync(list, '');
  return {
    folder: bin,
    env: { STUB_CALLS: list, STUB_FOLDER: folder, PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    calls: () =>
      readFileSync(list, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split('\t')),
  };
}
