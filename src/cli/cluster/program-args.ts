// The flags of a container as a pod template names them. Pure. Refuses: variables of the environment, which may come from
// elsewhere; a flag that is set there counts as its default.

/** @param args of a container. @returns the last value of a flag, from `--name=value` or `--name value` */
export function flagOf(args: readonly string[], name: string): string | undefined {
  const at = args.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  const found = args[at];
  if (found === undefined) return undefined;
  return found.includes('=') ? found.slice(found.indexOf('=') + 1) : args[at + 1];
}

/** The version in an image's tag: `registry:5000/name:0.1.0@sha256:…` gives `0.1.0`. */
export function tagOf(image: string): string | undefined {
  const [name = ''] = image.split('@');
  const tag = /:([\w][\w.-]{0,127})$/.exec(name)?.[1];
  return tag !== undefined && /^v?\d+\.\d+\.\d+/.test(tag) ? tag.replace(/^v/, '') : undefined;
}
