// Finds what a web app manifest loads: icons, screenshots, and the icons of its shortcuts (W3C Application Manifest).
// Returns nothing for text that is not JSON, or does not have its shape.

import * as z from 'zod';
import { readJson } from '#platform/wire/json-text.ts';
import type { Reference } from './reference.ts';

const images = z
  .array(z.object({ src: z.string() }).catch({ src: '' }))
  .catch([])
  .default([]);
const manifest = z.object({
  icons: images,
  screenshots: images,
  shortcuts: z
    .array(z.object({ icons: images }).catch({ icons: [] }))
    .catch([])
    .default([]),
});

/** A manifest is some kilobytes; its objects take ten times as much memory as its text. */
const maxLength = 1024 * 1024;

export function readManifestReferences(text: string): readonly Reference[] {
  const parsed = manifest.safeParse(text.length > maxLength ? undefined : readJson(text));
  if (!parsed.success) return [];
  const { icons, screenshots, shortcuts } = parsed.data;
  return [...icons, ...screenshots, ...shortcuts.flatMap((shortcut) => shortcut.icons)]
    .filter(({ src }) => src !== '')
    .map(({ src }) => ({ text: src, use: 'asset', load: 'picture' }));
}
